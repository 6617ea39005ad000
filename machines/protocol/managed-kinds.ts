/** Fields of `spec.volumes[]` whose volumes the main thread sets up: they have devices and drivers that all pods of the node share. */
export const MANAGED_KINDS = [
  ...(['persistentVolumeClaim', 'ephemeral', 'csi', 'nfs', 'iscsi', 'fc', 'flexVolume'] as const),
  // Those that kubelet has no plugin for any more, or only by way of CSI.
  ...(['awsElasticBlockStore', 'azureDisk', 'azureFile', 'cephfs', 'cinder', 'flocker', 'gcePersistentDisk'] as const),
  ...(['gitRepo', 'glusterfs', 'photonPersistentDisk', 'portworxVolume', 'quobyte', 'rbd', 'scaleIO'] as const),
  ...(['storageos', 'vsphereVolume'] as const),
] as const;

/** One of {@link MANAGED_KINDS}. */
export type ManagedKind = (typeof MANAGED_KINDS)[number];

/** Whether the main thread sets up volumes with this field. */
export function isManagedKind(kind: string): kind is ManagedKind {
  return (MANAGED_KINDS as readonly string[]).includes(kind);
}
