import { messageOf } from '../../../machines/values/message-of.ts';
import type { Authenticator, UserInfo } from './user-info.ts';

const ANONYMOUS = 'system:anonymous';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

/** The user of requests without credentials, where `authentication.anonymous` allows them. */
export const anonymousUser: UserInfo = { name: ANONYMOUS, uid: '', groups: [UNAUTHENTICATED], extra: {} };

/**
 * All authenticators as one. Each is asked in turn until one knows the user; what is bad for one may be good for the
 * next. When none knows and one rejected, the whole rejects; else null.
 */
export function unionAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  return {
    async authenticate(request) {
      const errors: unknown[] = [];
      for (const authenticator of authenticators) {
        try {
          const user = await authenticator.authenticate(request);
          if (user !== null) return user;
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length === 0) return null;
      if (errors.length === 1) throw errors[0];
      const words = errors.map((error) => messageOf(error));
      throw new AggregateError(errors, `[${words.join(', ')}]`);
    },
  };
}

/** Adds the group `system:authenticated` to all but the anonymous user. */
export function withAuthenticatedGroup(inner: Authenticator): Authenticator {
  return {
    async authenticate(request) {
      const user = await inner.authenticate(request);
      if (user === null || user.name === ANONYMOUS) return user;
      if (user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)) return user;
      return { ...user, groups: [...user.groups, AUTHENTICATED] };
    },
  };
}

/** Takes requests as anonymous of which the other has no opinion. Bad credentials stay bad: the rejection goes on. */
export function orAnonymous(inner: Authenticator): Authenticator {
  return { authenticate: async (request) => (await inner.authenticate(request)) ?? anonymousUser };
}
