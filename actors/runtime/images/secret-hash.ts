import { createHash } from 'node:crypto';
import { loginText } from '../../../machines/images/pull-record.ts';
import type { ImagePullSecret } from '../../../machines/images/pull-record.ts';
import type { TrackedLogin } from './pull-logins.ts';

/** How records of pulls call the secret of a login, as a list; empty for a login that is no secret's. */
export function secretOf(login: TrackedLogin): ImagePullSecret[] {
  if (login.secret === undefined) return [];
  return [{ ...login.secret, credentialHash: createHash('sha256').update(loginText(login)).digest('hex') }];
}
