import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineWriter } from '../../../actors/serve/container-logs/line-writer.ts';
import type { LineWriterOptions } from '../../../actors/serve/container-logs/line-writer.ts';

interface Entry {
  second: number;
  stream: 'stdout' | 'stderr';
  part: boolean;
  text: string;
}

const entry: fc.Arbitrary<Entry> = fc.record({
  second: fc.integer({ min: 0, max: 9 }),
  stream: fc.constantFrom('stdout' as const, 'stderr' as const),
  part: fc.boolean(),
  text: fc.string({ unit: fc.constantFrom('a', ' ', 'é', '"', '\\', ':') }),
});

const stampOf = (second: number): string => `2024-01-01T00:00:0${second}.5Z`;
const cri = ({ second, stream, part, text }: Entry): string =>
  `${stampOf(second)} ${stream} ${part ? 'P' : 'F'} ${text}\n`;
const docker = ({ second, stream, part, text }: Entry): string =>
  `${JSON.stringify({ log: part ? text : `${text}\n`, stream, time: stampOf(second) })}\n`;

function write(lines: readonly string[], options: Partial<LineWriterOptions> = {}): { out: string; bad: number } {
  let bad = 0;
  const writer = new LineWriter({
    stdout: true,
    stderr: true,
    timestamps: false,
    onBadLine: () => bad++,
    ...options,
  });
  const out: string[] = [];
  for (const line of lines) {
    const bytes = Buffer.from(`##${line}##`);
    writer.line(bytes, 2, bytes.length - 2);
    out.push(writer.take().toString('latin1'));
  }
  return { out: Buffer.from(out.join(''), 'latin1').toString(), bad };
}

/** What comes out, written the simplest way. */
function model(entries: readonly Entry[], options: Partial<LineWriterOptions>): Buffer {
  let out = Buffer.alloc(0);
  let atStart = true;
  let left = options.limitLines ?? Infinity;
  for (const { second, stream, part, text } of entries) {
    if (left-- <= 0) break;
    const content = part ? text : `${text}\n`;
    const shown =
      (options.since === undefined || second + 1704067200 >= options.since.seconds) &&
      (stream === 'stdout' ? options.stdout !== false : options.stderr !== false);
    const stamp = options.timestamps && atStart ? `${stampOf(second).replace('.5', '.500000000')} ` : '';
    if (shown) out = Buffer.concat([out, Buffer.from(stamp + content)]);
    if (options.limitBytes !== undefined && out.length >= options.limitBytes)
      return out.subarray(0, options.limitBytes);
    atStart = content === '' || content.endsWith('\n');
  }
  return out;
}

test('every combination of options agrees with the model, in both formats', () => {
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 12 }),
      fc.record({
        timestamps: fc.boolean(),
        stdout: fc.boolean(),
        stderr: fc.boolean(),
        since: fc.option(
          fc.integer({ min: 0, max: 9 }).map((second) => ({ seconds: 1704067200 + second, nanos: 500_000_000 })),
          { nil: undefined },
        ),
        limitBytes: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
        limitLines: fc.option(fc.nat({ max: 12 }), { nil: undefined }),
      }),
      (entries, options) => {
        // A cut within a character gives the same broken text on both sides.
        const expected = model(entries, options).toString();
        assert.equal(write(entries.map(cri), options).out, expected);
        assert.equal(write(entries.map(docker), options).out, expected);
      },
    ),
    { numRuns: 500 },
  );
});

test('tags that are not known yet do no harm', () => {
  const stamp = '2024-01-01T00:00:00Z';
  const { out } = write([`${stamp} stdout P:new a\n`, `${stamp} stdout F:x:y b\n`, `${stamp} stdout Pq c\n`]);
  assert.equal(out, 'ab\nc\n');
});

test('lines that cannot be parsed are left out and told', () => {
  const good = cri({ second: 1, stream: 'stdout', part: false, text: 'x' });
  const { out, bad } = write([good, '\n', 'garbage\n', `${stampOf(1)} stdin F x\n`, `${stampOf(1)} stdout\n`, good]);
  assert.equal(out, 'x\nx\n');
  assert.equal(bad, 4);
});

test('a last line without its newline goes out as it is', () => {
  assert.equal(write(['2024-01-01T00:00:00Z stdout F abc']).out, 'abc');
});

test('an unknown format of the first line, and an unknown stream, end it in words of the kubelet', () => {
  assert.throws(() => write(['hello "world"\n']), {
    message: 'failed to get parse function: unsupported log format: "hello \\"world\\"\\n"',
  });
  assert.throws(() => write(['{"log":"x","stream":"tty","time":"2024-01-01T00:00:00Z"}\n']), {
    message: 'unexpected stream type "tty"',
  });
});
