import { readFile, realpath } from 'node:fs/promises';
import type { Logger } from 'pino';
import { parseMountinfo } from './mountinfo.ts';
import type { MountEntry } from './mountinfo.ts';
import { makeShared, mount, mountsIn } from './mounts.ts';

/**
 * Makes `dir` (`--root-dir`) a mount that shares what is mounted below it, as kubelet does at its start: what a
 * container mounts in a volume with propagation `Bidirectional` then appears on the node and in other containers. On a
 * node whose root is shared already (systemd makes it so) nothing is done. Call it before any pod is set up.
 *
 * @returns whether a bind mount was made; it stays when the agent ends, since containers use it
 */
export async function makeRootShared(dir: string, log: Logger): Promise<boolean> {
  const path = await realpath(dir);
  const text = await readFile('/proc/self/mountinfo', 'utf8');
  if (isShared(text, path)) return false;
  if ((await mountsIn(path)).length > 0) {
    // A bind mount would hide what is mounted below.
    log.warn(
      { dir: path },
      'Root directory is not on a shared mount and has mounts already: no Bidirectional propagation',
    );
    return false;
  }
  await mount(path, path, '', ['bind']);
  await makeShared(path);
  log.info({ dir: path }, 'Bind-mounted the root directory with shared mount propagation');
  return true;
}

/** Whether the mount that holds `path` has a peer group (`shared:N` of proc_pid_mountinfo(5)). */
function isShared(mountinfo: string, path: string): boolean {
  let holder: MountEntry | undefined;
  for (const entry of parseMountinfo(mountinfo)) {
    const { mountPoint } = entry;
    const holds = mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`);
    if (holds && mountPoint.length >= (holder?.mountPoint.length ?? 0)) holder = entry;
  }
  return holder?.shared ?? false;
}
