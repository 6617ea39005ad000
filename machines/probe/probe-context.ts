import type { Container, Pod, Probe } from '../protocol/api-types.ts';
import type { EffectDone, EffectFailed } from '../protocol/messages.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';

/** The three probes of a container. */
export type ProbeKind = 'liveness' | 'readiness' | 'startup';

/** Result of a probe as the rest of the agent sees it, after the thresholds. */
export type ProbeResult = 'success' | 'failure' | 'unknown';

/** Probes of a container that end because its pod does. */
export type StoppedProbes = 'none' | 'livenessAndStartup' | 'all';

/** A probe machine's memory; plain JSON. */
export interface ProbeContext {
  container: string;
  kind: ProbeKind;
  /** The container that the counts belong to, '' before the first. */
  containerId: string;
  /** After the thresholds. */
  result: ProbeResult;
  /** Outcome of the last runs, and how many in a row. */
  outcome: ProbeResult;
  run: number;
  op: string;
  seq: number;
  /** Tries of the run under way: errors (not failures) are tried three times (maxProbeRetries). */
  tries: number;
  /** When the run under way (or the last one) began; the period counts from here. */
  askedAt: number;
  /** When the next run is due, ms since the epoch. */
  deadline: number | null;
  /**
   * Failures of runs that began before this count for nothing, ms since the epoch; null until the first run is due. Absent in logs
   * before behaviour `firstRunsOfProbes`, and with readiness probes.
   */
  countsFrom?: number | null;
}

/** What a probe machine may look at. */
export interface ProbeWorld {
  at: number;
  pod: Pod;
  container: Container;
  probe: Probe;
  podIP: string;
  /** Id of the running container, '' when none runs. */
  runningId: string;
  startedAt: number;
  /** Startup is over (no startup probe, or it succeeded). */
  started: boolean;
  /** What the pod's end has stopped. */
  stopped: StoppedProbes;
  settings: Pick<NodeSettings, 'behaviour' | 'restartChangesStatus'>;
  /** The container ran before this agent took it over: its last known results hold. */
  adopted: boolean;
}

/** Events of a probe machine. */
export type ProbeEvent = { world: ProbeWorld } & (
  | { type: 'look' }
  | { type: 'timer' }
  /** Kubelet would sync the pod now: because of what a probe of it said, or for another reason. */
  | { type: 'sync'; byProbe: boolean }
  | { type: 'done'; outcome: EffectDone }
  | { type: 'failed'; outcome: EffectFailed }
);

/** Result before the first run (kubelet `initialValue`): readiness fails, liveness holds, startup is open. */
export function initialResult(kind: ProbeKind): ProbeResult {
  return kind === 'liveness' ? 'success' : kind === 'readiness' ? 'failure' : 'unknown';
}

/** A probe machine's context before its container runs. */
export function initialProbe(container: string, kind: ProbeKind): ProbeContext {
  return {
    container,
    kind,
    containerId: '',
    result: initialResult(kind),
    outcome: 'unknown',
    run: 0,
    op: '',
    seq: 0,
    tries: 0,
    askedAt: 0,
    deadline: null,
  };
}
