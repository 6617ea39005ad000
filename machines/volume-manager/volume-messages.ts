import type { KnownVolume } from './mount-context.ts';
import type { DeviceId } from './volume-orders.ts';

/** A volume that lies in a pod's folder. */
export interface FoundVolume {
  plugin: string;
  name: string;
  mode: 'Filesystem' | 'Block';
  path: string;
  /** `?`: it cannot be told. */
  device: DeviceId | '' | '?';
  attachable: boolean;
}

/** A device that is staged on this node. */
export interface FoundDevice {
  device: DeviceId;
  plugin: string;
  name: string;
  mode: 'Filesystem' | 'Block';
  stagedPath: string;
  attachable: boolean;
  /** SELinux label with which it is mounted as a whole; absent: none, or nobody knows. */
  label?: string;
}

/** What the volume manager is told. `at`: ms since the epoch. */
export type VolumeMessage =
  /** The agent begins: all that earlier ones left on this node. */
  | { type: 'node.found'; at: number; pods: { uid: string; volumes: FoundVolume[] }[]; devices: FoundDevice[] }
  /** A pod's worker wants a volume of it, and waits. */
  | { type: 'volume.wanted'; at: number; uid: string; pod: string; volume: string }
  /** A pod's worker wants none of its volumes any more, and waits; `found`: all that lies in its folder. */
  | { type: 'pod.left'; at: number; uid: string; found: FoundVolume[] }
  | { type: 'volume.resolved'; at: number; key: string; known: KnownVolume }
  | { type: 'volume.published'; at: number; key: string; path: string }
  | { type: 'volume.unpublished'; at: number; key: string }
  /** `unattachable`: nobody attaches it any more, as its driver has it now. */
  | { type: 'device.attached'; at: number; key: string; devicePath: string; unattachable?: true }
  | { type: 'device.staged'; at: number; key: string; stagedPath: string }
  | { type: 'device.unstaged'; at: number; key: string }
  | { type: 'device.expanded'; at: number; key: string; bytes: number }
  /** A call has failed; `done`: it has left nothing behind, and is not under way. */
  | { type: 'call.failed'; at: number; key: string; code: string; text: string; done: boolean }
  /** A volume has to be published again (a token in it runs out). */
  | { type: 'volume.stale'; at: number; uid: string; volume: string }
  /** The claim or the volume behind it has grown. */
  | { type: 'volume.grown'; at: number; uid: string; volume: string; wantedBytes: number; knownBytes: number }
  /** A volume of the pod could not be looked up: its worker gives up its wait for all others, too. What is under way for them goes on. */
  | { type: 'wait.over'; at: number; uid: string }
  /** The node's object names these devices as in use and as attached: who waits for its word looks at once. */
  | { type: 'node.told'; at: number; devices: DeviceId[] }
  /** A deadline has come. */
  | { type: 'timer'; at: number };
