import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/** Who sent a request (`authentication.k8s.io/v1` UserInfo). */
export interface UserInfo {
  name: string;
  /** '' when the authenticator knows none. */
  uid: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
}

/** What an authenticator looks at. */
export interface AuthnRequest {
  /** A token that was accepted is taken out, so that no route can use it or pass it on. */
  headers: IncomingHttpHeaders;
  /** The same as they came; an accepted token is taken out here, too. */
  rawHeaders?: string[];
  /** A `TLSSocket` on the kubelet server. */
  socket: Socket;
}

/**
 * One way to tell who sends a request. Resolves to null when it has no opinion (no credentials of its kind); rejects
 * when there are such credentials and they are bad: then 401, unless another one accepts the request.
 */
export interface Authenticator {
  authenticate(request: AuthnRequest): Promise<UserInfo | null>;
}
