import fc from 'fast-check';

/** One change of some bytes; positions are parts of the whole, so that they fit any length. */
export interface ByteChange {
  do: 'cut' | 'flip' | 'insert' | 'remove' | 'repeat' | 'splice' | 'swap';
  from: number;
  to: number;
  bytes: Uint8Array;
}

/** Text that matters to readers of YAML, JSON, HTTP and gzip. */
const WORDS = [
  '\0',
  '\r\n',
  '\n',
  '---\n',
  ': ',
  '- ',
  '&a ',
  '*a',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  '|',
  '>',
  '<<: *a',
  '!!binary ',
  '\u00ff\u00fe',
  '\t',
  '#',
  '%',
  '? ',
  '9999999999999999999',
  'null',
  '\\u0000',
  '0',
  '\uFEFF',
];

/** A few changes. `words`: texts (as UTF-8) and bytes to put in, besides the usual. */
export function byteChanges(words: readonly (string | Uint8Array)[] = []): fc.Arbitrary<ByteChange[]> {
  const part = fc.nat(9_999).map((n) => n / 9_999);
  return fc.array(
    fc.record({
      do: fc.constantFrom('cut', 'flip', 'insert', 'insert', 'remove', 'repeat', 'splice', 'swap'),
      from: part,
      to: part,
      bytes: fc.oneof(
        fc
          .constantFrom(...WORDS, ...words)
          .map((word) => (typeof word === 'string' ? new Uint8Array(Buffer.from(word)) : word)),
        fc.uint8Array({ minLength: 1, maxLength: 8 }),
      ),
    }),
    { minLength: 1, maxLength: 5 },
  );
}

/** The bytes with the changes made, one after the other. */
export function changedBytes(original: Uint8Array, changes: readonly ByteChange[]): Buffer {
  let all = Buffer.from(original);
  for (const { do: what, from, to, bytes } of changes) {
    const a = Math.floor(Math.min(from, to) * all.length);
    const b = Math.floor(Math.max(from, to) * all.length);
    const [head, middle, tail] = [all.subarray(0, a), all.subarray(a, b), all.subarray(b)];
    if (what === 'cut') all = Buffer.from(head);
    else if (what === 'insert') all = Buffer.concat([head, bytes, middle, tail]);
    else if (what === 'remove') all = Buffer.concat([head, middle.subarray(Math.min(middle.length, 40)), tail]);
    else if (what === 'repeat')
      all = Buffer.concat([head, middle, middle, tail].slice(0, all.length > 100_000 ? 2 : 4));
    else if (what === 'splice') all = Buffer.concat([head, tail]);
    else if (what === 'swap') all = Buffer.concat([head, tail, middle]);
    else if (all.length > 0) {
      all = Buffer.from(all);
      const at = Math.min(a, all.length - 1);
      all[at] = (all[at] ?? 0) ^ ((bytes[0] ?? 0) || 1);
    }
  }
  return all;
}
