import type { Pod } from '../protocol/api-types.ts';

const SOURCE = 'kubernetes.io/config.source';
const MIRROR = 'kubernetes.io/config.mirror';
/** 2 * HighestUserDefinablePriority. */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

/** From a file or URL, not from the API server (annotation `kubernetes.io/config.source`). */
export function isStaticPod(pod: Pod): boolean {
  const source = pod.metadata?.annotations?.[SOURCE];
  return source !== undefined && source !== 'api';
}

/** Static, mirror, or of a priority of 2000000000 and more. */
export function isCriticalPod(pod: Pod): boolean {
  if (isStaticPod(pod) || pod.metadata?.annotations?.[MIRROR] !== undefined) return true;
  return (pod.spec?.priority ?? 0) >= SYSTEM_CRITICAL_PRIORITY;
}

/** Critical and of class `system-node-critical`: the last to be killed. */
export function isNodeCriticalPod(pod: Pod): boolean {
  return isCriticalPod(pod) && pod.spec?.priorityClassName === 'system-node-critical';
}
