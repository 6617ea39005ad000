import type { Container, ContainerStatus, Pod, PodStatus } from '../protocol/api-types.ts';
import { isSidecar } from '../qos/pod-resources.ts';
import { ALL_RESTARTING } from './own-conditions.ts';
import { isTerminalPhase } from './phase.ts';
import { restartsAfterExit } from './restart-rule.ts';

/** A status that takes nothing back, and the containers whose new state was not believed. */
export interface GuardedStatus {
  status: PodStatus;
  /** Names of containers that ended for good and were reported as not ended. */
  refused: string[];
}

/**
 * Terminal states are never left (kubelet checkContainerStateTransition, the API server's validation of pod status):
 * a container that ended and is not started again by any rule keeps its end, a terminal phase stays with its reason.
 */
export function guardTerminal(pod: Pod, known: PodStatus, next: PodStatus): GuardedStatus {
  const refused: string[] = [];
  const status: PodStatus = { ...next };
  if (isTerminalPhase(known.phase) && status.phase !== known.phase) {
    status.phase = known.phase;
    copyOrDrop(status, known, 'reason');
    copyOrDrop(status, known, 'message');
  }
  if ((pod.spec?.restartPolicy ?? 'Always') === 'Always') return { status, refused };
  // All of its containers may be restarted, whatever their policies (told of with its gate on only).
  if (next.conditions?.some(({ type }) => type === ALL_RESTARTING)) return { status, refused };
  const regular = keepEnds(pod, pod.spec?.containers, known.containerStatuses, next.containerStatuses, refused);
  if (regular) status.containerStatuses = regular;
  const init = keepEnds(
    pod,
    (pod.spec?.initContainers ?? []).filter((container) => !isSidecar(container)),
    known.initContainerStatuses,
    next.initContainerStatuses,
    refused,
  );
  if (init) status.initContainerStatuses = init;
  return { status, refused };
}

function keepEnds(
  pod: Pod,
  specs: readonly Container[] | undefined,
  known: readonly ContainerStatus[] | undefined,
  next: readonly ContainerStatus[] | undefined,
  refused: string[],
): ContainerStatus[] | undefined {
  return next?.map((status) => {
    const old = known?.find(({ name }) => name === status.name);
    const end = old?.state?.terminated;
    const spec = specs?.find(({ name }) => name === status.name);
    if (old === undefined || !end || status.state?.terminated || !spec) return status;
    if (restartsAfterExit(spec, pod, end.exitCode)) return status;
    refused.push(status.name);
    return old;
  });
}

function copyOrDrop(to: PodStatus, from: PodStatus, field: 'reason' | 'message'): void {
  const value = from[field];
  if (value) to[field] = value;
  else delete to[field];
}
