import type { VolumeProblem } from './mount-context.ts';
import type { DeviceId } from './volume-orders.ts';

/** A device of the node that pods share, as the volume manager knows it; plain JSON. Times in ms since the epoch. */
export interface DeviceContext {
  device: DeviceId;
  plugin: string;
  /** Of the volume that it is of: the PV's. */
  name: string;
  mode: 'Filesystem' | 'Block';
  attachable: boolean;
  stages: boolean;
  devicePath: string;
  stagedPath: string;
  /** Key of the call under way, '' when there is none. */
  op: string;
  /** A call may have staged it, though none has said so. */
  mayBeThere: boolean;
  failures: number;
  problem: VolumeProblem | null;
  retryAt: number | null;
  since: number;
  /** How large it is, bytes, as the last expansion said; 0 before. */
  bytes: number;
  /** SELinux label with which it is mounted as a whole, as long as it is staged; absent where that is of no matter, '' = none. */
  label?: string;
}

/** One of those that want it: calls are made for it. */
export interface DeviceUser {
  uid: string;
  volume: string;
}

/** What happens to it. `key`: for the call that follows, if one does. */
export type DeviceEvent =
  | { type: 'begin'; at: number; key: string; by: DeviceUser }
  /** It could not be given back, and a pod wants it again. */
  | { type: 'again'; at: number; key: string; by: DeviceUser }
  | { type: 'found'; at: number; stagedPath: string }
  | { type: 'attached'; at: number; key: string; by: DeviceUser; devicePath: string }
  | { type: 'staged'; at: number; key: string; stagedPath: string }
  | { type: 'unstaged'; at: number }
  | {
      type: 'expand';
      at: number;
      key: string;
      by: DeviceUser;
      publishedPath: string;
      oldBytes: number;
      newBytes: number;
    }
  | { type: 'expanded'; at: number; key: string; bytes: number }
  /** It is not to be made larger now: the pod by whose path that is done has it no more. */
  | { type: 'callOff'; at: number }
  | { type: 'failed'; at: number; key: string; problem: VolumeProblem; retryAt: number; done: boolean }
  /** No volume of a pod is on it any more. */
  | { type: 'leave'; at: number; key: string };

/** What is known of a device at first. */
export type DeviceBirth = Pick<
  DeviceContext,
  'device' | 'plugin' | 'name' | 'mode' | 'attachable' | 'stages' | 'label'
> & { at: number };

/** A device before anything happened. */
export function initialDevice({ at, ...birth }: DeviceBirth): DeviceContext {
  return {
    ...birth,
    ...{ devicePath: '', stagedPath: '', op: '', mayBeThere: false, failures: 0, problem: null, retryAt: null },
    ...{ since: at, bytes: 0 },
  };
}
