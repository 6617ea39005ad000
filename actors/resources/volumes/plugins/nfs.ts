import { isIPv6 } from 'node:net';
import { makeFolder } from '../make-folder.ts';
import { readStatfs } from '../../../host/strange/read-statfs.ts';
import { mount, mountOn } from '../../../host/files/mounts.ts';
import { cleanMountPoint } from '../clean-mount-point.ts';
import { usageOf } from '../volume-usage.ts';
import { VolumeFailure } from '../volume-plugin.ts';
import type { VolumePlugin, VolumeSpec } from '../volume-plugin.ts';
import { joined } from './local.ts';

/** How long an ordinary umount may take before it is forced, ms: kubelet's. */
const UNMOUNT_MS = 60_000;

/**
 * Exports of NFS servers, mounted for each pod by `mount.nfs`. A server that does not answer holds up its own volume only: mounts are made by shells that
 * can be left alone, and nothing of the agent itself looks into one.
 * @param mounter `--experimental-mounter-path`: mounts instead of this machine's `mount`, e.g. in a container that has mount.nfs; '' = none
 */
export const nfsPlugin = (mounter: string): VolumePlugin => ({
  name: 'kubernetes.io/nfs',
  serves: ({ pv, volume }) => pv?.spec?.nfs !== undefined || (pv === null && volume.nfs !== undefined),
  deviceName: (spec) => Promise.resolve(`${sourceOf(spec).server}/${sourceOf(spec).path}`),
  attachable: () => Promise.resolve(false),
  async publish({ spec, path }) {
    if (spec.mode === 'Block')
      throw new VolumeFailure('Block', 'no block volume plugin matched', {
        what: 'MapVolume.FindMapperPluginBySpec failed',
      });
    if ((await mountOn(path)) !== undefined) return path;
    await makeFolder(path);
    const { server, path: exported } = sourceOf(spec);
    const from = `${isIPv6(server) ? `[${server}]` : server}:${exported}`;
    try {
      await mount(from, path, 'nfs', joined(spec.readOnly ? ['ro'] : [], spec.pv), [], mounter);
    } catch (error) {
      await cleanMountPoint(path, UNMOUNT_MS);
      throw error;
    }
    return path;
  },
  unpublish: ({ path }) => cleanMountPoint(path, UNMOUNT_MS),
  usage: async ({ path }) => usageOf(await readStatfs(path)),
});

function sourceOf({ pv, volume }: VolumeSpec): { server: string; path: string } {
  return (pv === null ? volume.nfs : pv.spec?.nfs) ?? { server: '', path: '' };
}
