import type { Pod } from '../protocol/api-types.ts';
import type { PodMessage, PodSource, TerminationOrder } from '../protocol/messages.ts';
import type { Hold } from '../protocol/hold.ts';
import type { PodConfigUpdate } from '../sources/pod-config.ts';
import type { ObservedPod } from '../protocol/observed.ts';
import type { AsideHarm } from './harm.ts';
import type { PodTable } from './pod-table.ts';
import type { Rejection } from './tracked-pod.ts';

/** The supervisor's memory; plain JSON. */
export interface SupervisorContext {
  shards: number;
  sourcesReady: boolean;
  pods: PodTable;
  /** Shards whose last worker died without a pod to blame, and when; ms since the epoch. */
  unexplained?: Readonly<Record<string, number>>;
  /** Changes of what is decided that are on (`protocol/behaviour.ts`); absent in logs from before there were any here. */
  behaviour?: readonly number[];
}

/** What reaches the supervisor. */
export type SupervisorMessage =
  /** `rejections`, `holds`: of the update's new pods, by UID. */
  | {
      type: 'config';
      at: number;
      update: PodConfigUpdate;
      rejections?: Record<string, Rejection>;
      holds?: Record<string, Hold>;
    }
  /** A pod that was not judged when it came is: as it is to run, or why it is not taken. */
  | { type: 'admitted'; at: number; pod: Pod; rejection?: Rejection }
  | { type: 'sourcesReady'; at: number }
  /** PLEG looked at a pod. */
  | { type: 'seen'; at: number; observed: ObservedPod }
  | { type: 'finished'; at: number; uid: string }
  /** A pod's actor could not be started (its machine threw on `pod.start`); time for the next try. */
  | { type: 'retryStart'; at: number; uid: string }
  /** A worker died; a new one stands in its place. `blame`: what is known of why. */
  | { type: 'shardReplaced'; at: number; shard: number; blame?: Blame }
  /** The time of a pod that was put aside has come; of another time than its own nothing follows. */
  | { type: 'tryAgain'; at: number; uid: string; until: number };

/** Why a worker died: `uid` = the pod that it was at, null when it was at none. */
export interface Blame {
  uid: string | null;
  problem: string;
}

/** What the supervisor has its host do. */
export type SupervisorOrder =
  /** Start (or take over) the pod's actor; the host adds what the cache and the memory hold. */
  | {
      type: 'start';
      uid: string;
      shard: number;
      pod: Pod;
      source: PodSource | 'orphan';
      rejection?: Rejection;
      hold?: Hold;
    }
  | { type: 'tell'; uid: string; shard: number; message: Unstamped<PodMessage> }
  /** The pod has no actor until then, since workers died on it; in the host's timer lies when it is tried again. */
  | { type: 'aside'; uid: string; shard: number; harm: AsideHarm }
  /** The pod is no longer tracked: its caches can go. */
  /** `remains`: its machine was told that it comes back, and so may have left what was dead of it in the runtime. */
  | { type: 'forget'; uid: string; remains?: true };

/** A message before the host stamps it with the time. */
export type Unstamped<M> = M extends unknown ? Omit<M, 'at'> : never;

/** An order to terminate, as a message. */
export function terminate(order: TerminationOrder): Unstamped<PodMessage> {
  return { type: 'pod.terminate', order };
}
