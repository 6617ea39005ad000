/** How many ended containers the node keeps (kubelet GCPolicy; flags `minimum-container-ttl-duration`, `maximum-dead-containers*`). */
export interface ContainerGcPolicy {
  /** Younger ones stay. */
  readonly minAgeMs: number;
  /** Of each container of each pod; negative: all. */
  readonly maxPerContainer: number;
  /** On the node; negative: all. */
  readonly maxContainers: number;
}

/**
 * What became of a pod. `lives`: it may still run something, or nobody knows yet. `ended`: its containers have stopped for good, and
 * its source still names it. `gone`: nothing of it is to stay (kubelet ShouldPodContentBeRemoved: evicted or deleted, and ended).
 */
export type Fate = 'lives' | 'ended' | 'gone';

/** A container that does not run. */
export interface DeadContainer {
  readonly id: string;
  /** Of its pod. */
  readonly uid: string;
  /** In its pod. */
  readonly name: string;
  /** Which of that name it was, from 0. */
  readonly attempt: number;
  /** Ms since the epoch. */
  readonly createdAt: number;
  /** The runtime does not know its state: it is stopped before it is removed. */
  readonly unknown: boolean;
  readonly fate: Fate;
  /** Its pod goes by it: the last of its name, or one whose end was not told yet. */
  readonly needed: boolean;
}

/** A sandbox as the runtime lists it. */
export interface ListedSandbox {
  readonly id: string;
  readonly uid: string;
  /** Ms since the epoch. */
  readonly createdAt: number;
  /** It is ready, or holds containers. */
  readonly active: boolean;
  readonly fate: Fate;
}

/** A folder of a pod's logs. */
export interface LogFolder {
  readonly name: string;
  readonly fate: Fate;
}

/** A link to a container's log where there is none. */
export interface DeadLink {
  readonly name: string;
  /** Its container has ended, or is not known: a log that is being rotated is missing for a moment. */
  readonly ended: boolean;
}

/** A container to be removed. */
export interface DoomedContainer {
  readonly id: string;
  readonly uid: string;
  readonly name: string;
  /** Before it is removed. */
  readonly stop: boolean;
}

/** The memory of the collector of containers; plain JSON. */
export interface ContainerGcContext {
  readonly policy: ContainerGcPolicy;
  /** What went wrong in the pass under way. */
  readonly problems: readonly string[];
  /** What went wrong in the last pass; null when nothing did. */
  readonly failure: string | null;
}

/**
 * What reaches the collector. `all`: the node runs short, and what has ended goes, whatever the limits are. `ready`: all sources of
 * pods have spoken.
 */
export type ContainerGcMessage =
  | { type: 'gc.start'; at: number; policy: ContainerGcPolicy }
  | { type: 'containers.listed'; at: number; all: boolean; ready: boolean; dead: readonly DeadContainer[] }
  | { type: 'sandboxes.listed'; at: number; all: boolean; sandboxes: readonly ListedSandbox[] }
  | { type: 'logs.listed'; at: number; ready: boolean; folders: readonly LogFolder[]; links: readonly DeadLink[] }
  /** What was ordered is done, or was tried: the next pass tries it again. */
  | { type: 'gc.removed'; at: number }
  /** Runtime or disk gave no answer; the pass goes on. */
  | { type: 'gc.failed'; at: number; problem: string }
  | { type: 'pass.ended'; at: number };

/** What the collector has its host do. The first three are answered by `gc.removed`. */
export type ContainerGcOrder =
  | { type: 'containers.Remove'; containers: readonly DoomedContainer[] }
  | { type: 'sandboxes.Remove'; sandboxes: readonly { id: string; uid: string }[] }
  | { type: 'logs.Remove'; folders: readonly string[]; links: readonly string[] }
  /** Event `ContainerGCFailed` of the node. */
  | { type: 'event.Record'; message: string };

/** Before anything happened: everything stays. */
export function initialContainerGc(): ContainerGcContext {
  return { policy: { minAgeMs: 0, maxPerContainer: -1, maxContainers: -1 }, problems: [], failure: null };
}
