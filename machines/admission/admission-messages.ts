import type { Affinities } from '../resource-managers/admit-resources.ts';
import type { HeldHints } from '../resource-managers/topology/hints.ts';
import type { Node } from '../node-object/node-types.ts';
import type { ResizeMemory } from '../protocol/memory.ts';
import type { Pod, PodStatus } from '../protocol/api-types.ts';
import type { AllocationEntries } from '../resize/checkpoint.ts';
import type { ResizeOperation } from '../resize/resize-operations.ts';
import type { Counts, Managed } from './resource-manager.ts';
import type { RetryTrigger } from './admission-state.ts';
import type { Shortage } from './rejection.ts';

/**
 * Why managers of the node would not take pods as they wish to be, by UID: a resize waits for that, too (a shutdown, a disk that is full).
 * Absent: nobody is refused.
 */
export type Refusals = Readonly<Record<string, string>>;

/** Where the devices that pods have let them be, by UID: what of a resize is given alone is given there. Absent: anywhere, and in older logs. */
export type HeldDevices = Readonly<Record<string, HeldHints>>;

/** What admission is told. Pods are their claims; `at`: ms since the epoch; `ready`: all sources of pods have spoken. */
export type AdmissionMessage =
  /** What an earlier agent left in kubelet's two checkpoints. */
  | { type: 'checkpoint.found'; at: number; allocated: AllocationEntries; actuated: AllocationEntries }
  /** What an earlier agent, or a kubelet, gave away, by their checkpoints. */
  | { type: 'managed.found'; at: number; managed: Managed }
  /** The own Node, as far as pods are judged by it, is another one. */
  | { type: 'node.told'; at: number; node: Node | null }
  /**
   * May this pod, with what was set aside for it before, run here? `node`: as the API server has it this moment, instead of the one that
   * was told; `floor`: amounts of extended resources that pods have been given, this one among them: the node has no less;
   * `roomMade`: pods have gone for it, so resources are not asked for any more; `affinities`: where its containers are that have devices,
   * by their names.
   */
  | {
      type: 'pod.asks';
      at: number;
      pod: Pod;
      node?: Node;
      floor?: Record<string, number>;
      roomMade?: true;
      affinities?: Affinities;
    }
  /** A pod that was taken, or that nobody has to judge any more, as its source wants it. */
  | { type: 'pod.comes'; at: number; pod: Pod }
  /** All pods of an update have come. */
  | { type: 'pods.came'; at: number; ready: boolean; refusals?: Refusals; held?: HeldDevices }
  /** A newer version of a pod. */
  | { type: 'pod.changed'; at: number; pod: Pod; ready: boolean; refusals?: Refusals; held?: HeldDevices }
  /** A pod's actor told how it stands. `ended`: it has, or its phase is final. */
  | {
      type: 'pod.reported';
      at: number;
      uid: string;
      status: PodStatus;
      /** `status.observedGeneration`. */
      generation: number;
      resize?: ResizeMemory;
      /** Its init containers have ended well: told only when that matters to a manager. */
      initialized?: true;
      ended: boolean;
      /** Of one that ended: its containers may run still; absent in older journals. */
      runs?: true;
    }
  /** Its source gave the pod up; it may still be stopping. `runs`: until it is gone it keeps what it has alone; absent in older journals. */
  | { type: 'pod.removed'; at: number; uid: string; runs?: true }
  | { type: 'pod.gone'; at: number; uid: string }
  /** Waiting resizes are to be looked at. */
  | { type: 'resizes.due'; at: number; trigger: RetryTrigger; ready: boolean; refusals?: Refusals; held?: HeldDevices }
  /** Follows `resize.preempts`: the pods that were to end for this one's resize have, or did not in time. */
  | { type: 'room.made'; at: number; uid: string; ready: boolean; refusals?: Refusals; held?: HeldDevices }
  /**
   * All sources have spoken once. `held`: pods that are not judged yet. `left`: pods that no source names, and of which the runtime may hold something: what
   * they have alone is theirs until they are gone. Absent in older journals.
   */
  | { type: 'sources.spoke'; at: number; held?: readonly string[]; left?: readonly string[] };

/** A pod that gives way to a critical one. */
export interface Victim {
  uid: string;
  namespace: string;
  name: string;
  /** `terminationGracePeriodSeconds`. */
  graceSeconds: number;
}

/** Which of kubelet's checkpoints. */
export type Checkpoint = 'allocated' | 'actuated';

/** What follows, to be carried out in this order. */
export type AdmissionOrder =
  /** The node takes the pod, which is counted from now on. */
  | { type: 'pod.take'; uid: string }
  /**
   * It does not. `again`: only the node's labels are in the way, so ask with a fresh node. `preempt`: what is missing of a critical
   * pod where nothing but resources is in the way.
   */
  | { type: 'pod.refuse'; uid: string; reason: string; message: string; again: boolean; preempt?: Shortage[] }
  /** Managers are asked about a resize, which metrics count as they do a pod that comes. */
  | { type: 'managers.asked' }
  /** What metrics count of how managers gave the pod its part, or did not. */
  | { type: 'managers.counted'; counts: Counts }
  /** Follows `pod.refuse`: these are to end for it; then it asks again, with `roomMade`. `signal`: the resource that is short, first of several. */
  | { type: 'pods.preempt'; uid: string; signal: string; victims: Victim[] }
  /** What is set aside for the pod, or what is told of its resize, has changed: its actor must hear of it. */
  | { type: 'pod.runs'; uid: string }
  /** `now`: nothing else may be done before it is on disk. */
  | { type: 'checkpoint.write'; which: Checkpoint; when: 'now' | 'soon' }
  /** A newer version asks for other resources. */
  | { type: 'resize.asked'; uid: string; operations: ResizeOperation[] }
  /** A resize that waited is granted. */
  | { type: 'resize.accepted'; uid: string; trigger: RetryTrigger }
  /** These are to end so that the resize of a critical pod fits; then send `room.made`. `signal`: the resource that is short, first of several. */
  | { type: 'resize.preempts'; uid: string; signal: string; victims: Victim[] }
  /** The node can never give it. */
  | { type: 'resize.infeasible'; uid: string; detail: string }
  /** A resize has come to its end, or failed for the first time. `ms`: since it was granted. */
  | { type: 'resize.took'; uid: string; success: boolean; ms: number }
  /** An event of the pod. */
  | {
      type: 'event.record';
      uid: string;
      reason: 'ResizeDeferred' | 'ResizeInfeasible' | 'FailedNodeDeclaredFeaturesCheck';
      message: string;
    }
  /** Send `resizes.due` once the message at hand has been dealt with everywhere. */
  | { type: 'retry.soon'; trigger: RetryTrigger }
  /** Send `resizes.due` after so many ms, and not before. */
  | { type: 'retry.in'; ms: number };
