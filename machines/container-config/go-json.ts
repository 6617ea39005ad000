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
