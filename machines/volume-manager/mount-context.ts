import type { DeviceId, VolumeOrder } from './volume-orders.ts';

/** What was found out of a volume: who serves it, and how. */
export interface KnownVolume {
  /** As kubelet names it, e.g. `kubernetes.io/local-volume`. */
  plugin: string;
  /** Name of the PV, or of the volume in the pod when that has it inline. */
  name: string;
  mode: 'Filesystem' | 'Block';
  /** A block volume of which is told as of one (kubelet: MapVolume); absent in what was looked up by older agents. */
  mapped?: true;
  /** The device that pods of the node share; '' when there is none, `?` when that could not be told from what lies on disk. */
  device: DeviceId | '' | '?';
  attachable: boolean;
  /** Its device has a step of its own before pods get it. */
  stages: boolean;
  /**
   * A device that could not be given back is staged again for it, whether it still is staged or not (kubelet: MarkDeviceAsUncertain before
   * UnmountDevice). Absent in what was looked up by older agents: these went on giving it back first.
   */
  stagesAnew?: true;
  /** Only one pod of the cluster may have it (ReadWriteOncePod alone). */
  alone: boolean;
  /** Whether another pod has it is looked at before each try to publish it, not only before the first. Absent in older journals. */
  aloneAtEachTry?: true;
  /** Where SELinux is on and its plugin can mount with one label for all files. Absent in older journals. */
  seLinux?: VolumeLabel;
  /** How large it is to be, and was last, bytes; both 0 when its size does not matter. */
  wantedBytes: number;
  knownBytes: number;
  /** How large it is on this node is known by this node alone, whatever others make of the claim. Absent in older journals. */
  growsHere?: true;
}

/** The SELinux label of a pod's volume (KEP-1710). '' = none. */
export interface VolumeLabel {
  /** With which it is mounted. */
  mount: string;
  /** With which it would be if volumes of all access modes were; what metrics tell. */
  wanted: string;
  /** Two pods of this node with different ones are not to have it at the same time; else that is only counted. */
  enforced: boolean;
}

/** A failure, in kubelet's words. */
export interface VolumeProblem {
  code: string;
  text: string;
}

/** A volume of a pod as the volume manager knows it; plain JSON. Times in ms since the epoch. */
export interface MountContext {
  uid: string;
  /** `namespace/name` of the pod, '' when only its folder was seen. */
  pod: string;
  /** As in `spec.volumes`, '' when only its folder was seen. */
  volume: string;
  known: KnownVolume | null;
  path: string;
  /** Key of the call under way, '' when there is none. */
  op: string;
  /** A call may have put it there, though none has said so. */
  mayBeThere: boolean;
  /** Failures in a row. */
  failures: number;
  problem: VolumeProblem | null;
  /** When the next try is due; null when none is. */
  retryAt: number | null;
  /** Since when it is in its state. */
  since: number;
  /** Since when its pod's worker waits for it; null when it does not. */
  askedAt: number | null;
  /** Another volume of the pod is the same one, put there and taken away with it. */
  shared: boolean;
  /** It was asked for while it was being taken down. */
  again: boolean;
}

/** What happens to it. `key`: for the call that follows, if one does. */
export type MountEvent =
  /** It is time to go on. */
  | { type: 'begin'; at: number; key: string; order?: Partial<Extract<VolumeOrder, { type: 'volume.publish' }>> }
  | { type: 'found'; at: number; known: KnownVolume; path: string }
  | { type: 'resolved'; at: number; known: KnownVolume }
  | { type: 'published'; at: number; key: string; path: string }
  /** Another volume of the pod is the same one, and is there. */
  | { type: 'shared'; at: number; path: string }
  | { type: 'unpublished'; at: number }
  | { type: 'failed'; at: number; key: string; problem: VolumeProblem; retryAt: number; done: boolean }
  /** It was tried before, to no avail, by what stands in the way. */
  | { type: 'hindered'; at: number; problem: VolumeProblem; retryAt: number }
  /** Its pod does not want it any more. */
  | { type: 'leave'; at: number; key: string };

/** A volume of which a pod's worker asks, or that lies in a pod's folder. */
export type MountBirth = Pick<MountContext, 'uid' | 'pod' | 'volume'> & { at: number };

/** A volume of a pod before anything happened. */
export function initialMount({ uid, pod, volume, at }: MountBirth): MountContext {
  return {
    ...{ uid, pod, volume, known: null, path: '', op: '', mayBeThere: false, failures: 0, problem: null },
    ...{ retryAt: null, since: at, askedAt: null, shared: false, again: false },
  };
}
