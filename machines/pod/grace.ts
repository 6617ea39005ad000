import type { PodContext } from './pod-context.ts';

/** Grace period in seconds for stopping a container while the pod lives or ends: the order's, else the pod's. */
export function graceSecondsOf(context: PodContext): number {
  if (context.termination !== null) return context.termination.graceSeconds;
  return context.pod.metadata?.deletionGracePeriodSeconds ?? context.pod.spec?.terminationGracePeriodSeconds ?? 30;
}

/** Grace for a kill after a failed probe: the probe's own period wins (KEP-2238). */
export function probeGraceSeconds(context: PodContext, container: string, kind: 'liveness' | 'startup'): number {
  const spec = [...(context.pod.spec?.initContainers ?? []), ...(context.pod.spec?.containers ?? [])].find(
    (c) => c.name === container,
  );
  const probe = kind === 'liveness' ? spec?.livenessProbe : spec?.startupProbe;
  return (
    context.pod.metadata?.deletionGracePeriodSeconds ?? probe?.terminationGracePeriodSeconds ?? graceSecondsOf(context)
  );
}
