import { stat } from 'node:fs/promises';

/** What a group needs of a folder that it may write to: reading, writing, entering for owner and group. */
const NEEDED = 0o770;
const SETGID = 0o2000;

/** Does the folder belong to this group already, with the permissions that it is given (kubelet: requiresPermissionChange, negated)? */
export async function isGivenToGroup(path: string, gid: number): Promise<boolean> {
  try {
    const { gid: has, mode } = await stat(path);
    return has === gid && (mode & NEEDED) === NEEDED && (mode & SETGID) !== 0;
  } catch {
    return false;
  }
}
