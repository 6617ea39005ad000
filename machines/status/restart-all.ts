import type { Container, ContainerStatus, Pod, PodStatus } from '../protocol/api-types.ts';
import { ALL_RESTARTING } from './own-conditions.ts';

/** Action of a container's rule: all containers of the pod are restarted (KEP-5532). */
export const RESTART_ALL = 'RestartAllContainers';
/** Why a container waits, and how it is said to have ended, that was removed for that. */
export const RESTARTING_ALL = 'RestartingAllContainers';
const REMOVED = 'The container is removed because RestartAllContainers in place';

/** How a restart of all containers stands: none, containers are being removed, or all of them are gone. */
export type RestartAll = 'no' | 'going' | 'cleaned';

/** The first of a container's rules that knows this exit code, whatever its action (KEP-5307). */
export function matchingRule({ restartPolicyRules }: Container, exitCode: number) {
  return restartPolicyRules?.find(({ exitCodes }) => {
    if (!exitCodes) return false;
    const named = (exitCodes.values ?? []).includes(exitCode);
    return exitCodes.operator === 'In' ? named : exitCodes.operator === 'NotIn' && !named;
  });
}

/** A rule of the pod may restart all of its containers. */
export function couldRestartAll({ spec }: Pod): boolean {
  const asks = ({ restartPolicyRules }: Container) => restartPolicyRules?.some(({ action }) => action === RESTART_ALL);
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].some(asks);
}

/** The last status says that all containers are being restarted. */
export function isRestartingAll(status: PodStatus | undefined): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === ALL_RESTARTING && is === 'True') ?? false;
}

/**
 * A container that was removed to be made anew: it waits, counts a restart, and its end is said to be that. `blank`: its status as of
 * one that was never made. Undefined when it was not told of as more than waiting: then it is as any other.
 */
export function removedStatus(blank: ContainerStatus, old: ContainerStatus): ContainerStatus | undefined {
  const state = { waiting: { reason: RESTARTING_ALL, message: REMOVED } };
  if (old.state?.waiting) {
    return old.state.waiting.reason === RESTARTING_ALL
      ? { ...blank, state, restartCount: old.restartCount, lastState: old.lastState ?? {} }
      : undefined;
  }
  return {
    ...(old.state?.terminated ? old : blank),
    state,
    lastState: { terminated: { exitCode: 137, reason: RESTARTING_ALL, message: REMOVED } },
    restartCount: old.restartCount + 1,
  };
}
