import { trimBlanks } from '../../../machines/values/trim-blanks.ts';
import { domainToASCII } from 'node:url';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import type { GoUrl } from '../../../machines/values/go-url.ts';
import { requestTarget } from '../../../machines/values/go-url.ts';
import { goQuoteBytes } from '../../../machines/values/go-quote.ts';

/** The agent speaks as kubelet 1.35 does, so that servers that look at it see what they know. */
export const USER_AGENT = 'kube-probe/1.35';
/** Headers by their canonical names; one character a byte. */
export type Headers = Map<string, string[]>;

/** What Go's client writes itself, whatever the headers say. */
const OWN = new Set(['Host', 'User-Agent', 'Content-Length', 'Transfer-Encoding', 'Trailer']);

/** Given headers, several values for one name kept in order; `Accept` and `User-Agent` when they are not given (kubelet's newProbeRequest). */
export function probeHeaders(given: EffectCatalog['net.HttpGet']['params']['headers']): Headers {
  const headers: Headers = new Map();
  for (const { name, value } of given) {
    const key = canonicalName(bytesOf(name));
    headers.set(key, [...(headers.get(key) ?? []), bytesOf(value)]);
  }
  if (!headers.has('User-Agent')) headers.set('User-Agent', [USER_AGENT]);
  if (!headers.has('Accept')) headers.set('Accept', ['*/*']);
  // An empty one means: do not send any.
  else if (headers.get('Accept')?.[0] === '') headers.delete('Accept');
  return headers;
}

/** Why Go's client would not send these headers, in its words. */
export function headerFault(headers: Headers): string | undefined {
  for (const [name, values] of headers) {
    if (!/^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/.test(name))
      return `net/http: invalid header field name ${goQuoteBytes(name)}`;

    if (values.some((value) => /[\x00-\x08\x0a-\x1f\x7f]/.test(value)))
      return `net/http: invalid header field value for ${goQuoteBytes(name)}`;
  }
  return undefined;
}

/** The bytes of a GET as Go's client writes it without keep-alive; `host` '' stands for that of the URL. */
export function requestHead(url: GoUrl, host: string, headers: Headers): Buffer {
  const lines = [`GET ${requestTarget(url)} HTTP/1.1`, `Host: ${hostHeader(host || url.host)}`];
  const agent = trimBlanks(headers.get('User-Agent')?.[0] ?? '');
  if (agent !== '') lines.push(`User-Agent: ${agent}`);
  for (const name of [...headers.keys()].sort())
    if (!OWN.has(name)) for (const value of headers.get(name) ?? []) lines.push(`${name}: ${trimBlanks(value)}`);
  const connection = (headers.get('Connection') ?? []).join(',');
  if (!hasToken(headers.get('Connection')?.[0] ?? '', 'close') && !hasToken(connection, 'upgrade'))
    lines.push('Connection: close');
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function hasToken(value: string, token: string): boolean {
  return value
    .toLowerCase()
    .split(/[, \t]/)
    .includes(token);
}

/** What is sent as host: letters as punycode; what is no host is left out, and so is the zone of an address. */
export function hostHeader(host: string): string {
  let ascii = host;

  if (/[^\x00-\x7f]/.test(host)) {
    const [, name = host, port = ''] = /^([^]*?)(:[0-9]*)?$/.exec(host) ?? [];
    ascii = domainToASCII(Buffer.from(name, 'latin1').toString('utf8')) + port;
  }
  if (!/^[A-Za-z0-9!$%&'()*+,\-./:;=@[\]_~]*$/.test(ascii)) return '';
  return ascii.replace(/^(\[[^\]%]*)%[^\]]*\]/, '$1]');
}

function canonicalName(name: string): string {
  if (/[^A-Za-z0-9!#$%&'*+\-.^_`|~]/.test(name)) return name;
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase());
}

/** UTF-8, one character a byte. */
export function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** The opposite of {@link bytesOf}. */
export function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
