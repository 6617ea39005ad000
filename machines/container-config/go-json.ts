/** Characters that Go's encoder escapes and JavaScript's does not. */
const ESCAPED: Record<string, string> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** JSON as Go's `encoding/json` writes it, byte for byte. Key order is the caller's. */
export function goJson(value: unknown): string {
  return escapedAsGo(JSON.stringify(value));
}

/** JSON text with the characters escaped that Go escapes. */
export function escapedAsGo(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (c) => ESCAPED[c] ?? c);
}

/** A string quoted as Go's `strconv.Quote` does. */
export function goQuote(text: string): string {
  return `"${text.replace(UNPLAIN, (c) => SHORT[c] ?? escapeRune(c))}"`;
}

const SHORT: Record<string, string> = {
  '\\': '\\\\',
  '"': '\\"',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Quotes, backslashes, and what Go does not count as printable. */
const UNPLAIN = /["\\]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu;

function escapeRune(c: string): string {
  const code = c.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return code > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
