import { goQuote } from '../values/go-quote.ts';

const SCHEME = 'aws://';

/** EBS's own id of a volume that Kubernetes calls `vol-1` or `aws://ZONE/vol-1`. Throws in the words of csi-translation-lib (and of Go's net/url). */
export function ebsVolumeId(id: string): string {
  if (!id.startsWith(SCHEME)) return id;
  const parsed = urlPath(id);
  if ('problem' in parsed) throw new Error(`Invalid disk name (${id}): parse ${goQuote(id)}: ${parsed.problem}`);
  const own = trimmed(parsed.path);
  if (!own.startsWith('vol-') || own.includes('/')) throw new Error(`Invalid format for AWS volume (${id})`);
  return own;
}

/** The path of such a URL, unescaped, or what Go says is wrong with it. */
function urlPath(url: string): { path: string } | { problem: string } {
  if ([...url].some((c) => c < ' ' || c === '\u007f')) return { problem: 'net/url: invalid control character in URL' };
  const [whole = '', ...fragment] = url.split('#');
  const badFragment = fragment.length === 0 ? null : badEscape(fragment.join('#'));
  if (badFragment !== null) return { problem: `invalid URL escape ${goQuote(badFragment)}` };
  const [rest = ''] = whole.slice(SCHEME.length).split('?', 1);
  const slash = rest.indexOf('/');
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  const path = slash < 0 ? '' : rest.slice(slash);
  const problem = hostProblem(authority.slice(authority.lastIndexOf('@') + 1));
  if (problem !== null) return { problem };
  const bad = badEscape(path);
  if (bad !== null) return { problem: `invalid URL escape ${goQuote(bad)}` };
  return { path: unescaped(path) };
}

function hostProblem(host: string): string | null {
  let port = host.slice(host.lastIndexOf(':') + 1);
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    if (end < 0) return "missing ']' in host";
    port = host.slice(end + 1);
    if (port !== '' && !isPort(port)) return `invalid port ${goQuote(port)} after host`;
  } else if (host.includes(':') && !isPort(`:${port}`)) return `invalid port ${goQuote(`:${port}`)} after host`;
  const escape = /%.{0,2}/u.exec(host)?.[0];
  if (escape !== undefined) return `invalid URL escape ${goQuote(escape)}`;
  const odd = /[ "<>\\^`{|}]/.exec(host)?.[0];
  return odd === undefined ? null : `invalid character ${goQuote(odd)} in host name`;
}

function isPort(text: string): boolean {
  return /^:\d*$/.test(text);
}

/** The first `%` that no two hexadecimal digits follow, with what does. */
function badEscape(text: string): string | null {
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', at + 1)) {
    const escape = text.slice(at, at + 3);
    if (!/^%[0-9a-fA-F]{2}$/.test(escape)) return escape;
  }
  return null;
}

/** Bytes that are no UTF-8 become the replacement character. */
function unescaped(path: string): string {
  const bytes: number[] = [];
  const raw = new TextEncoder().encode(path);
  for (let at = 0; at < raw.length; at++) {
    const isEscape = raw[at] === 0x25;
    bytes.push(
      isEscape ? Number.parseInt(String.fromCharCode(raw[at + 1] ?? 0, raw[at + 2] ?? 0), 16) : (raw[at] ?? 0),
    );
    if (isEscape) at += 2;
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

function trimmed(path: string): string {
  let [from, to] = [0, path.length];
  while (from < to && path[from] === '/') from++;
  while (to > from && path[to - 1] === '/') to--;
  return path.slice(from, to);
}
