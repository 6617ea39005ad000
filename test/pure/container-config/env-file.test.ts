import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { EnvFileParser, MAX_LINE_BYTES } from '../../../machines/container-config/env-file.ts';
import type { EnvFileContent } from '../../../machines/container-config/env-file.ts';

/** See test/tools/env-file-vectors. */
interface Vector {
  file: { text: string; times?: number }[];
  key: string;
  value?: string;
  sha256?: string;
  error?: string;
}

const vectors = JSON.parse(readFileSync(new URL('kubelet-env-file-vectors.json', import.meta.url), 'utf8')) as Vector[];

/** Reads bytes (a character each), in pieces of this length. */
function parsed(bytes: string, keys: string[], pieceLength = 64 * 1024): EnvFileContent {
  const parser = new EnvFileParser(keys);
  for (let at = 0; at < bytes.length; at += pieceLength) if (!parser.push(bytes.slice(at, at + pieceLength))) break;
  return parser.end();
}

const utf8 = (text: string) => Buffer.from(text).toString('latin1');

/** A value as kubelet would have it: nothing is an empty one. Or why there is none. */
function said(bytes: string, key: string): string {
  const { values, fault } = parsed(utf8(bytes), [key]);
  if (values.has(key)) return values.get(key) ?? 'not UTF-8';
  return fault === undefined ? '' : `error: ${fault}`;
}

test('kubelet’s parser says the same of every recorded file', () => {
  assert.ok(vectors.length > 500);
  const seen = { value: 0, long: 0, error: 0, binary: 0 };
  for (const { file, key, value, sha256, error } of vectors) {
    const bytes = file
      .map(({ text, times }) =>
        Buffer.from(text, 'base64')
          .toString('latin1')
          .repeat(times ?? 1),
      )
      .join('');
    const about = JSON.stringify({ file, key });
    const { values, fault } = parsed(bytes, [key]);
    if (error !== undefined) {
      seen.error++;
      assert.equal(values.has(key), false, about);
      if (error.startsWith('invalid ')) assert.equal(fault, error, about);
      else {
        assert.equal(error, 'error reading environment variable file FILE: bufio.Scanner: token too long');
        assert.match(fault ?? '', /^after line \d+: a line is longer than 65535 bytes$/, about);
      }
      continue;
    }
    const found = values.has(key) ? (values.get(key) ?? null) : '';
    if (sha256 !== undefined) {
      seen.long++;
      assert.equal(
        createHash('sha256')
          .update(found ?? '')
          .digest('hex'),
        sha256,
        about,
      );
      continue;
    }
    seen.value++;
    const wanted = Buffer.from(value ?? '', 'base64');
    if (found === null) {
      seen.binary++;
      assert.throws(() => new TextDecoder('utf-8', { fatal: true }).decode(wanted), about);
    } else assert.deepEqual(Buffer.from(found), wanted, about);
    if (found === '') assert.equal(fault, undefined, about);
  }
  for (const [what, times] of Object.entries(seen)) assert.ok(times >= 3, `${times} of the record are ${what}`);
});

test('names, quotes, comments and blanks', () => {
  const cases: [file: string, value: string][] = [
    ["A='x'", 'x'],
    ["  \tA='x'   # why", 'x'],
    ["# A='no'\n\n \t\nA='a#b=c$(A)\\n\"'#c", 'a#b=c$(A)\\n"'],
    ["A='one\n  two\n\nthree ' # c\n", 'one\n  two\n\nthree '],
    ["A='1'\r\nB='x\r\ny'\r\n", '1'],
    ["A='x\r\ny\r'\r\n", 'x\ny\r'],
    ["A= 'x'\nA='y'", ''],
    ["A=''\nA='y'", ''],
    ["A='first'\nA='second'", 'first'],
    ["A='good'\nbad", 'good'],
    ["A='größe 😀'", 'größe 😀'],
    ["a='x'\nAA='x'\nA.A='x'", ''],
    ['', ''],
    ["\ufeffA='x'", ''],
    ["A='\ufeffx'", '\ufeffx'],
  ];
  for (const [file, value] of cases) assert.equal(said(file, 'A'), value, JSON.stringify(file));
  assert.equal(said("with blank='x'", 'with blank'), 'x');
});

test('what is wrong, by its line', () => {
  const wrong = 'error: invalid environment variable format at line ';
  const cases: [file: string, fault: string][] = [
    ['A', `${wrong}1: missing '='`],
    ["\n# c\n='x'", `${wrong}3: empty variable name`],
    ["A ='x'", `${wrong}1: whitespace before '=' is not allowed`],
    ['A=x', `${wrong}1: value must be enclosed in single quotes`],
    ['A="x"', `${wrong}1: value must be enclosed in single quotes`],
    ["A='x'y", `${wrong}1: unexpected content after closing quote`],
    ["A='x'''", `${wrong}1: unexpected content after closing quote`],
    ["B='1\n2'x\nA='x'", `${wrong}2: unexpected content after closing quote`],
    ["\nA='x\n\n", 'error: invalid environment variable format starting at line 2: unclosed single quote'],
  ];
  for (const [file, fault] of cases) assert.equal(said(file, 'A'), fault, JSON.stringify(file));
});

test('a fault names no value', () => {
  const mark = 'hunter2';
  const anything = fc.array(fc.constantFrom(mark, 'A', '=', "'", '\n', ' ', '#', 'x'), { maxLength: 12 });
  fc.assert(
    fc.property(anything, (parts) => {
      assert.equal(parsed(parts.join(''), ['A', 'none']).fault?.includes(mark) ?? false, false);
    }),
  );
});

/** Files of good lines, with what they say. */
const entries = fc.array(
  fc.record({
    name: fc.constantFrom('A', 'B', 'C', 'D.e'),
    value: fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll("'", '').replaceAll('\r', '')),
    before: fc.constantFrom('', ' ', '\t', '\n', '# c\n', "#A='no'\n"),
    after: fc.constantFrom('', ' ', ' # c', '#', '\r'),
  }),
  { maxLength: 8 },
);

test('what is written is read, many keys at once as each alone, whole as in pieces', () => {
  fc.assert(
    fc.property(entries, fc.integer({ min: 1, max: 9 }), (lines, pieceLength) => {
      const file = utf8(
        lines.map(({ name, value, before, after }) => `${before}${name}='${value}'${after}\n`).join(''),
      );
      const keys = ['A', 'B', 'none', 'D.e'];
      const together = parsed(file, keys, pieceLength);
      assert.equal(together.fault, undefined);
      for (const key of keys) {
        const wanted = lines.find(({ name }) => name === key)?.value;
        assert.equal(together.values.get(key), wanted);
        assert.equal(parsed(file, [key]).values.get(key), wanted);
      }
    }),
  );
});

test('anything at all, whole as in pieces', () => {
  const bytes = fc
    .array(fc.constantFrom('A', 'B', '=', "'", "'", '\n', '\r', ' ', '#', '\xff', '\xc3\xa9'), { maxLength: 40 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(bytes, fc.integer({ min: 1, max: 5 }), (file, pieceLength) => {
      const keys = ['A', 'B'];
      const content = parsed(file, keys, pieceLength);
      assert.deepEqual(content, parsed(file, keys));
      for (const key of keys) assert.equal(content.values.get(key), parsed(file, [key]).values.get(key));
    }),
  );
});

test('no more is taken than is needed, and a line without an end is not held', () => {
  const parser = new EnvFileParser(['A']);
  assert.equal(parser.push("A='x'\nB="), false);
  assert.deepEqual([...parser.end().values], [['A', 'x']]);

  const endless = new EnvFileParser(['A']);
  let pushed = 0;
  while (endless.push('\0'.repeat(4096))) pushed += 4096;
  assert.ok(pushed <= MAX_LINE_BYTES);
  assert.match(endless.end().fault ?? '', /longer than/);
});

test('a file that was not read to its end: what was found counts, a torn line does not', () => {
  const parser = new EnvFileParser(['A', 'B']);
  assert.equal(parser.push("A='x'\nB='y'"), true);
  const { values, fault } = parser.end('EIO');
  assert.deepEqual([...values], [['A', 'x']]);
  assert.equal(fault, 'after line 1: EIO');
});
