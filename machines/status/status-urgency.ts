import type { ContainerStatus, PodStatus } from '../protocol/api-types.ts';
import { isTerminalPhase } from './phase.ts';
import { STATUS_LISTS } from './status-lists.ts';

/** May a status wait a little, since a better one is about to follow? */
export type Urgency = 'now' | 'mayWait';

const QUIET_REASONS: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/**
 * `mayWait` for the two moments of a pod's life that say nothing that anybody acts on and are over within moments:
 * - it starts, and no container has run, failed or been refused yet: a quick start then costs one PATCH, not three;
 * - all its containers have ended, the machine takes down the sandbox, and the terminal phase, which controllers wait
 *   for, is only known then: it tells the exit codes with it.
 * All else (ready, running, a reason of failure, an end among running containers, a phase) is `now`.
 */
export function statusUrgency(status: PodStatus, state: string): Urgency {
  const all = STATUS_LISTS.flatMap((list) => status[list] ?? []);
  if (state === 'terminating.stoppingSandbox' || state === 'terminating.unpreparingClaims')
    return isTerminalPhase(status.phase) || all.some((c) => c.state?.running) ? 'now' : 'mayWait';
  const starts =
    state.startsWith('syncing.') &&
    status.phase === 'Pending' &&
    !status.reason &&
    !status.message &&
    all.every(isQuiet);
  return starts ? 'mayWait' : 'now';
}

function isQuiet({ state, lastState, restartCount }: ContainerStatus): boolean {
  if (state?.running || state?.terminated || lastState?.terminated || restartCount > 0) return false;
  const reason = state?.waiting?.reason;
  return reason === undefined || QUIET_REASONS.has(reason);
}
