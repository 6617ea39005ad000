import { GoUrlError, escaped, unescaped, validEncoded } from './go-url-escapes.ts';
import { parseAuthority } from './go-url-authority.ts';
import type { UserInfo } from './go-url-authority.ts';
import { goQuoteBytes } from './go-quote.ts';

/**
 * A URL as Go's `net/url` understands one (not as browsers do: nothing is normalised). All texts are bytes: one character each,
 * UTF-8 where there are letters.
 */
export interface GoUrl {
  scheme: string;
  /** What follows the scheme of a URL without slashes, e.g. that of `mailto:`. */
  opaque: string;
  user: UserInfo | null;
  /** `host` or `host:port`, an IPv6 address in brackets. */
  host: string;
  /** Without escapes. */
  path: string;
  /** The path as it was written, where that differs from {@link escapedPath} of `path`. */
  rawPath: string;
  /** A `?` with nothing behind it. */
  forceQuery: boolean;
  query: string;
  /** As it is written, escapes and all. */
  fragment: string;
  /** `http:/path`. */
  omitHost: boolean;
}

/**
 * Go's `url.Parse`.
 *
 * @throws GoUrlError `parse "...": why`, in Go's words
 */
export function parseGoUrl(bytes: string): GoUrl {
  const [url, fragment = ''] = cut(bytes, '#');
  const parsed = inWords(url, () => parse(url));
  if (fragment === '') return parsed;
  const plain = inWords(bytes, () => unescaped(fragment, 'fragment'));
  return { ...parsed, fragment: validEncoded(fragment, 'fragment') ? fragment : escaped(plain, 'fragment') };
}

function inWords<T>(about: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof GoUrlError) throw new GoUrlError(`parse ${goQuoteBytes(about)}: ${error.message}`);
    throw error;
  }
}

const EMPTY: GoUrl = {
  scheme: '',
  opaque: '',
  user: null,
  host: '',
  path: '',
  rawPath: '',
  forceQuery: false,
  query: '',
  fragment: '',
  omitHost: false,
};

/** A URL that is a path and nothing else, given without escapes. */
export function urlOfPath(path: string): GoUrl {
  return { ...EMPTY, path };
}

function parse(text: string): GoUrl {
  if (/[\x00-\x1f\x7f]/.test(text)) throw new GoUrlError('net/url: invalid control character in URL');
  if (text === '*') return urlOfPath('*');
  const url = { ...EMPTY };
  if (text.startsWith(':')) throw new GoUrlError('missing protocol scheme');
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? '';
  url.scheme = scheme.toLowerCase();
  let rest = scheme === '' ? text : text.slice(scheme.length + 1);
  url.forceQuery = rest.indexOf('?') === rest.length - 1 && rest !== '';
  const [beforeQuery, query = ''] = cut(rest, '?');
  [rest, url.query] = [beforeQuery, query];
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...url, opaque: rest };
    if (cut(rest, '/')[0].includes(':')) throw new GoUrlError('first path segment in URL cannot contain colon');
  }
  if (rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'))) {
    const end = rest.indexOf('/', 2);
    const authority = rest.slice(2, end === -1 ? undefined : end);
    rest = end === -1 ? '' : rest.slice(end);
    Object.assign(url, parseAuthority(authority));
  } else if (scheme !== '') url.omitHost = true;
  return withPath(url, rest);
}

function withPath(url: GoUrl, written: string): GoUrl {
  const path = unescaped(written, 'path');
  return { ...url, path, rawPath: escaped(path, 'path') === written ? '' : written };
}

/** Go's `URL.EscapedPath`: as it was written when that is a valid way to write it. */
export function escapedPath({ path, rawPath }: GoUrl): string {
  if (rawPath !== '' && validEncoded(rawPath, 'path')) return rawPath;
  return path === '*' ? '*' : escaped(path, 'path');
}

/** Go's `URL.String`. */
export function goUrlText(url: GoUrl): string {
  const { scheme, opaque, user, host, forceQuery, query, fragment, omitHost } = url;
  let text = scheme === '' ? '' : `${scheme}:`;
  if (opaque !== '') text += opaque;
  else {
    const path = escapedPath(url);
    if ((scheme !== '' || host !== '' || user !== null) && !(omitHost && host === '' && user === null)) {
      if (host !== '' || url.path !== '' || user !== null) text += '//';
      if (user !== null) text += `${userText(user)}@`;
      text += escaped(host, 'host');
    }
    if (path !== '' && !path.startsWith('/') && host !== '') text += '/';
    if (text === '' && cut(path, '/')[0].includes(':')) text += './';
    text += path;
  }
  if (forceQuery || query !== '') text += `?${query}`;
  return fragment === '' ? text : `${text}#${fragment}`;
}

/** As {@link goUrlText}, with stars for a password (as in the texts of Go's client). */
export function shownUrl(url: GoUrl): string {
  if (url.user === null || url.user.password === null) return goUrlText(url);
  return goUrlText(url).replace(`${userText(url.user)}@`, () => `${url.user?.name ?? ''}:***@`);
}

/** As {@link goUrlText}, without user and password. */
export function urlWithoutUser(url: GoUrl): string {
  return goUrlText({ ...url, user: null });
}

function userText({ name, password }: UserInfo): string {
  return escaped(name, 'user') + (password === null ? '' : `:${escaped(password, 'user')}`);
}

/** What stands in the first line of a request for it (Go's `URL.RequestURI`). */
export function requestTarget(url: GoUrl): string {
  const { scheme, opaque, forceQuery, query } = url;
  const path = opaque === '' ? escapedPath(url) || '/' : opaque.startsWith('//') ? `${scheme}:${opaque}` : opaque;
  return forceQuery || query !== '' ? `${path}?${query}` : path;
}

/** Go's `URL.Hostname` and `URL.Port`: without brackets; port '' when none is named. */
export function hostAndPort({ host }: GoUrl): { hostname: string; port: string } {
  const [, before = host, port = ''] = /^([^]*?):(\d*)$/.exec(host) ?? [];
  const plain = host.startsWith('[') || !before.includes(':') ? before : host;
  return { hostname: plain.startsWith('[') && plain.endsWith(']') ? plain.slice(1, -1) : plain, port };
}

/** Go's `URL.ResolveReference` (RFC 3986, 5.2). */
export function resolveGoUrl(base: GoUrl, reference: GoUrl): GoUrl {
  const url = { ...reference, scheme: reference.scheme || base.scheme };
  if (reference.scheme !== '' || reference.host !== '' || reference.user !== null)
    return withPath(url, resolvedPath(escapedPath(reference), ''));
  if (reference.opaque !== '') return { ...url, user: null, host: '', path: '' };
  if (reference.path === '' && !reference.forceQuery && reference.query === '') {
    url.query = base.query;
    if (reference.fragment === '') url.fragment = base.fragment;
  }
  if (reference.path === '' && base.opaque !== '')
    return { ...url, opaque: base.opaque, user: null, host: '', path: '' };
  url.host = base.host;
  url.user = base.user;
  return withPath(url, resolvedPath(escapedPath(base), escapedPath(reference)));
}

function resolvedPath(base: string, reference: string): string {
  const full =
    reference === ''
      ? base
      : reference.startsWith('/')
        ? reference
        : base.slice(0, base.lastIndexOf('/') + 1) + reference;
  if (full === '') return '';
  const parts = full.split('/');
  const out: string[] = [];
  if (parts[0] === '') parts.shift();
  for (const part of parts)
    if (part === '..') out.pop();
    else if (part !== '.') out.push(part);
  const last = parts.at(-1);
  if (last === '.' || last === '..') out.push('');
  return `/${out.join('/')}`;
}

/** Go's `strings.Cut`: before and after the first `at`. */
function cut(text: string, at: string): [before: string, after?: string] {
  const index = text.indexOf(at);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + at.length)];
}
