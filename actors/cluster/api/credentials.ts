/** What a request proves its identity with. Secrets: never log or print one. */
export interface Identity {
  /** Value of the Authorization header. */
  authorization?: string;
  /** PEM of the client certificate and its key; a change of it means new connections. */
  cert?: string;
  key?: string;
}

/** A source of identities: fixed, from files that are rotated, or from an exec plugin. */
export interface Credentials {
  /** The identity for the next request. Rejects with an ActorletError when there is none to be had. */
  current(): Identity | Promise<Identity>;
  /** The server answered 401 to this identity. True when `current` may give another one now. */
  rejected(identity: Identity): boolean;
}
