/** How JSON.parse begins to complain, and what Go's `encoding/json` says of the same character. */
const WORDS: readonly (readonly [begins: string, says: string])[] = [
  ['Unexpected non-whitespace character after JSON', 'after top-level value'],
  ['Expected property name', 'looking for beginning of object key string'],
  ['Expected double-quoted property name', 'looking for beginning of object key string'],
  ["Expected ':' after property name", 'after object key'],
  ["Expected ',' or '}' after property value", 'after object key:value pair'],
  ["Expected ',' or ']' after array element", 'after array element'],
];

/** What Go's `encoding/json` says of a text that JSON.parse could not read. */
export function goSyntaxProblem(text: string, error: unknown): string {
  const told = error instanceof Error ? error.message : '';
  const [, token] = /^Unexpected token '(.)'/u.exec(told) ?? [];
  if (token !== undefined) return invalid(token, 'looking for beginning of value');
  const [, says] = WORDS.find(([begins]) => told.startsWith(begins)) ?? [];
  const at = Number(/ at position (\d+)/.exec(told)?.[1] ?? text.length);
  const character = text.slice(at, at + 1);
  return says === undefined || character === '' ? 'unexpected end of JSON input' : invalid(character, says);
}

function invalid(character: string, says: string): string {
  return `invalid character '${character === "'" ? "\\'" : character}' ${says}`;
}
