import { mkdir, open, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { ContainerPreparation } from '../../../machines/protocol/effects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { HostFailure, codeOf, ignoring } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { mount, mountOn, unmount } from '../files/mounts.ts';
import { SUB_PATHS_FOLDER, plainName, podDir } from '../files/pod-paths.ts';
import { podWork } from '../files/pod-work.ts';
import { openedSource } from './opened-source.ts';
import type { OpenedSource } from './opened-source.ts';

/**
 * Makes a `subPath` safe to hand to the runtime, against CVE-2017-1002101: the path is walked one component at a time
 * from the volume's root without following links, and what was reached is bind mounted at
 * `<pod>/volume-subpaths/<volume>/<container>/<index of the mount>`, as kubelet does (see {@link specName}), so that
 * either agent finds what the other has bound. A container that later swaps a folder for a link changes nothing.
 * Missing folders are made with the volume's own mode. Returns the bind mount's path.
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
    settings.log.error({ podUid, containerName, volumeMount: parts[0], err: messageOf(error) }, `Failed to ${what}`);
    const text = `failed to ${what} for volumeMount "${parts[0]}" of container "${containerName}"`;
    return new HostFailure('SubPath', text, { cause: error });
  };
  const dir = podDir(settings.rootDir, podUid);
  return podWork(dir, async (turn) => {
    // Not in the pod's turn: a volume on a dead file server may hang here.
    const opening = openedSource(dir, sub.volumePath, sub.subPath);
    let source: OpenedSource;
    try {
      source = await turn.waitFor(opening);
    } catch (error) {
      if (codeOf(error) === 'Canceled') {
        void opening.then((late) => late.close()).catch(() => undefined);
        throw error;
      }
      throw fail(codeOf(error) === 'Escape' ? 'prepare subPath' : 'create subPath directory', error);
    }
    try {
      const [volume = '', ...rest] = parts;
      const folder = await specName(volume, sub.volumePath, podUid, settings);
      return await turn.alone(() => bind(source, join(dir, SUB_PATHS_FOLDER, folder, ...rest)));
    } catch (error) {
      throw codeOf(error) === 'Canceled' ? error : fail('prepare subPath', error);
    } finally {
      await source.close();
    }
  });
}

/**
 * What kubelet calls a volume (`InnerVolumeSpecName`): by its PV where a claim has led to it, and by this name it looks for
 * subPaths that it has to unmount. A volume in the pod's folder has it for its folder's name; of a path of the host the volume
 * manager knows whether a PV named it.
 */
async function specName(volume: string, volumePath: string, podUid: string, settings: HostSettings): Promise<string> {
  const volumes = join(podDir(settings.rootDir, podUid), 'volumes');
  const [plugin = '', name] = relative(volumes, volumePath).split('/');
  if (plugin !== '..' && name !== undefined) return name;
  const told = await settings.askNode?.('volume.Name', { podUid, volume });
  return told?.name ?? volume;
}

async function bind(source: OpenedSource, target: string): Promise<string> {
  if ((await mountOn(target)) !== undefined) {
    if (await source.isAt(target)) return target;
    await unmount(target);
  }
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  // The mount point must be of the source's kind; one left by a mount of the other kind goes first.
  await rm(target, { recursive: false, force: true }).catch((error: unknown) => {
    if (codeOf(error) !== 'ERR_FS_EISDIR') throw error;
  });
  if (source.directory) await ignoring(mkdir(target, { mode: 0o750 }), 'EEXIST');
  else await (await open(target, 'a', 0o640)).close();
  await mount(source.path, target, '', ['bind'], ['--no-canonicalize']);
  return target;
}
