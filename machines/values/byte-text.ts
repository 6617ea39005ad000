/** The UTF-8 of a text, each byte as one character (0-255): as Go's strings are, and as `goQuoteBytes` takes them. */
export function byteText(text: string): string {
  let out = '';
  for (const byte of new TextEncoder().encode(text)) out += String.fromCharCode(byte);
  return out;
}
