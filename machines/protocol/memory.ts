/**
 * What neither the runtime, the sources nor the API hold, and so must be restored after a restart:
 * back-off, deadlines, probe counts. Times are ms since the epoch.
 */
export interface PodMemory {
  /** `status.startTime`. */
  startedAt?: number;
  /** Why the pod is going: absent while it is syncing. */
  termination?: { reason: string; message: string; since: number; graceSeconds: number; deletedFromSource: boolean };
  /** By container name. */
  containers: Record<string, ContainerMemory>;
  /** By `<container>/<probe kind>`. */
  probes: Record<string, ProbeMemory>;
}

/** One container's share of {@link PodMemory}. */
export interface ContainerMemory {
  /** Crash-loop back-off: current delay, and when it was last applied. */
  backOff?: { delayMs: number; since: number };
  /** Image pull back-off. */
  imageBackOff?: { delayMs: number; since: number; reason: string; message: string };
  /** Set when a postStart hook of this container id has succeeded or when there is none. */
  postStartDone?: string;
  /** Container id whose preStop hook has ended, so that a restart does not run it twice. */
  preStopDone?: string;
  /** Termination messages that were read, by container id (newest two). */
  terminationMessages?: Record<string, string>;
}

/** One probe's share of {@link PodMemory}. */
export interface ProbeMemory {
  containerId: string;
  result: 'success' | 'failure' | 'unknown';
  /** Runs in a row with the same outcome. */
  run: number;
  outcome: 'success' | 'failure' | 'unknown';
  /** When the next run is due. */
  nextAt: number;
}
