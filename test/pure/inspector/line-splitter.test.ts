import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from '../../../actors/inspect/inspector/line-splitter.ts';
import { recordHead } from '../../../actors/record/journal/record-head.ts';

test('lines and their offsets are the same however the bytes are cut', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '\n', 'bc', '\n\n'), { maxLength: 60 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 40 }), (whole, cuts) => {
      const bytes = Buffer.from(whole);
      const splitter = new LineSplitter();
      const got: [string, number][] = [];
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = cuts[i % cuts.length] ?? 1;
        splitter.push(bytes.subarray(at, at + size), (line, offset) => got.push([line.toString(), offset]));
        at += size;
      }
      for (const [line, offset] of got)
        assert.equal(bytes.subarray(offset, offset + Buffer.byteLength(line)).toString(), line);
      assert.deepEqual(
        got.map(([line]) => line),
        whole
          .split('\n')
          .slice(0, -1)
          .filter((line) => line !== ''),
      );
      assert.equal(splitter.openBytes, Buffer.byteLength(whole.split('\n').at(-1) ?? ''));
    }),
  );
});

test('a head that is read in part says the same as the whole line', () => {
  const long = 'x'.repeat(2_000);
  const lines: [object, object][] = [
    [
      { r: 'msg', n: 7, uid: 'u', m: { type: 'pod.observed', at: 5, observed: { long } } },
      { r: 'msg', n: 7, uid: 'u', type: 'pod.observed', at: 5, key: '', failed: false },
    ],
    [
      { r: 'msg', n: 7, uid: 'u', m: { type: 'effect.failed', at: 5, effect: 'a.B', key: 'k/1', error: { long } } },
      { r: 'msg', n: 7, uid: 'u', type: 'effect.failed', at: 5, key: 'k/1', failed: true },
    ],
    // Fields in another order, and names that need escapes.
    [
      { r: 'msg', uid: 'ü"', n: 7, m: { at: 5, key: 'k"', type: 'effect.done' } },
      { r: 'msg', n: 7, uid: 'ü"', type: 'effect.done', at: 5, key: 'k"', failed: false },
    ],
    [
      { r: 'step', n: 7, uid: 'u', s: 'a.b', e: [] },
      { r: 'step', n: 7, uid: 'u', state: 'a.b', effects: [] },
    ],
    [
      { r: 'spec', id: 'ab12', pod: { long } },
      { r: 'spec', id: 'ab12' },
    ],
    [
      { r: 'sup.msg', n: 1, m: { type: 'config', at: 5, long } },
      { r: 'msg', n: 1, uid: '@supervisor', type: 'config', at: 5, key: '', failed: false },
    ],
    [
      { r: 'admission.snap', t: { uid: 'a', long } },
      { r: 'machine.snap', uid: '@admission' },
    ],
    [{ r: 'unknown.msg', n: 1, m: { long } }, { r: 'other' }],
    [{ r: 'of.tomorrow' }, { r: 'other' }],
  ];
  for (const [record, head] of lines) assert.deepEqual(recordHead(Buffer.from(JSON.stringify(record))), head);
  for (const bad of ['', '{"r":"msg","n":1', 'null', '{}', '[1]}', '{"r":"msg","n":1,"uid":"u","m":3}'])
    assert.throws(() => recordHead(Buffer.from(bad)), Error, bad);
});
