import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';

/** Why a request is refused. */
export interface Refusal {
  status: 401 | 403;
  error: string;
}

/** On every answer: nothing but the page's own files may run in it, and nobody may frame it or read it from elsewhere. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Who may ask the inspector: whoever has the token, in a cookie or as a bearer. The name in `Host` must be one that only
 * this machine can have (a page elsewhere could point a name of its own at us), and `Origin`, where there is one, our own.
 */
export class InspectorGuard {
  private readonly token: Buffer;
  private readonly names: ReadonlySet<string>;
  /** Cookies know no ports: two agents on a machine must not take each other's. */
  readonly cookieName: string;
  private readonly secret: string;

  /** @param host as it was named to listen on */
  constructor(token: string, host: string) {
    this.secret = token;
    this.token = digest(token);
    this.cookieName = `actorlet-${this.token.toString('hex').slice(0, 12)}`;
    this.names = new Set(['localhost', hostname().toLowerCase(), host.toLowerCase()]);
  }

  /** The cookie that lets a browser in. */
  cookie(): string {
    return `${this.cookieName}=${this.secret}; Path=/; HttpOnly; SameSite=Strict`;
  }

  isToken(text: string): boolean {
    return timingSafeEqual(digest(text), this.token);
  }

  /** Null when the name in `Host` is ours and a browser's page elsewhere did not send the request. */
  refuseOrigin(request: IncomingMessage, anyOrigin = false): Refusal | null {
    const { host = '', origin } = request.headers;
    if (!this.isOwnName(host)) return { status: 403, error: 'the name in the Host header is not one of this machine' };
    if (origin === undefined || anyOrigin || origin === `http://${host}` || origin === `https://${host}`) return null;
    return { status: 403, error: 'the request comes from a page of another origin' };
  }

  /** Null when the request has the token. */
  refuseStranger(request: IncomingMessage): Refusal | null {
    const { authorization = '', cookie = '' } = request.headers;
    const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (bearer !== undefined && this.isToken(bearer)) return null;
    for (const part of cookie.split(';')) {
      const [name = '', value = ''] = part.trim().split('=', 2);
      if (name === this.cookieName && this.isToken(value)) return null;
    }
    return { status: 401, error: 'no token: open the address that the agent printed when it started' };
  }

  private isOwnName(header: string): boolean {
    const name = header.replace(/:\d+$/, '').toLowerCase();
    const bare = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
    return isIP(bare) !== 0 || this.names.has(bare);
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
