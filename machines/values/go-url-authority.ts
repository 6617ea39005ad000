import { GoUrlError, unescaped } from './go-url-escapes.ts';

/** `user:password@`; the password is null when there is no colon. */
export interface UserInfo {
  name: string;
  password: string | null;
}

/**
 * What stands between `//` and the next slash.
 *
 * @throws GoUrlError in Go's words
 */
export function parseAuthority(authority: string): { user: UserInfo | null; host: string } {
  const at = authority.lastIndexOf('@');
  const host = parseHost(authority.slice(at + 1));
  if (at === -1) return { user: null, host };
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new GoUrlError('net/url: invalid userinfo');
  const colon = user.indexOf(':');
  if (colon === -1) return { user: { name: unescaped(user, 'user'), password: null }, host };
  const [name, password] = [user.slice(0, colon), user.slice(colon + 1)];
  return { user: { name: unescaped(name, 'user'), password: unescaped(password, 'user') }, host };
}

function parseHost(host: string): string {
  const open = host.lastIndexOf('[');
  if (open > 0) throw new GoUrlError('invalid IP-literal');
  if (open === -1) {
    const colon = host.lastIndexOf(':');
    if (colon !== -1) checkPort(host.slice(colon));
    return unescaped(host, 'host');
  }
  const close = host.lastIndexOf(']');
  if (close === -1) throw new GoUrlError("missing ']' in host");
  checkPort(host.slice(close + 1));
  const [address = '', zone] = host.slice(1, close).split(/%25([^]*)/);
  if (!URL.canParse(`http://[${address}]/`)) throw new GoUrlError('invalid host: unable to parse IP');
  return `[${address}${zone === undefined ? '' : `%${unescaped(zone, 'user')}`}]${host.slice(close + 1)}`;
}

function checkPort(colonPort: string): void {
  if (!/^(:[0-9]*)?$/.test(colonPort)) throw new GoUrlError(`invalid port ${JSON.stringify(colonPort)} after host`);
}
