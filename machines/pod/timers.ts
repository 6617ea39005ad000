import { probesOf, tellContainer, tellProbe } from './children.ts';
import type { Draft } from './draft.ts';
import { own } from './draft.ts';
import type { PodContext } from './pod-context.ts';
import { specContainer, specContainers } from './spec.ts';
import { behaves } from '../protocol/behaviour.ts';

/** Deadlines that have come are served first, whatever woke the pod; so none is ever passed over. */
export function fireTimers(draft: Draft): void {
  const { containers } = draft.context;
  for (const name in containers) {
    const place = containers[name];
    if (place === undefined) continue;
    if (place.context.deadline !== null && place.context.deadline <= draft.at)
      tellContainer(draft, name, { type: 'timer' });
  }
  fireProbes(draft);
}

/** Runs the probes whose turn has come. */
export function fireProbes(draft: Draft): void {
  for (const owner of specContainers(draft.context.pod)) {
    for (const { key, kind, probe } of probesOf(owner)) {
      const deadline = draft.context.probes[key]?.context.deadline;
      if (deadline !== undefined && deadline !== null && deadline <= draft.at)
        tellProbe(draft, owner, kind, probe, { type: 'timer' });
    }
  }
}

/**
 * A deadline that has passed and moved nobody is dropped: the host would otherwise be woken by it for ever. One
 * that this very step has set (a hook's pause of 0 s) still has to be served.
 */
export function settleDeadlines(draft: Draft, before: PodContext): void {
  const { context, at } = draft;
  const { tasks, containers } = context;
  for (const name in tasks) {
    const task = tasks[name];
    if (task?.state === 'failed' && task.retryAt <= at) delete own(draft, 'tasks')[name];
  }
  for (const name in containers) {
    const place = containers[name];
    if (place === undefined) continue;
    const { deadline } = place.context;
    if (deadline !== null && deadline <= at && before.containers[name]?.context.deadline === deadline)
      own(draft, 'containers')[name] = { ...place, context: { ...place.context, deadline: null } };
  }
  settleProbes(draft);
}

/** The same of probes; one that waits is still to be served, unless its container is not named any more. */
export function settleProbes(draft: Draft): void {
  const { context } = draft;
  const { probes } = context;
  for (const key in probes) {
    const place = probes[key];
    if (place === undefined || (place.value === 'waiting' && !forgotten(context, place.context.container))) continue;
    const { deadline } = place.context;
    if (deadline !== null && deadline <= draft.at)
      own(draft, 'probes')[key] = { ...place, context: { ...place.context, deadline: null } };
  }
}

/** The pod's definition has no such container now. */
function forgotten({ pod, settings }: PodContext, container: string): boolean {
  return behaves(settings, 'vanishedPodsEnd') && specContainer(pod, container) === null;
}
