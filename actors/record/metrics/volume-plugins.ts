import type { Pod, Volume } from '../../../machines/protocol/api-types.ts';
import type { VolumeSetup } from '../../../machines/protocol/effects.ts';
import { isManagedKind } from '../../../machines/protocol/managed-kinds.ts';
import type { ManagedKind } from '../../../machines/protocol/managed-kinds.ts';
import { mountedVolumes } from '../../../machines/volumes/volume-setups.ts';

/** Names of kubelet's volume plugins. */
export const VOLUME_PLUGINS: Readonly<Record<Exclude<VolumeSetup['kind'], ManagedKind>, string>> = {
  hostPath: 'kubernetes.io/host-path',
  emptyDir: 'kubernetes.io/empty-dir',
  gitRepo: 'kubernetes.io/git-repo',
  downwardAPI: 'kubernetes.io/downward-api',
  configMap: 'kubernetes.io/configmap',
  secret: 'kubernetes.io/secret',
  projected: 'kubernetes.io/projected',
};

/**
 * Plugins of the volumes that containers of the pod mount, one entry for each; `N/A` for kinds that are not known here. Those that the main
 * thread sets up are left out: it knows who serves them.
 */
export function wantedPlugins(pod: Pod): string[] {
  const used = mountedVolumes(pod);
  const volumes = (pod.spec?.volumes ?? []).filter(({ name }) => used.has(name));
  return volumes.filter((volume) => !Object.keys(volume).some(isManagedKind)).map(pluginOf);
}

function pluginOf(volume: Volume): string {
  const kind: string | undefined = Object.keys(volume).find(
    (key) => key !== 'name' && volume[key as keyof Volume] !== undefined,
  );
  if (kind === undefined) return VOLUME_PLUGINS.emptyDir;
  return kind in VOLUME_PLUGINS ? VOLUME_PLUGINS[kind as keyof typeof VOLUME_PLUGINS] : 'N/A';
}
