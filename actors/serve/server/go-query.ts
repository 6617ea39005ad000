import { goQuote } from '../../../machines/values/go-quote.ts';

/** The parameters of a request, by name, each with its values in order (Go's `url.Values`). */
export type GoQuery = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the query of a request target as Go's `net/url` does: pairs with a bad escape or a `;` are left out, a name may
 * come several times, `+` is a space.
 * @param target path and query as they stand in the request line
 */
export function parseGoQuery(target: string): Map<string, string[]> {
  const mark = target.indexOf('?');
  return mark < 0 ? new Map() : parseGoForm(target.slice(mark + 1)).values;
}

/** What a form says, and what Go's `ParseQuery` has against it ('' when nothing): then the pairs that are good count all the same. */
export interface GoForm {
  values: Map<string, string[]>;
  problem: string;
}

/** Reads a query without its `?`, or a body of `application/x-www-form-urlencoded`, which has the same form. */
export function parseGoForm(text: string): GoForm {
  const values = new Map<string, string[]>();
  let problem = '';
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    if (pair.includes(';')) {
      problem = 'invalid semicolon separator in query';
      continue;
    }
    const equals = pair.indexOf('=');
    const [left, right] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
    const name = unescapeQuery(left);
    const value = unescapeQuery(right);
    if (name === undefined || value === undefined) {
      problem ||= `invalid URL escape ${goQuote(BAD_ESCAPE.exec(name === undefined ? left : right)?.[0] ?? '')}`;
      continue;
    }
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return { values, problem };
}

/** A percent sign without two hexadecimal digits behind it, with what stands in their place. */
const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})[^]{0,2}/;

/** The first value of that name, '' when there is none (`url.Values.Get`). */
export function firstValue(values: GoQuery, name: string): string {
  return values.get(name)?.[0] ?? '';
}

/** Bytes behind percent escapes are taken as UTF-8; undefined for a bad escape. */
function unescapeQuery(text: string): string | undefined {
  return unescapePath(text.replaceAll('+', ' '));
}

/** Undoes percent escapes; bytes are taken as UTF-8. Undefined for a bad escape. */
export function unescapePath(text: string): string | undefined {
  if (!text.includes('%')) return text;
  // In place, byte by byte: an expression with a function for each escape takes 90 ms for the longest head.
  const bytes = Buffer.from(text, 'utf8');
  let end = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] ?? 0;
    if (byte === PERCENT) {
      byte = (hexValue(bytes[at + 1]) << 4) | hexValue(bytes[at + 2]);
      if (byte < 0) return undefined;
      at += 2;
    }
    bytes[end++] = byte;
  }
  return bytes.toString('utf8', 0, end);
}

const PERCENT = 0x25;

/** Value of a hexadecimal digit; -1 for what is none. */
function hexValue(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
