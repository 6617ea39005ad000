import { constants } from 'node:fs';
import { lstat, mkdir, open, realpath, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { ContainerPreparation } from '../../../machines/protocol/effects.ts';
import { HostFailure, codeOf, ignoring, textOf } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { mount, mountOn, unmount } from '../files/mounts.ts';
import { plainName, podDir } from '../files/pod-paths.ts';
import { podWork } from '../files/pod-work.ts';

/** Linux O_PATH (the same on x86-64 and arm64), which Node does not name: never blocks on a FIFO, opens no device. */
export const O_PATH = 0o10000000;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * Makes a `subPath` safe to hand to the runtime, against CVE-2017-1002101: the path is walked one component at a time
 * from the volume's root without following links, and what was reached is bind mounted at
 * `<pod>/volume-subpaths/<key>`, where the key is `<volume>/<container>/<index of the mount>`. A container that later
 * swaps a folder for a link changes nothing. Missing folders are made with the volume's own mode. Returns the bind
 * mount's path.
 *
 * @throws HostFailure `SubPath` in the kubelet's words, which keep what lies on the host to themselves (it is logged)
 */
export async function prepareSubPath(
  sub: ContainerPreparation['subPaths'][number],
  podUid: string,
  containerName: string,
  settings: HostSettings,
): Promise<string> {
  if (sub.subPath.startsWith('/'))
    throw new HostFailure('SubPath', `error SubPath \`${sub.subPath}\` must not be an absolute path`);
  if (sub.subPath.split('/').includes('..'))
    throw new HostFailure('SubPath', `unable to provision SubPath \`${sub.subPath}\`: must not contain '..'`);
  const parts = sub.key.split('/').map((part) => plainName(part, 'each part of the mount key'));
  const fail = (what: string, error: unknown) => {
    settings.log.error({ podUid, containerName, volumeMount: parts[0], err: textOf(error) }, `Failed to ${what}`);
    const text = `failed to ${what} for volumeMount "${parts[0]}" of container "${containerName}"`;
    return new HostFailure('SubPath', text, { cause: error });
  };
  const dir = podDir(settings.rootDir, podUid);
  return podWork(dir, async (turn) => {
    // Not in the pod's turn: a volume on a dead file server may hang here.
    const opening = openWithin(sub.volumePath, sub.subPath);
    let handle: FileHandle;
    try {
      handle = await turn.waitFor(opening);
    } catch (error) {
      if (codeOf(error) === 'Canceled') {
        void opening.then((late) => late.close()).catch(() => undefined);
        throw error;
      }
      throw fail(codeOf(error) === 'Escape' ? 'prepare subPath' : 'create subPath directory', error);
    }
    try {
      return await turn.alone(() => bind(handle, join(dir, 'volume-subpaths', ...parts)));
    } catch (error) {
      throw codeOf(error) === 'Canceled' ? error : fail('prepare subPath', error);
    } finally {
      await handle.close();
    }
  });
}

/** Opens `<volume>/<subPath>` and makes what is missing; the handle is proof against links changed meanwhile. */
async function openWithin(volumePath: string, subPath: string): Promise<FileHandle> {
  const base = await realpath(volumePath);
  const parts = subPath.split('/').filter((part) => part !== '' && part !== '.');
  // Links inside of the volume are allowed where they lead to the volume again.
  let existing = base;
  let count = 0;
  for (const part of parts) {
    const next = await ignoring(realpath(join(existing, part)), 'ENOENT');
    if (next === undefined) break;
    existing = next;
    count++;
  }
  const inside = relative(base, existing);
  if (inside === '..' || inside.startsWith('../')) throw new HostFailure('Escape', `${existing} is outside of ${base}`);
  const mode = (await lstat(base)).mode & 0o7777;
  let handle = await open(base, O_RDONLY | O_NOFOLLOW | (parts.length > 0 ? O_DIRECTORY : O_PATH));
  try {
    for (const part of inside.split('/').filter(Boolean)) handle = await step(handle, part, O_PATH | O_NOFOLLOW);
    for (const part of parts.slice(count)) {
      await mkdir(`/proc/self/fd/${handle.fd}/${part}`, { mode });
      handle = await step(handle, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      await handle.chmod(mode);
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** openat(2) by way of /proc: the magic link leads to the open folder itself, whatever its path says by now. */
export async function step(parent: FileHandle, name: string, flags: number): Promise<FileHandle> {
  const child = await open(`/proc/self/fd/${parent.fd}/${name}`, flags);
  if ((await child.stat()).isSymbolicLink()) {
    await child.close();
    throw new HostFailure('Escape', `unexpected symlink found ${name}`);
  }
  await parent.close();
  return child;
}

async function bind(handle: FileHandle, target: string): Promise<string> {
  const source = await handle.stat();
  if ((await mountOn(target)) !== undefined) {
    const there = await lstat(target);
    if (there.dev === source.dev && there.ino === source.ino) return target;
    await unmount(target);
  }
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  // The mount point must be of the source's kind; one left by a mount of the other kind goes first.
  await rm(target, { recursive: false, force: true }).catch((error: unknown) => {
    if (codeOf(error) !== 'ERR_FS_EISDIR') throw error;
  });
  if (source.isDirectory()) await ignoring(mkdir(target, { mode: 0o750 }), 'EEXIST');
  else await (await open(target, 'a', 0o640)).close();
  await mount(`/proc/${process.pid}/fd/${handle.fd}`, target, '', ['bind'], ['--no-canonicalize']);
  return target;
}
