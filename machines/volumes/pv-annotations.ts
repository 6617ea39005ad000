import type { PersistentVolume } from '../protocol/storage-types.ts';

const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options';
const GROUP = 'pv.beta.kubernetes.io/gid';

/** Options with which a PV is to be mounted: those of its annotation, where it has that, before those of its spec (kubelet: MountOptionFromSpec). */
export function mountOptionsOf(pv: PersistentVolume | null): string[] {
  const annotated = pv?.metadata?.annotations?.[MOUNT_OPTIONS];
  const options = annotated === undefined ? (pv?.spec?.mountOptions ?? []) : annotated.split(',');
  return options.filter((option) => option !== '');
}

/** The group to which what is in a PV belongs, as it is annotated; '' without. */
export function groupOf(pv: PersistentVolume | null): string {
  return pv?.metadata?.annotations?.[GROUP] ?? '';
}
