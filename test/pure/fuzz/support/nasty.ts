import fc from 'fast-check';

/** Names that mean something to JavaScript where a map is a plain object. */
export const TRAPS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'length',
  'then',
  '',
] as const;

/** Numbers at and beyond the edges of what Go's and JavaScript's types hold. */
const NUMBERS = [0, -0, -1, 1, 0.5, 1e21, -1e21, 1e308, 5e-324, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63, 2 ** 64];

/** Texts that readers of quantities, times, paths, addresses and names stumble over. */
const TEXTS = [
  ...TRAPS,
  'null',
  '\0',
  'a\0b',
  '\n',
  '../../etc/passwd',
  '/',
  '.',
  '..',
  '%00',
  '%',
  '$(A)',
  '$$(A',
  '$(',
  'NaN',
  'Infinity',
  '1e999999999',
  '9'.repeat(400),
  '-1',
  '0x10',
  '1Ei',
  '-9223372036854775809',
  '10:20',
  '2024-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  'not a time',
  '::1',
  '999.1.1.1',
  'a'.repeat(300),
  'ä\u{1F600}\uFEFF\u2028',
  '\uD800',
  '<<',
  '*a',
  'é'.repeat(130),
];

/** A value as no field wants it, mostly small. */
export const nasty: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { a: null }, [{}]) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...NUMBERS) },
  { weight: 4, arbitrary: fc.constantFrom<unknown>(...TEXTS) },
  { weight: 1, arbitrary: fc.constantFrom(...TRAPS).map((key) => Object.fromEntries([[key, 'x']])) },
  { weight: 1, arbitrary: fc.constantFrom(...TRAPS).map((key) => Object.fromEntries([[key, { a: 1 }]])) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);

/** A short text of any kind. */
export const nastyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ unit: 'binary', maxLength: 12 }),
);

/** A list in a list in a list ...: as JSON text. */
export function deepJson(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}
