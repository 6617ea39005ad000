import { bearerToken, webSocketToken } from './token-syntax.ts';
import type { TokenCache } from './token-cache.ts';
import type { Authenticator, AuthnRequest } from './user-info.ts';

type Tokens = Pick<TokenCache, 'authenticate'>;

/** Accepts `Authorization: Bearer`; takes the header out of the request when it was good. */
export function bearerAuthenticator(tokens: Tokens): Authenticator {
  return {
    async authenticate(request) {
      const token = bearerToken(request.headers);
      if (token === null) return null;
      const user = await tokens.authenticate(token);
      if (user === null) throw new Error('invalid bearer token');
      delete request.headers.authorization;
      replaceRaw(request, 'authorization', undefined);
      return user;
    },
  };
}

/** Accepts a token among the protocols of a WebSocket upgrade; takes it out of them when it was good. */
export function webSocketAuthenticator(tokens: Tokens): Authenticator {
  return {
    async authenticate(request) {
      const found = webSocketToken(request.headers);
      if (found === null) return null;
      const user = await tokens.authenticate(found.token);
      if (user === null) throw new Error('invalid bearer token');
      request.headers['sec-websocket-protocol'] = found.protocols;
      replaceRaw(request, 'sec-websocket-protocol', found.protocols);
      return user;
    },
  };
}

/** Takes all headers of that name out of the list of raw ones, and puts one back when there is a value. */
function replaceRaw({ rawHeaders }: AuthnRequest, name: string, value: string | undefined): void {
  if (rawHeaders === undefined) return;
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2) {
    if (rawHeaders[at]?.toLowerCase() === name) rawHeaders.splice(at, 2);
  }
  if (value !== undefined) rawHeaders.push(name, value);
}
