import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { makeFolder } from '../make-folder.ts';
import { messageOf } from '../../../../machines/values/message-of.ts';
import { mountOptionsOf } from '../../../../machines/volumes/pv-annotations.ts';
import { ignoring } from '../../../host/files/host-failure.ts';
import { mount, mountOn } from '../../../host/files/mounts.ts';
import { formatAndMount, growFileSystem } from '../../../host/volumes/disk-commands.ts';
import { giveToGroup } from '../../../host/volumes/fs-group.ts';
import { strangeFiles } from '../../../host/strange/strange-files.ts';
import { readStatfs } from '../../../host/strange/read-statfs.ts';
import { blockUsage } from '../block-usage.ts';
import { cleanMountPoint } from '../clean-mount-point.ts';
import { mountRefs, refuseInUse } from '../mount-refs.ts';
import { usageOf } from '../volume-usage.ts';
import { VolumeFailure } from '../volume-plugin.ts';
import type { VolumePlugin, VolumeSpec } from '../volume-plugin.ts';

const NAME = 'kubernetes.io/local-volume';

/** What {@link localPlugin} needs of the node. */
export interface LocalPluginOptions {
  rootDir: string;
  log: Logger;
  /** Tells a pod's user something: `AlreadyMountedVolume`. */
  warn: (pod: Parameters<VolumePlugin['publish']>[0]['pod'], reason: string, message: string) => void;
}

/** Disks and folders of this machine as PVs: a folder is bind mounted into the pod, a disk mounted once for all pods, or passed as it is. */
export function localPlugin({ rootDir, log, warn }: LocalPluginOptions): VolumePlugin {
  const mounts = join(rootDir, 'plugins', NAME, 'mounts');
  const globalPathOf = async (spec: VolumeSpec): Promise<string> => {
    const path = pathOf(spec);
    switch (await kindOf(path)) {
      case 'directory':
        return path;
      case 'block':
        return join(mounts, spec.name);
      default:
        throw new VolumeFailure('LocalVolume', 'only directory and block device are supported', { what: NEW_MOUNTER });
    }
  };
  return {
    name: NAME,
    serves: ({ pv }) => pv?.spec?.local !== undefined,
    deviceName: ({ name }) => Promise.resolve(name),
    attachable: () => Promise.resolve(false),
    stages: () => Promise.resolve(true),
    globalMapPath: ({ name }) => join(rootDir, 'plugins', NAME.replace('/', '~'), 'volumeDevices', name),

    async stage({ spec }) {
      if (spec.mode === 'Block') return '';
      const target = await globalPathOf(spec);
      const source = pathOf(spec);
      if (target === source || (await mountOn(target)) !== undefined) return target;
      await makeFolder(target);
      const fsType = spec.pv?.spec?.local?.fsType ?? 'ext4';
      const options = joined(spec.readOnly ? ['ro'] : [], spec.pv);
      try {
        await formatAndMount(source, target, fsType, options);
      } catch (error) {
        await cleanMountPoint(target);
        const text = `local: failed to mount device ${source} at ${target} (fstype: ${fsType}), error ${messageOf(error)}`;
        throw new VolumeFailure('LocalVolume', text, { cause: error });
      }
      return target;
    },

    async publish({ spec, pod, path, fsGroup, fsGroupChangePolicy, ownership }) {
      if (spec.mode === 'Block') return resolve('/', pathOf(spec));
      const source = await globalPathOf(spec);
      if (source.split('/').includes('..'))
        throw new VolumeFailure('LocalVolume', `invalid path: ${source} must not contain '..'`);
      if ((await mountOn(path)) !== undefined) return path;
      const others = (await mountRefs(source)).filter((each) => each.startsWith(`${join(rootDir, 'pods')}/`));
      if (fsGroup !== undefined && others.length > 0) await warnOfGroup(spec, pod, source, fsGroup, warn);
      await makeFolder(path);
      const options = joined(['bind', ...(spec.readOnly ? ['ro'] : [])], spec.pv);
      try {
        await mount(resolve('/', source), path, '', options);
      } catch (error) {
        await cleanMountPoint(path);
        throw error;
      }
      // The first pod to have it gives it to its group; a later one finds it in use.
      if (!spec.readOnly && others.length === 0) await giveToGroup(path, fsGroup, fsGroupChangePolicy, log, ownership);
      return path;
    },

    unpublish: ({ path, mode }) => (mode === 'Block' ? Promise.resolve() : cleanMountPoint(path)),

    // The folder of a PV is the user's own: only what was mounted here goes.
    async unstage({ name, mode }) {
      if (mode === 'Block' || name === '') return;
      await refuseInUse(join(mounts, name));
      await cleanMountPoint(join(mounts, name));
    },

    async expand({ spec, stagedPath, newBytes }) {
      if (spec.mode === 'Block') return newBytes;
      const path = pathOf(spec);
      if ((await kindOf(path)) === 'block') await growFileSystem(path, stagedPath);
      return newBytes;
    },

    publishedOnDisk: ({ name }) => Promise.resolve({ deviceName: name, attachable: false }),

    async stagedOnDisk() {
      const found = [];
      for (const name of (await ignoring(readdir(mounts), 'ENOENT', 'ENOTDIR')) ?? [])
        found.push({ deviceName: name, name, mode: 'Filesystem' as const, stagedPath: join(mounts, name) });
      return found;
    },

    relabels: () => Promise.resolve(true),

    usage: async ({ spec, path }) => (spec.mode === 'Block' ? blockUsage(path) : usageOf(await readStatfs(path))),
  };
}

const NEW_MOUNTER = 'MountVolume.NewMounter initialization failed';

function pathOf({ pv }: VolumeSpec): string {
  const path = pv?.spec?.local?.path ?? '';
  if (path === '')
    throw new VolumeFailure('LocalVolume', 'local volume source is nil or local path is not set', {
      what: NEW_MOUNTER,
    });
  return path;
}

/** Whoever looks at a path of the host may hang there, so another process does. */
async function kindOf(path: string): Promise<'directory' | 'block' | 'other'> {
  const { kind } = await strangeFiles.call({ do: 'kind', path });
  if (kind === 'none') throw new VolumeFailure('LocalVolume', `path "${path}" does not exist`, { what: NEW_MOUNTER });
  return kind;
}

async function warnOfGroup(
  spec: VolumeSpec,
  pod: Parameters<VolumePlugin['publish']>[0]['pod'],
  source: string,
  fsGroup: number,
  warn: LocalPluginOptions['warn'],
): Promise<void> {
  const { gid } = await strangeFiles.call({ do: 'owner', path: source });
  if (gid === fsGroup) return;
  const text = `The requested fsGroup is ${fsGroup}, but the volume ${spec.name} has GID ${gid}. The volume may not be shareable.`;
  warn(pod, 'AlreadyMountedVolume', text);
}

/** Options and those that the PV asks for, once each, in the order of the alphabet, as kubelet joins them. */
export function joined(own: readonly string[], pv: VolumeSpec['pv']): string[] {
  return [...new Set([...own, ...mountOptionsOf(pv)])].sort();
}
