import type { PullPlace } from './pull-place.ts';
import type { Pod } from './api-types.ts';
import type { EffectCatalog, EffectType } from './effects.ts';
import type { PodGrants } from './grants.ts';
import type { Hold } from './hold.ts';
import type { PodHealth } from './resource-health.ts';
import type { PodMemory } from './memory.ts';
import type { ObservedPod } from './observed.ts';

/** Name of a source of pods, as in annotation `kubernetes.io/config.source`. */
export type PodSource = 'file' | 'http' | 'api';

/** Why a pod is told to terminate. */
export interface TerminationOrder {
  /** The node did not admit the pod. */
  rejected?: true;
  /** `Deleted`, `Removed` (from its static source), `Orphaned`, `Evicted`, `Terminated` (the node shuts down) ... */
  reason: string;
  message: string;
  /** Overrides `terminationGracePeriodSeconds`; may only shorten what is already running. */
  gracePeriodSeconds?: number;
  /** The node ends it for its own sake: its status tells so by the condition DisruptionTarget. */
  disruption?: true;
  /** Its source names it again: what is dead of it stays for its next life. Each order says so anew. */
  comesBack?: boolean;
}

/** What the supervisor and the shard tell a pod machine. `at`: ms since the epoch, the machine's only clock. */
export type PodMessage =
  | {
      type: 'pod.start';
      at: number;
      pod: Pod;
      source: PodSource | 'orphan';
      /** Null when the runtime holds nothing of it (or could not yet be asked). */
      observed: ObservedPod | null;
      memory: PodMemory | null;
      runtimeReady: boolean;
      networkReady: boolean;
      /** Why the network is not ready, in kubelet's words; absent when it is, and in logs from before it was told. */
      networkProblem?: string;
      /** The node does not admit the pod: it ends as Failed with this reason before anything is made of it. */
      rejection?: { reason: string; message: string };
      /** Absent where the node gives no CPUs and no memory away. */
      grants?: PodGrants;
      /** It is not judged yet: nothing of it is started before `pod.admit`. */
      hold?: Hold;
      /** The node's addresses by its object; absent: those of the settings. */
      nodeIPs?: string[];
      /** Absent where device health is not told (gate ResourceHealthStatus), and when the pod has no devices. */
      health?: PodHealth;
    }
  /** The node has judged a pod that waited; `rejection`: it ends as Failed. */
  | {
      type: 'pod.admit';
      at: number;
      rejection?: { reason: string; message: string };
      grants?: PodGrants;
      health?: PodHealth;
    }
  /** A device or claim of a container is in another state of health; all of the pod's. */
  | { type: 'pod.health'; at: number; health: PodHealth }
  /** Another pod was given CPUs, or gave them back: containers without CPUs of their own share what is left. */
  | { type: 'pod.grants'; at: number; grants: PodGrants }
  | { type: 'pod.update'; at: number; pod: Pod }
  | { type: 'pod.terminate'; at: number; order: TerminationOrder }
  /** An object changed that its volumes show (a configMap, a secret): set them up again beside what runs. */
  | { type: 'pod.refresh'; at: number }
  /** From PLEG: the runtime's view changed, or was asked for. */
  | { type: 'pod.observed'; at: number; observed: ObservedPod }
  /** From PLEG: the runtime fails to say what it holds of the pod. It goes on asking, and tells of it from time to time. */
  | { type: 'pod.unseen'; at: number; error: EffectFailed['error'] }
  /** Resync: look again at what is wanted and what is seen. `nodeIPs`: by its object the node has other addresses now; empty: it has none. */
  | { type: 'pod.sync'; at: number; nodeIPs?: string[] }
  /** The node's clock was set back by so many ms; `at` is the new time. */
  | { type: 'clock.steppedBack'; at: number; byMs: number }
  /** `networkProblem` as in `pod.start`. */
  | { type: 'runtime.state'; at: number; runtimeReady: boolean; networkReady: boolean; networkProblem?: string }
  /**
   * The `image.Pull` of this key has to wait in the node's queue of pulls, and stands here; null: its pull begins now. Of a pull
   * that begins at once nothing is told, nor when the queue moves.
   */
  | { type: 'pull.turn'; at: number; key: string; place: PullPlace | null }
  /** The earliest deadline that the machine has told (`nextDeadline`) has come. */
  | { type: 'timer'; at: number }
  | EffectDone
  | EffectFailed;

/** A finished effect. */
export type EffectDone = {
  [T in EffectType]: { type: 'effect.done'; at: number; effect: T; key: string; result: EffectCatalog[T]['result'] };
}[EffectType];

/** A failed effect. `code` is a gRPC status name (`Unavailable`, `NotFound`, `DeadlineExceeded` ...) or an errno name. */
export interface EffectFailed {
  type: 'effect.failed';
  at: number;
  effect: EffectType;
  key: string;
  error: { code: string; message: string };
}
