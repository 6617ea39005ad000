import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { codeOf } from './host-failure.ts';
import { isReadOnly } from './what-is-there.ts';

/**
 * What the failure of a host effect is called when a disk is the reason: HOST012 where no space (or quota, or inode) is
 * left, HOST013 where the file system is read-only. Anything else comes back as it is. `rootDir` is named when the
 * failed call names no path (`write` does not).
 */
export async function diskTrouble(thrown: unknown, rootDir: string): Promise<unknown> {
  const code = codeOf(thrown);
  const path = pathOf(thrown) ?? rootDir;
  // A cgroup file system says ENOSPC for reasons of its own.
  if (path.startsWith('/sys/')) return thrown;
  const params = { path, problem: messageOf(thrown) };
  if (code === 'ENOSPC' || code === 'EDQUOT') return new ActorletError(hostErrors.diskFull, params, { cause: thrown });
  if (code === 'EROFS') return new ActorletError(hostErrors.diskReadOnly, params, { cause: thrown });
  // Node's recursive mkdir says ENOENT where the system said EROFS.
  if (code === 'ENOENT' && syscallOf(thrown) === 'mkdir' && (await isReadOnly(rootDir))) {
    const problem = `EROFS: read-only file system, mkdir '${path}'`;
    return new ActorletError(hostErrors.diskReadOnly, { path, problem }, { cause: thrown });
  }
  return thrown;
}

function pathOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'path' in thrown && typeof thrown.path === 'string' ? thrown.path : undefined;
}

function syscallOf(thrown: unknown): string {
  return thrown instanceof Error && 'syscall' in thrown ? String(thrown.syscall) : '';
}
