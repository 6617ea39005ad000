import { entryOf } from '../values/entry-of.ts';
import { statePath } from '../machine-step/step.ts';
import type { Container } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import { restartsAfterExit } from '../status/restart-rule.ts';
import type { Draft } from './draft.ts';
import { newestOf } from './observation.ts';
import type { PodContext } from './pod-context.ts';
import { isUnseen } from './readiness.ts';
import { restartsForResizeNow } from './resize.ts';
import type { SpecContainer } from './spec.ts';

/** Where a start has failed or is held back: kubelet's pass is over then, and the next one goes by policy and exit code. */
const GIVEN_UP = new Set(['retrying', 'inDoubt', 'backingOff', 'starting.imageBackOff']);

/**
 * Notes that a running container is told to stop so that it starts again: its definition changed, or a probe failed. Kubelet
 * stops and starts it in one pass, so that neither its exit code nor (when its definition changed) its policy is asked
 * (computePodActions: ContainersToKill and ContainersToStart).
 */
export function noteStartAgain({ context }: Draft, name: string): void {
  const id = newestOf(context.observed, name)?.id;
  if (id === undefined || !behaves(context.settings, 'stoppedToStartAgain')) return;
  context.startAgain = { ...context.startAgain, [name]: id };
}

/** Id of the container of this name that was stopped so that it starts again; '' when none was, or the pod ends. */
function stoppedOf({ startAgain, termination }: PodContext, name: string): string {
  return termination === null ? (entryOf(startAgain, name) ?? '') : '';
}

/** The container was stopped so that it starts again, and has not been made anew yet. */
export function startsAgain(context: PodContext, name: string): boolean {
  const id = stoppedOf(context, name);
  return id !== '' && newestOf(context.observed, name)?.id === id;
}

/** A container that has ended runs again whatever its policy says: it was stopped for that, or for a resize. */
export function isRestarting(context: PodContext, name: string): boolean {
  return restartsForResizeNow(context, name) || startsAgain(context, name);
}

/** Drops what is over, and names it: containers that run again, or whose start failed. The plan has to be made again then. */
export function settleStartAgain({ context }: Draft): string[] {
  const names = Object.keys(context.startAgain ?? {});
  const left = names.filter((name) => {
    const seen = newestOf(context.observed, name);
    if (seen === null) return false;
    const value = statePath(context.containers[name]?.value ?? '');
    if (seen.id === context.startAgain?.[name]) return seen.state === 'running' || !GIVEN_UP.has(value);
    return (
      value.startsWith('starting.') || (isUnseen(context, name) && behaves(context.settings, 'restartsAreToldOnce'))
    );
  });
  if (left.length === names.length) return [];
  if (left.length === 0) delete context.startAgain;
  else context.startAgain = Object.fromEntries(left.map((name) => [name, context.startAgain?.[name] ?? '']));
  return names.filter((name) => !left.includes(name));
}

/** The newest container of this name has ended, and its policy does not let it start again. */
export function hasEndedForGood(context: PodContext, container: Container): boolean {
  const seen = newestOf(context.observed, container.name);
  return (
    seen?.state === 'exited' &&
    !restartsAfterExit(container, context.pod, seen.exitCode, context.settings.restartAllContainers)
  );
}

/**
 * When the container before the one that was stopped had ended: kubelet's pass knows no later end (doBackOff), since it saw
 * the stopped one run. Null when there was none, undefined when the container was not stopped to start again.
 */
export function endedBefore(context: PodContext, name: string): number | null | undefined {
  if (!startsAgain(context, name)) return undefined;
  const stopped = newestOf(context.observed, name);
  let last: { restartCount: number; finishedAt: number } | null = null;
  for (const c of context.observed?.containers ?? [])
    if (c.name === name && c.id !== stopped?.id && c.state === 'exited')
      if (last === null || c.restartCount > last.restartCount) last = c;
  return last === null ? null : last.finishedAt;
}

/** Steps of a start that may take long: clients are told meanwhile that nothing runs (kubelet tells them nothing). */
const LONG_STEPS = new Set(['starting.pullingImage', 'starting.awaitingPod']);

/**
 * The end of a container that was stopped so that it starts again: nobody is told of it, the status stays as it was until the
 * next one runs, or its start is held back or takes long. One whose policy lets it end stays hidden even then: the API server
 * lets no container come back from such an end, and the pod's phase would follow.
 */
export function endIsHidden(context: PodContext, { container }: SpecContainer): boolean {
  const id = stoppedOf(context, container.name);
  const stopped = id === '' ? undefined : context.observed?.containers.find((c) => c.id === id);
  if (stopped?.state !== 'exited') return false;
  const { settings } = context;
  if (!restartsAfterExit(container, context.pod, stopped.exitCode, settings.restartAllContainers)) return true;
  const step = statePath(context.containers[container.name]?.value ?? '');
  return behaves(settings, 'restartsAreToldOnce') && !LONG_STEPS.has(step);
}
