import type { KnownVolume } from '../../../machines/volume-manager/mount-context.ts';
import { mountId } from '../../../machines/volume-manager/volume-manager-state.ts';
import type { VolumeManagerState } from '../../../machines/volume-manager/volume-manager-state.ts';
import type { VolumeOrder } from '../../../machines/volume-manager/volume-orders.ts';
import { countedPlugin, countedPluginOf } from './counted-plugin.ts';
import type { CountedVolume } from './storage-operations.ts';
import type { VolumeCalls } from './volume-calls.ts';

/**
 * A volume of a pod as its operations are counted; null when nothing is known of it. One that nobody looks up any more
 * counts as one that no driver has taken over.
 */
export function countedVolume(
  calls: Pick<VolumeCalls, 'of'>,
  { uid, volume, known = null }: { uid: string; volume: string; known?: KnownVolume | null },
): CountedVolume | null {
  const found = calls.of(uid, volume);
  if (found !== undefined) {
    const { spec, plugin, device } = found;
    return {
      ...{ id: device === '' ? mountId(uid, volume) : device, plugin: countedPlugin(plugin.name, spec) },
      ...{ migrated: spec.migrated === true, isBlock: spec.mode === 'Block' },
    };
  }
  return known === null ? null : ofDevice(known);
}

function ofDevice({ plugin, device, mode }: Pick<KnownVolume, 'plugin' | 'device' | 'mode'>): CountedVolume {
  return { id: device, plugin: countedPluginOf(plugin, device), migrated: false, isBlock: mode === 'Block' };
}

/** The volume that an order is for. */
export function countedIn(
  calls: Pick<VolumeCalls, 'of'>,
  { mounts }: VolumeManagerState,
  order: Extract<VolumeOrder, { key: string }>,
): CountedVolume | null {
  if ('volume' in order) return countedVolume(calls, { uid: order.uid, volume: order.volume });
  if (order.type === 'device.unstage') return ofDevice(order);
  const its = Object.values(mounts).find(({ context }) => context.op === order.key)?.context;
  return its === undefined ? null : countedVolume(calls, its);
}
