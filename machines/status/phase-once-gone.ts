import type { ContainerStatus, Pod } from '../protocol/api-types.ts';
import { UNKNOWN_EXIT_CODE } from './container-state.ts';
import { podPhase } from './phase.ts';
import type { Phase } from './phase.ts';

/**
 * The phase of a pod of whose containers the runtime has none any more: what was told as running has ended, and nobody knows how
 * (kubelet's convertToAPIContainerStatuses).
 * @param told what was told of its containers last
 */
export function phaseOnceGone(pod: Pod, told: readonly ContainerStatus[]): Phase {
  const statuses = told.map((status): ContainerStatus => {
    if (!status.state?.running) return status;
    const end = status.lastState?.terminated ?? { exitCode: UNKNOWN_EXIT_CODE };
    return { ...status, state: { waiting: {} }, lastState: { terminated: end } };
  });
  return podPhase(pod, statuses, { podIsTerminal: false, initialized: false });
}
