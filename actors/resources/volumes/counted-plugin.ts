import type { VolumeSpec } from './volume-plugin.ts';

/** The plugin whose volumes are counted by their drivers (kubelet: pkg/volume/csi). */
const CSI = 'kubernetes.io/csi';

/** What metrics call a volume's plugin (kubelet: GetFullQualifiedPluginNameForVolume): with the driver behind it where it is CSI's. */
export function countedPlugin(plugin: string, { pv, volume }: Pick<VolumeSpec, 'pv' | 'volume'>): string {
  const driver = (pv === null ? volume.csi : pv.spec?.csi)?.driver;
  return driver === undefined ? plugin : `${plugin}:${driver}`;
}

/** The same where only the device is known (`PLUGIN/DRIVER^HANDLE`): of what an earlier agent has left. */
export function countedPluginOf(plugin: string, device: string): string {
  const end = device.indexOf('^');
  return plugin === CSI && end >= 0 ? `${plugin}:${device.slice(CSI.length + 1, end)}` : plugin;
}
