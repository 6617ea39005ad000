import type { Container, Pod } from '../protocol/api-types.ts';
import type { CriImageSpec, SandboxConfig } from '../protocol/cri-shapes.ts';
import type { ContainerGrant } from '../protocol/grants.ts';
import type { ImagePresent } from '../protocol/effects.ts';
import type { EffectDone, EffectFailed } from '../protocol/messages.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import type { VolumeTraits } from '../protocol/volume-traits.ts';
import type { BackOffEntry } from './back-off.ts';

/** Which list of the pod's spec a container comes from; a sidecar is an init container with restartPolicy Always. */
export type ContainerKind = 'init' | 'sidecar' | 'regular' | 'ephemeral';

/** Why a running container is to be stopped (kubelet's containerKillReason, in words). */
export type KillReason =
  | 'podTermination'
  | 'definitionChanged'
  | 'liveness'
  | 'startup'
  | 'postStartHook'
  | 'unknownState'
  | 'sandboxChanged'
  | 'resize'
  | 'restartAll';

/** An order to stop a container. */
export interface KillOrder {
  reason: KillReason;
  /** Text of the Killing event. */
  message: string;
  /** Whole grace period in seconds, preStop hook included. */
  graceSeconds: number;
  /** When the order was given, ms since the epoch. */
  since: number;
  /** True while containers that must stop earlier still run (sidecars, KEP-753). */
  waitTurn: boolean;
}

/** A container machine's own memory; plain JSON. */
export interface ContainerContext {
  name: string;
  kind: ContainerKind;
  /** Newest container id known under this name, '' before the first. */
  id: string;
  /** Restart count of that container (or of the one being made). */
  attempt: number;
  /** Key of the effect whose outcome the machine waits for, '' when none. */
  op: string;
  /** Number of effects asked for so far: makes keys unique. */
  seq: number;
  image: ImagePresent | null;
  subPaths: Record<string, string>;
  /** Why it does not run, as `state.waiting` says it. */
  waiting: { reason: string; message: string } | null;
  /** Crash-loop back-off; `hash` ties it to the container's definition. */
  backOff: (BackOffEntry & { hash: string }) | null;
  imageBackOff: (BackOffEntry & { error: string }) | null;
  kill: KillOrder | null;
  /** When the machine wants a `timer` event, ms since the epoch. */
  deadline: number | null;
  /** Pause before the next own look at a running container that is expected to end, ms; 0 = the observer does it. */
  lookMs: number;
  /** Id of the container whose postStart hook has ended well (or that has none). */
  postStartDone: string;
  /** Id of the container whose preStop hook has ended. */
  preStopDone: string;
  /** Key of the preStop hook that is not waited for any more: its container has ended, or its grace period is over. */
  lateHook?: string;
  /** StartContainer failed, and no look that began after that (`since`, ms since the epoch) has told what became of it; `message`: the error. */
  doubt?: { since: number; message: string } | null;
}

/** What of the pod a container machine may look at while it handles an event. */
export interface ContainerWorld {
  at: number;
  pod: Pod;
  container: Container;
  settings: NodeSettings;
  /** What its crash-loop back-off belongs to (`backOffKey`). */
  hash: string;
  /** '' until the sandbox is ready. */
  sandboxId: string;
  sandboxConfig: SandboxConfig | null;
  podIPs: string[];
  /** Null until the volumes are set up and the images of the container's image volumes are there. */
  volumePaths: Record<string, string> | null;
  volumeTraits?: VolumeTraits;
  imageVolumes?: Record<string, CriImageSpec>;
  /** CPUs and memory of the node that it runs on. */
  grant?: ContainerGrant;
  /** It has CPUs of its own, and so no quota. */
  withoutQuota?: true;
  /** The container before this one whose start, with its postStart hook, is not over. */
  awaitedStart?: string;
  /** Newest container under this name as observed. */
  observed: ObservedContainer | null;
  /** When the newest look at the whole pod began, ms since the epoch; 0 before the first. */
  lookedAt: number;
  /** Restart count for a container made now. */
  nextAttempt: number;
  /**
   * The newest container was stopped so that it starts again: when the one before it had ended, null when there was none.
   * Absent otherwise.
   */
  endedBefore?: number | null;
  /** Id of a container that an earlier agent made of this definition and that still is to be started, '' when there is none. */
  madeBefore: string;
  runtimeHandler: string;
  /** See `PodRuntime`. */
  runtimeClass?: string;
  /** Container id of `targetContainerName` of an ephemeral container, if any. */
  targetId: string;
  /** Name of that container when none was made yet. */
  missingTarget?: string;
}

/** Events of a container machine; all come from the pod machine that hosts it. */
export type ContainerEvent = { world: ContainerWorld } & (
  | { type: 'start' }
  /** Sandbox and volumes are ready, or have become so. */
  | { type: 'proceed' }
  | { type: 'kill'; order: KillOrder }
  /** All containers that had to stop earlier have stopped. */
  | { type: 'turn' }
  /** `world.observed` is news. */
  | { type: 'observed' }
  | { type: 'timer' }
  /** The container's definition changed (its hash did). */
  | { type: 'changed' }
  /** API objects that the pod names have changed: a start that failed for want of them need not wait out its pause. */
  | { type: 'refresh' }
  /** The pod's periodic resync. */
  | { type: 'sync' }
  | { type: 'done'; outcome: EffectDone }
  | { type: 'failed'; outcome: EffectFailed }
);

/** A container machine's context before anything is known. */
export function initialContainer(name: string, kind: ContainerKind): ContainerContext {
  return {
    name,
    kind,
    id: '',
    attempt: 0,
    op: '',
    seq: 0,
    image: null,
    subPaths: {},
    waiting: null,
    backOff: null,
    imageBackOff: null,
    kill: null,
    deadline: null,
    lookMs: 0,
    postStartDone: '',
    preStopDone: '',
  };
}
