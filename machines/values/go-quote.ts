import { byteText } from './byte-text.ts';

/** A character of UTF-8 in a text whose characters are bytes, or a byte that belongs to none. */
const CHARACTER =
  /[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;
const SHORT: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};
const PRINTED = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** A text quoted as Go's `strconv.Quote` and `%q` do. */
export function goQuote(text: string): string {
  return goQuoteBytes(byteText(text));
}

/**
 * The same of a text whose characters are bytes (0-255), as what came over a connection: it need be no UTF-8. What comes out is text:
 * characters of UTF-8 that can be printed stand for themselves.
 */
export function goQuoteBytes(bytes: string): string {
  return `"${bytes.replace(CHARACTER, (bytesOfOne) => SHORT[bytesOfOne] ?? quoted(bytesOfOne))}"`;
}

function quoted(bytesOfOne: string): string {
  const first = bytesOfOne.charCodeAt(0);
  if (bytesOfOne.length === 1) return first >= 0x20 && first < 0x7f ? bytesOfOne : `\\x${hex(first, 2)}`;
  let code = first & (0x7f >> bytesOfOne.length);
  for (let at = 1; at < bytesOfOne.length; at++) code = (code << 6) | (bytesOfOne.charCodeAt(at) & 0x3f);
  const character = String.fromCodePoint(code);
  if (PRINTED.test(character)) return character;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(n: number, digits: number): string {
  return n.toString(16).padStart(digits, '0');
}
