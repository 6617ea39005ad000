import type { PersistentVolume } from '../protocol/storage-types.ts';

/** May only one pod of the cluster have it: is ReadWriteOncePod its only access mode (KEP-2485)? Never one that a pod has inline. */
export function isForOnePod(pv: PersistentVolume | null): boolean {
  const modes = pv?.spec?.accessModes ?? [];
  return modes.length === 1 && modes[0] === 'ReadWriteOncePod';
}
