import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../volumes/make-folder.ts';
import { flexOptions, flexSource, mountOptions } from '../../../machines/flex/flex-options.ts';
import type { FlexSource } from '../../../machines/flex/flex-options.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { mount, mountOn } from '../../host/files/mounts.ts';
import { isThere, namesIn } from '../../host/files/what-is-there.ts';
import { readStatfs } from '../../host/strange/read-statfs.ts';
import { formatAndMount, growFileSystem } from '../../host/volumes/disk-commands.ts';
import { giveToGroup } from '../../host/volumes/fs-group.ts';
import { quietly } from '../../host/volumes/ownership-watch.ts';
import { cleanMountPoint } from '../volumes/clean-mount-point.ts';
import { refuseInUse } from '../volumes/mount-refs.ts';
import { usageOf } from '../volumes/volume-usage.ts';
import { VolumeFailure, volumeFailure } from '../volumes/volume-plugin.ts';
import type { VolumePlugin, VolumeSpec } from '../volumes/volume-plugin.ts';
import type { FlexDriver } from './flex-driver.ts';
import type { FlexGround } from './flex-ground.ts';

/** How long a device is waited for, ms: kubelet's. */
const ATTACH_MS = 600_000;

/** The volumes of one FlexVolume driver, in kubelet's folders; a call that the driver does not have is made up for as kubelet does. */
export function flexPlugin(name: string, driver: FlexDriver, { rootDir, secret, log }: FlexGround): VolumePlugin {
  const mounts = join(rootDir, 'plugins/kubernetes.io/flexvolume', name, 'mounts');
  const attaches = async (): Promise<boolean> => (await driver.capabilities()).attach;
  const deviceName = async (spec: VolumeSpec): Promise<string> => {
    // Its answer is not used (kubelet: "GetVolumeName is not supported yet"), its failure is.
    await driver.call(AbortSignal.timeout(ATTACH_MS), 'getvolumename', flexOptions(about(spec)));
    return spec.name;
  };
  const deviceMountPath = async (spec: VolumeSpec): Promise<string> => {
    try {
      return join(mounts, await deviceName(spec));
    } catch (error) {
      throw new VolumeFailure('FlexVolume', `GetVolumeName failed from getDeviceMountPath: ${messageOf(error)}`);
    }
  };
  return {
    name,
    mountOptions: false,
    serves: (spec) => flexSource(spec)?.driver === name,
    deviceName,
    attachable: attaches,
    stages: attaches,

    async waitForAttach({ spec, devicePath, signal }) {
      const late = AbortSignal.timeout(ATTACH_MS);
      const either = AbortSignal.any([signal, late]);
      try {
        const answer = await driver.call(either, 'waitforattach', devicePath, flexOptions(about(spec)));
        return answer === null ? devicePath : answer.device;
      } catch (error) {
        if (late.aborted) throw new VolumeFailure('Timeout', 'timeout', { cause: error });
        throw error;
      }
    },

    async stage({ spec, devicePath, signal }) {
      refuseBlock(spec);
      const path = await deviceMountPath(spec);
      if (await isMountedOrMade(path)) return path;
      const { source, readOnly } = about(spec);
      const answer = await driver.call(signal, 'mountdevice', path, devicePath, flexOptions(about(spec)));
      if (answer === null && devicePath !== '')
        await formatAndMount(devicePath, path, source.fsType, [readOnly ? 'ro' : 'rw']);
      return path;
    },

    async publish({ spec, pod, path, fsGroup, fsGroupChangePolicy, ownership, signal }) {
      refuseBlock(spec);
      if (await isMountedOrMade(path)) return path;
      const { source, readOnly } = about(spec);
      try {
        const told = mountOptions(pod, await secretOf(source, pod, name, secret), fsGroup);
        const answer = await driver.call(signal, 'mount', path, flexOptions(about(spec), told));
        if (answer === null) await mount(await deviceMountPath(spec), path, 'auto', ['bind']);
      } catch (error) {
        await rmdir(path).catch(() => undefined);
        throw error;
      }
      if (!readOnly && (await driver.capabilities()).fsGroup)
        await giveToGroup(path, fsGroup, fsGroupChangePolicy, log, quietly(ownership)).catch((error: unknown) =>
          log.error({ path, err: messageOf(error) }, 'Cannot give a FlexVolume to the fsGroup'),
        );
      return path;
    },

    async unpublish({ path, signal }) {
      if (!(await isThere(path))) return;
      if ((await driver.call(signal, 'unmount', path)) === null) await cleanMountPoint(path);
      // The driver may have removed it.
      await ignoring(rmdir(path), 'ENOENT');
    },

    async unstage({ deviceName: device, stagedPath, signal }) {
      const path = stagedPath === '' ? join(mounts, device) : stagedPath;
      if (!(await isThere(path))) return;
      await refuseInUse(path);
      if ((await mountOn(path)) !== undefined && (await driver.call(signal, 'unmountdevice', path)) === null)
        await cleanMountPoint(path);
      await ignoring(rmdir(path), 'ENOENT');
    },

    grows: async () => (await driver.capabilities()).requiresFSResize,

    async expand({ spec, devicePath, stagedPath, newBytes, oldBytes, signal }) {
      if (!(await driver.capabilities()).requiresFSResize) return newBytes;
      const sizes = [newBytes, oldBytes].map(String);
      const answer = await driver.call(signal, 'expandfs', flexOptions(about(spec)), devicePath, stagedPath, ...sizes);
      if (answer === null) await growFileSystem(devicePath, stagedPath);
      return newBytes;
    },

    async publishedOnDisk({ name: volume }) {
      const attachable = await attaches();
      return { deviceName: attachable ? volume : '', attachable };
    },

    async stagedOnDisk() {
      const names = await namesIn(mounts);
      return names.map((volume) => ({
        ...{ deviceName: volume, name: volume, mode: 'Filesystem' as const },
        ...{ stagedPath: join(mounts, volume), attachable: true },
      }));
    },

    relabels: async () => (await driver.capabilities()).selinuxRelabel,

    usage: async ({ path }) => ((await driver.capabilities()).supportsMetrics ? usageOf(await readStatfs(path)) : null),
  };
}

function about(spec: VolumeSpec): { source: FlexSource; name: string; readOnly: boolean } {
  const source = flexSource(spec);
  if (source === null) throw new VolumeFailure('FlexVolume', 'not a flex volume');
  return { source, name: spec.name, readOnly: spec.readOnly };
}

function refuseBlock({ mode }: VolumeSpec): void {
  if (mode === 'Block')
    throw new VolumeFailure('Block', 'no block volume plugin matched', {
      what: 'MapVolume.FindMapperPluginBySpec failed',
    });
}

/** Values as base64: of a secret of the driver's own type, of the pod's namespace where the volume names none. */
async function secretOf(
  { secret }: FlexSource,
  pod: Pod,
  driver: string,
  read: FlexGround['secret'],
): Promise<Record<string, string>> {
  const namespace = secret?.namespace ?? pod.metadata?.namespace ?? '';
  if (secret === null || secret.name === '' || namespace === '') return {};
  const where = `${namespace}/${secret.name}`;
  const found = await read(namespace, secret.name).catch((error: unknown) => {
    const text = `couldn't get secret ${where} err: ${messageOf(error)}`;
    throw volumeFailure(error, 'Secret', { text });
  });
  if (found.type !== driver)
    throw new VolumeFailure('Secret', `couldn't get secret ${where} err: cannot get secret of type ${driver}`);
  const values = Object.entries(found.data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return { ...found.binaryData, ...(Object.fromEntries(values) as Record<string, string>) };
}

/** Something is mounted there; else the folder is made. */
async function isMountedOrMade(path: string): Promise<boolean> {
  if ((await mountOn(path)) !== undefined) return true;
  await makeFolder(path);
  return false;
}
