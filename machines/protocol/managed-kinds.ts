/** Kinds with drivers of an older make, or of clouds, whose volumes are those of a CSI driver now (CSI migration). */
export const OLD_KINDS = [
  ...(['flexVolume', 'awsElasticBlockStore', 'azureDisk', 'azureFile'] as const),
  ...(['cinder', 'gcePersistentDisk', 'portworxVolume', 'vsphereVolume'] as const),
] as const;

/** Disks of storage networks, which the node signs in to. */
export const SCSI_KINDS = ['iscsi', 'fc'] as const;

/** Fields of `spec.volumes[]` whose volumes the main thread sets up: they have devices and drivers that all pods of the node share. */
export const MANAGED_KINDS = [
  ...(['persistentVolumeClaim', 'ephemeral', 'csi', 'nfs'] as const),
  ...OLD_KINDS,
  ...SCSI_KINDS,
  // Kubelet has no plugin for these any more: the volume manager says so in its words.
  ...(['cephfs', 'flocker', 'glusterfs', 'photonPersistentDisk', 'quobyte', 'rbd', 'scaleIO', 'storageos'] as const),
] as const;

/** One of {@link MANAGED_KINDS}. */
export type ManagedKind = (typeof MANAGED_KINDS)[number];

/** Whether the main thread sets up volumes with this field. */
export function isManagedKind(kind: string): kind is ManagedKind {
  return (MANAGED_KINDS as readonly string[]).includes(kind);
}

/** Whether that is one of {@link OLD_KINDS}. */
export function isOldKind(kind: string): boolean {
  return (OLD_KINDS as readonly string[]).includes(kind);
}

/** Whether that is one of {@link SCSI_KINDS}. */
export function isScsiKind(kind: string): boolean {
  return (SCSI_KINDS as readonly string[]).includes(kind);
}
