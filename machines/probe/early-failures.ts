import { behaves } from '../protocol/behaviour.ts';
import type { ProbeContext, ProbeWorld } from './probe-context.ts';

/**
 * From when on failures of a liveness or startup probe count that is first due at `due` (null: not yet). Kubelet's worker ticks each
 * period from when the pod came (`AddPod`), whatever its containers do: its first run is that of the first tick after the start,
 * initialDelaySeconds and (liveness) the startup probe, up to a whole period after they are over. Readiness alone is run at once
 * (`UpdatePodStatus` triggers it). Here each probe runs at the first moment, since success is worth knowing early; a container that
 * would be alive in time under kubelet must not be stopped for it. After a restart of the agent kubelet's workers begin anew while
 * the containers run: the first run may be at once, and counts (`ranBefore`: it was due before it was taken over).
 */
export function countsFrom(
  { kind }: Pick<ProbeContext, 'kind'>,
  { settings, probe }: ProbeWorld,
  due: number | null,
  ranBefore = false,
): Pick<ProbeContext, 'countsFrom'> {
  if (kind === 'readiness' || !behaves(settings, 'firstRunsOfProbes')) return {};
  if (due === null) return { countsFrom: null };
  return { countsFrom: ranBefore ? due : due + (probe.periodSeconds ?? 10) * 1000 };
}

/** The run that is under way began before failures count. */
export function isEarly({ countsFrom: from, askedAt }: ProbeContext): boolean {
  return typeof from === 'number' && askedAt < from;
}
