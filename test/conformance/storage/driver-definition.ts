/** What the suite's specs of external drivers are told of ours (`--storage.testdriver`). */

/** Its name, which is in the names of the specs, too. */
export const DRIVER = 'disk.csi.example.com';

/** Its CSIDriver. */
export const CSI_DRIVER = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: DRIVER },
  spec: {
    ...{ attachRequired: true, podInfoOnMount: true, fsGroupPolicy: 'File' },
    volumeLifecycleModes: ['Persistent', 'Ephemeral'],
  },
};

/** The class of claims that name none, as a usual cluster has one: specs of StatefulSets with volumes ask for it. */
export const DEFAULT_CLASS = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: DRIVER,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
  allowVolumeExpansion: true,
};

/** The definition as the suite reads it: what the driver can do, and nothing that it cannot. */
export const DEFINITION = {
  DriverInfo: {
    Name: DRIVER,
    // The biggest file of specs that write some, where a volume has room for it.
    MaxFileSize: 100 << 20,
    SupportedSizeRange: { Min: '256Mi' },
    SupportedFsType: Object.fromEntries(['', 'ext3', 'ext4'].map((type) => [type, {}])),
    SupportedMountOption: { noatime: {} },
    Capabilities: {
      ...{ persistence: true, block: true, fsGroup: true, exec: true, multipods: true, multiplePVsSameID: true },
      ...{ controllerExpansion: true, nodeExpansion: true, offlineExpansion: true, onlineExpansion: true },
      ...{ singleNodeVolume: true, readWriteOncePod: true, capacity: true },
      ...{ pvcDataSource: true, capReadOnlyMany: true },
      ...{ RWX: false, topology: false, volumeLimits: false, snapshotDataSource: false },
    },
    StressTestOptions: { NumPods: 4, NumRestarts: 4 },
  },
  StorageClass: { FromName: true },
  InlineVolumes: [{ Attributes: {}, Shared: false, ReadOnly: false }],
};
