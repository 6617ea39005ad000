import { firstRunAfterRestart } from '../probe/first-run.ts';
import type { Probe } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { PodMemory, ProbeMemory } from '../protocol/memory.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import { toldOf } from '../status/status-lists.ts';
import { bornProbe, probesOf, tellProbe } from './children.ts';
import type { Draft } from './draft.ts';
import { own } from './draft.ts';
import { newestOf } from './observation.ts';
import type { SpecContainer } from './spec.ts';

/**
 * What an agent that starts goes by of what an earlier one knew of a pod: with the feature gate ChangeContainerStatusOnKubeletRestart
 * nothing of its probes, as kubelet before 1.35. (A worker of the same agent that is replaced goes by all of it.)
 */
export function afterAgentRestart(memory: PodMemory | null, restartChangesStatus: boolean): PodMemory | null {
  return memory === null || !restartChangesStatus ? memory : { ...memory, probes: {} };
}

/** Probes of a container that may run already: they go on with what is remembered of them, or known otherwise. */
export function adoptProbes(draft: Draft, owner: SpecContainer, remembered: PodMemory['probes'] = {}): void {
  const { name } = owner.container;
  const seen = newestOf(draft.context.observed, name);
  for (const { key, kind, probe } of probesOf(owner)) {
    own(draft, 'probes')[key] = bornProbe(name, kind);
    if (seen?.state !== 'running') continue;
    tellProbe(draft, owner, kind, probe, { type: 'look' });
    const known = remembered[key];
    if (known?.containerId === seen.id) goOn(draft, key, probe, known);
    else if (draft.context.settings.restartChangesStatus) beginAnew(draft, key, probe);
    else if (kind === 'startup' && hasStarted(draft, owner, probe, seen)) rest(draft, key);
  }
}

function goOn(draft: Draft, key: string, probe: Probe, { result, outcome, run, nextAt }: ProbeMemory): void {
  const place = draft.context.probes[key];
  if (place === undefined) return;
  const onHold = place.context.kind === 'startup' && result === 'success';
  const due = dueAgain(draft, probe, key, { first: place.context.deadline, nextAt: nextAt ?? 0 });
  own(draft, 'probes')[key] = {
    value: onHold ? 'onHold' : place.value,
    context: { ...place.context, result, outcome, run, deadline: onHold ? null : due },
  };
}

/** Those of all pods begin anew: they do not all run in the same moment. */
function beginAnew(draft: Draft, key: string, probe: Probe): void {
  const place = draft.context.probes[key];
  if (place === undefined) return;
  const deadline = dueAgain(draft, probe, key, { first: place.context.deadline, nextAt: 0 });
  own(draft, 'probes')[key] = { ...place, context: { ...place.context, deadline } };
}

/** Its startup probe has succeeded: it is not run again. */
function rest(draft: Draft, key: string): void {
  const place = draft.context.probes[key];
  if (place === undefined) return;
  own(draft, 'probes')[key] = {
    value: 'onHold',
    context: { ...place.context, result: 'success', deadline: null },
  };
}

/**
 * Without memory a container has started that the API server was told so of (kubelet keeps `started` of the status there), and one that has
 * run for so long that its startup probe would have stopped it.
 */
function hasStarted({ context, at }: Draft, owner: SpecContainer, probe: Probe, seen: ObservedContainer): boolean {
  const worst = ((probe.initialDelaySeconds ?? 0) + (probe.failureThreshold ?? 3) * (probe.periodSeconds ?? 10)) * 1000;
  if (at - seen.startedAt > worst) return true;
  const { pod, settings } = context;
  const told = behaves(settings, 'startedIsTheApis') ? toldOf(pod.status, owner.container.name) : undefined;
  return told?.started === true && told.containerID === `${settings.runtimeName}://${seen.id}`;
}

/** When a probe that was known before goes on; `first`: when it would run if it were not. */
function dueAgain(
  { context, at }: Draft,
  probe: Probe,
  key: string,
  when: { first: number | null; nextAt: number },
): number | null {
  if (behaves(context.settings, 'steadyProbesAreQuiet'))
    return when.first === null
      ? null
      : Math.max(when.first, firstRunAfterRestart(at, probe, `${context.pod.metadata?.uid ?? ''}/${key}`));
  const latest = at + Math.max(probe.periodSeconds ?? 10, probe.initialDelaySeconds ?? 0) * 1000;
  return Math.min(latest, Math.max(at, when.nextAt));
}
