import type { Pod } from '../../../machines/protocol/api-types.ts';
import { isTerminalPhase } from '../../../machines/status/phase.ts';

/**
 * Pods that hold something of the node (kubelet's GetActivePods): not those that have ended, and of those with a terminal phase
 * only the ones that are still being ended. `stateOf`: the state of a pod's machine.
 */
export function activePods(pods: readonly Pod[], stateOf: (uid: string) => string | null): Pod[] {
  return pods.filter(({ metadata, status }) => {
    const state = stateOf(metadata?.uid ?? '') ?? '';
    if (hasEnded(state)) return false;
    return !isTerminalPhase(status?.phase) || state.startsWith('terminating.');
  });
}

/** Its containers have ended for good, and its sandbox is stopped. */
export function hasEnded(state: string): boolean {
  return state.startsWith('terminated.');
}

/** Its volumes are unmounted and its cgroup is gone, too (kubelet's PodIsFinished). Null: nothing is known of it any more. */
export function isCleanedUp(state: string | null): boolean {
  return state === null || (hasEnded(state) && state !== 'terminated.cleaningUp');
}
