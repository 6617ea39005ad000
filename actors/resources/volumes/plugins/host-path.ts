import { strangeFiles } from '../../../host/strange/strange-files.ts';
import { VolumeFailure } from '../volume-plugin.ts';
import type { VolumePlugin } from '../volume-plugin.ts';

/** A PV that is a path of this machine; nothing is mounted, containers get the path itself. */
export const hostPathPlugin: VolumePlugin = {
  name: 'kubernetes.io/host-path',
  mountOptions: false,
  serves: ({ pv }) => pv?.spec?.hostPath !== undefined,
  deviceName: ({ pv }) => Promise.resolve(pv?.spec?.hostPath?.path ?? ''),
  attachable: () => Promise.resolve(false),
  async publish({ spec: { pv, mode } }) {
    if (mode === 'Block')
      throw new VolumeFailure('Block', 'no block volume plugin matched', {
        what: 'MapVolume.FindMapperPluginBySpec failed',
      });
    const { path = '', type = '' } = pv?.spec?.hostPath ?? {};
    if (path.split('/').includes('..'))
      throw new VolumeFailure('InvalidHostPath', `invalid HostPath \`${path}\`: must not contain '..'`);
    // Whoever looks at a path of the host may hang there, so another process does.
    if (type !== '') await strangeFiles.call({ do: 'hostPath', path, type });
    return path;
  },
  unpublish: () => Promise.resolve(),
};
