import type { Requirements } from './requirements.ts';

/**
 * What neither the runtime, the sources nor the API hold, and so must be restored after a restart:
 * back-off, deadlines, probe counts. Times are ms since the epoch.
 */
export interface PodMemory {
  /** `status.startTime`. */
  startedAt?: number;
  /** Why the pod is going: absent while it is syncing. */
  termination?: Termination;
  /** By container name. */
  containers: Record<string, ContainerMemory>;
  /** By `<container>/<probe kind>`. */
  probes: Record<string, ProbeMemory>;
  /** Termination messages that were read, by container id. */
  messages: Record<string, string>;
  /** A resize in place that is under way (KEP-1287). */
  resize?: ResizeMemory;
}

/** What of a resize must survive a restart. */
export interface ResizeMemory {
  /** Generation of the pod whose resources are being put in force: `observedGeneration` of PodResizeInProgress. */
  generation: number;
  /** When the condition came to its reason, ms since the epoch. */
  since: number;
  /** Why the last try failed, '' when none did. */
  error: string;
  /** Resources that containers have, by name, where those differ from what is allocated to them. */
  actuated: Record<string, Requirements>;
  /** What the whole pod has (`spec.resources`), where that differs from what is allocated to it. */
  podLevel?: Requirements;
}

/** One container's share of {@link PodMemory}. */
export interface ContainerMemory {
  /** Crash-loop back-off: current delay, when it was last applied, and the definition that it belongs to. */
  backOff?: { delayMs: number; since: number; hash: string };
  /** Image pull back-off with the last error. */
  imageBackOff?: { delayMs: number; since: number; error: string };
  /** Container id whose preStop hook has ended, so that a restart does not run it twice. */
  preStopDone?: string;
}

/** One probe's share of {@link PodMemory}. */
export interface ProbeMemory {
  containerId: string;
  result: 'success' | 'failure' | 'unknown';
  /** Runs in a row with the same outcome; 0 once they have decided the result. */
  run: number;
  outcome: 'success' | 'failure' | 'unknown';
  /** When the next run is due; only in logs before behaviour `steadyProbesAreQuiet`. */
  nextAt?: number;
}

/** Why and since when a pod terminates. Once set it is never taken back. */
export interface Termination {
  reason: string;
  message: string;
  since: number;
  graceSeconds: number;
  /** Its source gave it up: when it is terminated, nothing of it is kept. */
  deletedFromSource: boolean;
  /** Phase that the pod ends in when its containers do not decide it (`Failed` for evictions and deadlines). */
  phase: 'Failed' | null;
  /** The node ended it for its own sake: its status has the condition DisruptionTarget. */
  disruption?: true;
  /** The node did not admit it. */
  rejected?: true;
  /** Its source names it again: what is dead of it stays for its next life. */
  comesBack?: boolean;
}
