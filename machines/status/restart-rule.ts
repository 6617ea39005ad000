import type { Container, Pod } from '../protocol/api-types.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import { matchingRule, RESTART_ALL } from './restart-all.ts';

/**
 * Would a container that ended with this code be started again? Its rules (KEP-5307), its policy, the pod's policy. `all`: the gate
 * RestartAllContainersOnContainerExits is on; with it off the policies decide about such a rule.
 */
export function restartsAfterExit(container: Container, pod: Pod, exitCode: number, all = false): boolean {
  if (container.restartPolicy !== undefined) {
    const action = matchingRule(container, exitCode)?.action;
    if (action === 'Restart' || (all && action === RESTART_ALL)) return true;
    const own = byPolicy(container.restartPolicy, exitCode);
    if (own !== undefined) return own;
  }
  return byPolicy(pod.spec?.restartPolicy ?? 'Always', exitCode) ?? true;
}

/** Is the container to be started, first or again? `newest`: its newest instance in the runtime. */
export function isToBeStarted(
  container: Container,
  pod: Pod,
  newest: ObservedContainer | undefined,
  all = false,
): boolean {
  if (pod.metadata?.deletionTimestamp !== undefined) return false;
  if (newest === undefined) return true;
  if (newest.state === 'running') return false;
  return newest.state !== 'exited' || restartsAfterExit(container, pod, newest.exitCode, all);
}

function byPolicy(policy: string, exitCode: number): boolean | undefined {
  if (policy === 'Always') return true;
  if (policy === 'OnFailure') return exitCode !== 0;
  return policy === 'Never' ? false : undefined;
}
