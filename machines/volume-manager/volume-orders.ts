/** A device of the node: `PLUGIN/NAME`, kubelet's unique volume name, e.g. `kubernetes.io/csi/ebs.csi.aws.com^vol-1`. */
export type DeviceId = string & { readonly device?: never };

/** What the volume manager wants done. `key`: of the call, with which its outcome comes back. */
export type VolumeOrder =
  /** Look up claim, volume and plugin. */
  | { type: 'volume.resolve'; key: string; uid: string; volume: string }
  /** Have it where containers find it. `again`: it is there, and is brought up to date. */
  | {
      type: 'volume.publish';
      key: string;
      uid: string;
      volume: string;
      devicePath: string;
      stagedPath: string;
      again: boolean;
    }
  | {
      type: 'volume.unpublish';
      key: string;
      uid: string;
      plugin: string;
      name: string;
      mode: 'Filesystem' | 'Block';
    }
  /** Wait for the attachment; `uid` and `volume`: of one that wants the device. */
  | { type: 'device.attach'; key: string; device: DeviceId; uid: string; volume: string }
  | { type: 'device.stage'; key: string; device: DeviceId; uid: string; volume: string; devicePath: string }
  | {
      type: 'device.unstage';
      key: string;
      device: DeviceId;
      plugin: string;
      name: string;
      mode: 'Filesystem' | 'Block';
      stagedPath: string;
    }
  | {
      type: 'device.expand';
      key: string;
      device: DeviceId;
      uid: string;
      volume: string;
      devicePath: string;
      stagedPath: string;
      publishedPath: string;
      oldBytes: number;
      newBytes: number;
    }
  /** Nobody wants the outcome of this call any more. */
  | { type: 'call.giveUp'; key: string }
  /** For the pod's worker: it is there. */
  | { type: 'worker.mounted'; uid: string; volume: string; path: string }
  /** For the pod's worker: it could not be put there, or takes too long. */
  | { type: 'worker.failed'; uid: string; volume: string; code: string; text: string }
  /** For the pod's worker: none of the pod's volumes is there any more; or why one of them still is. */
  | { type: 'worker.left'; uid: string; problem: { code: string; text: string } | null }
  /** To be counted: a volume that pods of the node get with a label, or one that a pod wants with another than it has. */
  | { type: 'label.counted'; uid: string; volume: string; what: 'admitted' | 'mismatch' }
  /** What the node's status says of volumes in use has changed. */
  | { type: 'node.tell' };
