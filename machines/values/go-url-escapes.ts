/** A URL that Go's `net/url` refuses; the message is Go's. */
export class GoUrlError extends Error {}

/** Part of a URL, by what must be escaped there. */
export type UrlPart = 'path' | 'host' | 'user' | 'fragment';

/** What needs no escape, by Go's table of encodings; letters, digits and `-._~` never do. */
const PLAIN: Readonly<Record<UrlPart, RegExp>> = {
  path: /[A-Za-z0-9\-._~$&+,/:;=@]/,
  host: /[A-Za-z0-9\-._~!"$&'()*+,:;<=>[\]]/,
  user: /[A-Za-z0-9\-._~$&+,;=]/,
  fragment: /[A-Za-z0-9\-._~!$&()*+,/:;=?@]/,
};

/** With `%XX` for what must be escaped in that part. Texts are bytes: one character each. */
export function escaped(bytes: string, part: UrlPart): string {
  return bytes.replace(/[^A-Za-z0-9]/g, (byte) =>
    PLAIN[part].test(byte) ? byte : `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/**
 * Without `%XX`.
 *
 * @throws GoUrlError for an escape that is none, and what no host may have
 */
export function unescaped(text: string, part: UrlPart): string {
  const isHost = part === 'host';
  return text.replace(/%[^]{0,2}|[^]/g, (piece) => {
    if (piece.startsWith('%')) {
      // In a host only bytes beyond ASCII may be escaped, and a percent sign itself.
      if (!/^%[0-9a-fA-F]{2}$/.test(piece) || (isHost && /^%[0-7]/.test(piece) && piece !== '%25'))
        throw new GoUrlError(`invalid URL escape ${JSON.stringify(piece)}`);
      return String.fromCharCode(parseInt(piece.slice(1), 16));
    }
    if (isHost && piece.charCodeAt(0) < 0x80 && !PLAIN.host.test(piece))
      throw new GoUrlError(`invalid character ${JSON.stringify(piece)} in host name`);
    return piece;
  });
}

/** Nothing in it would have to be escaped (Go's `validEncoded`, which lets more pass than it would write). */
export function validEncoded(text: string, part: UrlPart): boolean {
  return [...text].every((byte) => /[!$&'()*+,;=:@[\]%]/.test(byte) || PLAIN[part].test(byte));
}
