import type { UserInfo } from '../authn/user-info.ts';

/** One question: may this user do this to `nodes/SUBRESOURCE` of this node? */
export interface Access {
  user: UserInfo;
  verb: string;
  subresource: string;
  /** Path of the request, decoded. */
  path: string;
}

/** Resolves to true when the user may; rejects when that cannot be told. */
export interface Authorizer {
  allows(access: Access): Promise<boolean>;
}

/** `authorization.mode: AlwaysAllow`. */
export const alwaysAllow: Authorizer = { allows: () => Promise.resolve(true) };

/** For `authorization.mode: Webhook` without an API server to ask. */
export const alwaysDeny: Authorizer = { allows: () => Promise.resolve(false) };
