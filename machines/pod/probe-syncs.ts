import { behaves } from '../protocol/behaviour.ts';
import type { PodMessage } from '../protocol/messages.ts';
import type { ObservedContainer, ObservedPod } from '../protocol/observed.ts';
import { probesOf, tellProbe } from './children.ts';
import type { Draft } from './draft.ts';
import type { PodContext } from './pod-context.ts';
import { specContainers } from './spec.ts';

/**
 * Tells readiness probes of what makes kubelet sync the pod: each round of its own, another definition, a container that began or
 * ended, another word of one of its probes. Who is ready, or has no such probe, does not hear it.
 */
export function tellProbesOfSync(draft: Draft, { type }: PodMessage): void {
  const { context, before } = draft;
  if (!behaves(context.settings, 'unreadyAreProbedAtSyncs')) return;
  const byProbe = otherWord(before, context);
  const syncs = byProbe || type === 'pod.sync' || type === 'pod.update';
  if (!syncs && !otherStates(before.observed, context.observed)) return;
  for (const owner of specContainers(context.pod))
    for (const { kind, probe } of probesOf(owner))
      if (kind === 'readiness') tellProbe(draft, owner, kind, probe, { type: 'sync', byProbe });
}

function otherWord({ probes: before }: PodContext, { probes }: PodContext): boolean {
  if (before === probes) return false;
  for (const key in probes) if (before[key]?.context.result !== probes[key]?.context.result) return true;
  return false;
}

/** Kubelet's PLEG tells of containers that run or do not, one by one. */
function otherStates(before: ObservedPod | null, after: ObservedPod | null): boolean {
  if (before === after || before === null || after === null) return before !== after;
  const runs = new Map(before.containers.map((c) => [c.id, c.state === 'running']));
  const differs = ({ id, state }: ObservedContainer): boolean => (runs.get(id) ?? false) !== (state === 'running');
  return after.containers.some(differs);
}
