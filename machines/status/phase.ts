import type { Container, ContainerStatus, Pod } from '../protocol/api-types.ts';
import { isStaticPod } from '../qos/critical-pod.ts';
import { isSidecar } from '../qos/pod-resources.ts';
import { RESTARTING_ALL } from './restart-all.ts';
import { restartsAfterExit } from './restart-rule.ts';

/** `status.phase` (`Unknown` is never set by an agent). */
export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

/** A phase that a pod never leaves. */
export function isTerminalPhase(phase: string | undefined): phase is 'Succeeded' | 'Failed' {
  return phase === 'Succeeded' || phase === 'Failed';
}

interface Counts {
  pendingInit: number;
  failedForGood: boolean;
  pendingSidecars: number;
  unknown: number;
  running: number;
  waiting: number;
  stopped: number;
  /** Stopped ones that are not started again. */
  ended: number;
  succeeded: number;
}

/**
 * The phase that follows from the containers (the kubelet's getPhase). `initialized`: a regular container of the
 * present sandbox has run, so that a sidecar's restart does not make the pod Pending again. `restartsAll`: gate
 * RestartAllContainersOnContainerExits.
 */
export function podPhase(
  pod: Pod,
  statuses: readonly ContainerStatus[],
  options: { podIsTerminal: boolean; initialized: boolean; restartsAll?: boolean },
): Phase {
  const counts = count(pod, statuses, options.restartsAll ?? false);
  const { unknown, running, stopped, ended, succeeded } = counts;
  if (counts.failedForGood) return 'Failed';
  if (counts.pendingInit > 0 || (counts.pendingSidecars > 0 && !options.initialized)) return 'Pending';
  if (counts.waiting > 0 || unknown > 0) return 'Pending';
  if (running > 0) return 'Running';
  if (stopped === 0) return 'Pending';
  const verdict = stopped === succeeded ? 'Succeeded' : 'Failed';
  if (options.podIsTerminal && !isStaticPod(pod)) return verdict;
  return stopped === ended ? verdict : 'Running';
}

function count(pod: Pod, statuses: readonly ContainerStatus[], restartsAll: boolean): Counts {
  const restarts: Restarts = (container, { exitCode, reason }) =>
    restartsAfterExit(container, pod, exitCode, restartsAll) || (restartsAll && reason === RESTARTING_ALL);
  const counts: Counts = {
    pendingInit: 0,
    failedForGood: false,
    pendingSidecars: 0,
    unknown: 0,
    running: 0,
    waiting: 0,
    stopped: 0,
    ended: 0,
    succeeded: 0,
  };
  for (const container of pod.spec?.initContainers ?? []) {
    const status = statuses.find((s) => s.name === container.name);
    if (isSidecar(container)) countSidecar(counts, status);
    else countInit(counts, restarts, container, status);
  }
  for (const container of pod.spec?.containers ?? []) {
    countRegular(
      counts,
      restarts,
      container,
      statuses.find((s) => s.name === container.name),
    );
  }
  return counts;
}

interface End {
  exitCode: number;
  reason?: string;
}

/** Is the container started again after this end? */
type Restarts = (container: Container, end: End) => boolean;

/** The end of the container: its state, or the last one when it waits to be started again. */
function endOf(status: ContainerStatus | undefined): End | undefined {
  if (status?.state?.running) return undefined;
  return status?.state?.terminated ?? (status?.state?.waiting ? status.lastState?.terminated : undefined);
}

function countInit(
  counts: Counts,
  restarts: Restarts,
  container: Container,
  status: ContainerStatus | undefined,
): void {
  const end = endOf(status);
  if (end === undefined) counts.pendingInit++;
  else if (end.exitCode !== 0 && !restarts(container, end)) counts.failedForGood = true;
}

function countSidecar(counts: Counts, status: ContainerStatus | undefined): void {
  if (status === undefined) counts.unknown++;
  else if (status.state?.running) {
    counts.running++;
    if (status.started !== true) counts.pendingSidecars++;
  } else if (endOf(status) === undefined) {
    counts.pendingSidecars++;
    if (status.state?.waiting) counts.waiting++;
    else counts.unknown++;
  }
}

function countRegular(
  counts: Counts,
  restarts: Restarts,
  container: Container,
  status: ContainerStatus | undefined,
): void {
  const end = endOf(status);
  if (status?.state?.running) counts.running++;
  else if (end !== undefined) {
    counts.stopped++;
    if (!restarts(container, end)) counts.ended++;
    if (status?.state?.terminated?.exitCode === 0) counts.succeeded++;
  } else if (status?.state?.waiting) counts.waiting++;
  else counts.unknown++;
}
