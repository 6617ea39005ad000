import type { Pod } from '../protocol/api-types.ts';
import type { PodSource } from '../protocol/messages.ts';
import type { Hold } from '../protocol/hold.ts';
import type { Harm } from './harm.ts';

/** One pod as the supervisor tracks it (kubelet's pod worker, without its work). */
export interface TrackedPod {
  uid: string;
  /** `namespace/name`: two static pods of one full name never run at once. */
  fullName: string;
  pod: Pod;
  source: PodSource | 'orphan';
  shard: number;
  /**
   * `waiting`: a static pod, for its predecessor of the same name; `started`: its actor lives; `aside`: it has none for a while,
   * since it ended workers, and what runs of it goes on.
   */
  phase: 'waiting' | 'started' | 'aside';
  /** Its source gave it up. */
  terminating: boolean;
  /** The node does not admit it: its actor only tells so. */
  rejection?: Rejection;
  /** The node has not judged it yet: its actor starts nothing. */
  hold?: Hold;
  /** It came back under the same UID while it was still terminating: start it anew afterwards. */
  comeback: Pod | null;
  /** Of an orphan: where it comes back from. Until it does it is an orphan, of whose end its source hears nothing. */
  comebackSource?: PodSource;
  /** The node does not admit its next life. */
  comebackRejection?: Rejection;
  /** Its machine was told that it comes back: it may leave what is dead of it in the runtime. */
  remains?: true;
  /** Workers died on it. */
  harm?: Harm;
}

/** Why a pod is not admitted: reason and message of its status and event. */
export interface Rejection {
  reason: string;
  message: string;
}
