import type { Pod, Volume } from '../../../machines/protocol/api-types.ts';
import type { VolumeSetup } from '../../../machines/protocol/effects.ts';
import { mountedVolumes } from '../../../machines/volumes/volume-setups.ts';

/** Names of kubelet's volume plugins. */
export const VOLUME_PLUGINS: Readonly<Record<VolumeSetup['kind'], string>> = {
  hostPath: 'kubernetes.io/host-path',
  emptyDir: 'kubernetes.io/empty-dir',
  downwardAPI: 'kubernetes.io/downward-api',
  configMap: 'kubernetes.io/configmap',
  secret: 'kubernetes.io/secret',
  projected: 'kubernetes.io/projected',
};

/** Plugins of the volumes that containers of the pod mount, one entry for each; `N/A` for kinds that are not known here. */
export function wantedPlugins(pod: Pod): string[] {
  const used = mountedVolumes(pod);
  return (pod.spec?.volumes ?? []).filter(({ name }) => used.has(name)).map(pluginOf);
}

function pluginOf(volume: Volume): string {
  const kind = Object.keys(volume).find((key) => key !== 'name' && volume[key as keyof Volume] !== undefined);
  if (kind === undefined) return VOLUME_PLUGINS.emptyDir;
  return kind in VOLUME_PLUGINS ? VOLUME_PLUGINS[kind as VolumeSetup['kind']] : 'N/A';
}
