import type { StoppedProbes } from '../probe/probe-context.ts';
import { behaves } from '../protocol/behaviour.ts';
import { newestOf } from './observation.ts';
import type { PodContext } from './pod-context.ts';
import type { SpecContainer } from './spec.ts';
import { containersOf } from './spec.ts';

/**
 * Which probes of a container the end of its pod has stopped. A pod that is deleted is not to have its regular containers
 * restarted any more, so their liveness and startup probes end; readiness goes on, and so do all probes of sidecars, which serve
 * to the end (kubelet StopLivenessAndStartup; a failure is told and leads to nothing). The sidecars of a pod whose work is done
 * are probed on, too: its phase is Running as long as they run. A pod that has failed by its deadline, by eviction or in an init
 * container has its final phase, and one that no source names any more has no status: with both every probe ends (doProbe).
 */
export function stoppedProbes(context: PodContext, { kind }: SpecContainer): StoppedProbes {
  const { termination, settings } = context;
  if (termination === null) return 'none';
  if (!behaves(settings, 'sidecarsAreProbedToTheEnd')) return 'livenessAndStartup';
  if (termination.deletedFromSource || termination.phase !== null) return 'all';
  if (termination.reason === 'Completed') return workIsDone(context) ? 'none' : 'all';
  return kind === 'regular' ? 'livenessAndStartup' : 'none';
}

/** All regular containers have ended; a pod that came to its end before has failed in an init container. */
function workIsDone({ pod, observed }: PodContext): boolean {
  return containersOf(pod, 'regular').every(({ container }) => newestOf(observed, container.name)?.state === 'exited');
}
