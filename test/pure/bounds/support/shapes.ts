/** Texts that parsers of all kinds are slow with, by name: each makes one of about `size` characters. */
export const SHAPES: Readonly<Record<string, (size: number) => string>> = {
  ...repeated('a', '0', '-', '.', ' ', '/', ',', ':', '\\', '\n', '"', '[', '{', '('),
  ...repeated('%80', '%C3%A9', '$(', '$$(', "['", '*a', 'a.', 'a=b&', 'a=b,'),
  ...repeated('1s', '/../', '/%80', ' a', '\u{1F600}', 'k: v\n'),
  ...repeated('0-0,', 'A=$(A)', '-----BEGIN CERTIFICATE-----\n', '2026-01-01T00:00:00Z stdout F a\n'),
  // A run and then what does not fit: an expression that began anywhere in it goes on to its end each time.
  ...ended('a', '0', '-', ' ', '/', '"', '\n', 'a.'),
  'nested lists': (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
  'nested objects': (size) => `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`,
  'nested YAML': (size) => '- '.repeat(Math.min(size / 2, 5_000)),
  'nested flow YAML': (size) => `a: ${'[{a: '.repeat(size / 8)}`,
  'aliases of aliases': laughs,
  'many keys': (size) => `{${Array.from({ length: size / 14 }, (_, i) => `"k${String(i)}":"v"`).join(',')}}`,
  'many items': (size) => `[${Array.from({ length: size / 2 }, () => '1').join(',')}]`,
  'many names': (size) => Array.from({ length: size / 8 }, (_, i) => `k${String(i)}`).join(','),
  'many pairs': (size) => Array.from({ length: size / 10 }, (_, i) => `k${String(i)}=v`).join('&'),
  'many lines': (size) => Array.from({ length: size / 10 }, (_, i) => `k${String(i)}: v`).join('\n'),
  'long number': (size) => `1${'0'.repeat(size - 1)}.${'1'.repeat(size / 2)}`.slice(0, size),
  'long fraction': (size) => `0.${'0'.repeat(size - 3)}1`,
  'unclosed quote': (size) => `{"a":"${'\\n'.repeat(size / 2)}`,
  'quoted text': (size) => JSON.stringify('"'.repeat(size / 2)),
};

function repeated(...units: string[]): Record<string, (size: number) => string> {
  return Object.fromEntries(
    units.map((unit) => [`${JSON.stringify(unit)} again and again`, (size) => run(unit, size)]),
  );
}

function ended(...units: string[]): Record<string, (size: number) => string> {
  return Object.fromEntries(
    units.flatMap((unit) => [
      [`${JSON.stringify(unit)} again and again, then "!"`, (size: number) => `${run(unit, size - 1)}!`],
      [
        `"x", then ${JSON.stringify(unit)} again and again, then "\\0x"`,
        (size: number) => `x${run(unit, size - 3)}\0x`,
      ],
    ]),
  );
}

function run(unit: string, size: number): string {
  return unit.repeat(Math.max(1, Math.floor(size / unit.length)));
}

/** YAML whose lists name the list before them ten times ("billion laughs"). */
function laughs(size: number): string {
  const lines = ['a0: &a0 [x]'];
  for (let i = 1; lines.length * 60 < size && i < 5_000; i++)
    lines.push(`a${String(i)}: &a${String(i)} [${Array.from({ length: 10 }, () => `*a${String(i - 1)}`).join(',')}]`);
  return lines.join('\n');
}

/** Sizes in steps, so that what grows too fast is found before it takes hours: by 4 where it may be exponential. */
export const SIZES: readonly number[] = [
  ...Array.from({ length: 15 }, (_, i) => 8 + 4 * i),
  ...[128, 512, 2_048, 8_192, 32_768, 131_072],
];
