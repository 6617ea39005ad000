import { statePath } from '../machine-step/step.ts';
import { entryOf } from '../values/entry-of.ts';
import { couldRestartAll, isRestartingAll, matchingRule, RESTART_ALL } from '../status/restart-all.ts';
import type { RestartAll } from '../status/restart-all.ts';
import { bornContainer, tellContainer } from './children.ts';
import { removeContainer } from './clean-up.ts';
import type { Draft } from './draft.ts';
import { own } from './draft.ts';
import { newestOf } from './observation.ts';
import type { NextState, PodContext } from './pod-context.ts';
import { containersOf } from './spec.ts';
import type { SpecContainer } from './spec.ts';
import { isRestarting } from './start-again.ts';

/**
 * How the restart of all containers of the pod stands (KEP-5532, gate RestartAllContainersOnContainerExits; kubelet
 * ShouldAllContainersRestart): it begins when a container has ended by a rule with that action, and is over when the runtime has
 * none of them any more. Undefined where the gate is off or no rule of the pod says so.
 */
export function restartAllOf(context: PodContext): RestartAll | undefined {
  const { pod, settings, status, termination, runtimeReady } = context;
  if (settings.restartAllContainers !== true || !couldRestartAll(pod)) return undefined;
  if (termination !== null) return 'no';
  const all = resettable(context);
  if (!isRestartingAll(status ?? pod.status) && !all.some((owner) => isSource(context, owner))) return 'no';
  const none = all.every(({ container }) => newestOf(context.observed, container.name) === null);
  return none && runtimeReady ? 'cleaned' : 'going';
}

/**
 * Ends and removes the pod's containers one after the other, without their preStop hooks: regular ones, then init containers, each
 * in the order of the spec, and last those that asked for it, so that an agent that begins in between knows of it by them. Null when
 * none is left, or all stay.
 */
export function planRestartAll(draft: Draft): NextState | null {
  const { context } = draft;
  const stands = restartAllOf(context);
  if (stands === 'cleaned') forgetContainers(draft);
  if (stands !== 'going') return null;
  delete context.startAgain;
  const all = resettable(context);
  // Kubelet starts nothing meanwhile.
  for (const owner of all) if (stateOf(context, owner).startsWith('starting.')) end(draft, owner);
  const ordered = [...all.filter((owner) => !isSource(context, owner)), ...all.filter((o) => isSource(context, o))];
  for (const owner of ordered) {
    if (isReset(draft, owner)) continue;
    const { name } = owner.container;
    return { state: 'syncing.stoppingContainers', why: `all containers are restarted: ${name} is ended and removed` };
  }
  return null;
}

/** Regular containers, then init containers and sidecars. */
function resettable({ pod }: PodContext): SpecContainer[] {
  return [...containersOf(pod, 'regular'), ...containersOf(pod, 'before')];
}

/** It has ended by a rule that restarts all. One that was stopped to start again is started, whatever its code. */
function isSource(context: PodContext, { container }: SpecContainer): boolean {
  const seen = newestOf(context.observed, container.name);
  if (seen?.state !== 'exited' || isRestarting(context, container.name)) return false;
  return matchingRule(container, seen.exitCode)?.action === RESTART_ALL;
}

function stateOf({ containers }: PodContext, { container }: SpecContainer): string {
  return statePath(entryOf(containers, container.name)?.value ?? '');
}

function end(draft: Draft, { container }: SpecContainer): void {
  const order = {
    reason: 'restartAll' as const,
    message: 'killing',
    graceSeconds: 0,
    since: draft.at,
    waitTurn: false,
  };
  tellContainer(draft, container.name, { type: 'kill', order });
}

/** Nothing of the container is left in the runtime; else the next step to that is asked for. */
function isReset(draft: Draft, owner: SpecContainer): boolean {
  const { name } = owner.container;
  if (stateOf(draft.context, owner) === 'running') end(draft, owner);
  const value = stateOf(draft.context, owner);
  if (value.startsWith('starting.') || value.startsWith('stopping.')) return false;
  const left = draft.context.observed?.containers.filter((each) => each.name === name) ?? [];
  for (const each of left) removeContainer(draft, each);
  return left.length === 0;
}

/** They start as for the first time, at once; their numbers go on, and how long a crash loop or a pull is held back stays known. */
function forgetContainers(draft: Draft): void {
  for (const { container, kind } of resettable(draft.context)) {
    const { name } = container;
    const before = entryOf(draft.context.containers, name);
    if (before === undefined) continue;
    const { id, attempt, seq, backOff, imageBackOff } = before.context;
    const born = bornContainer(name, kind);
    own(draft, 'containers')[name] = { ...born, context: { ...born.context, id, attempt, seq, backOff, imageBackOff } };
  }
}
