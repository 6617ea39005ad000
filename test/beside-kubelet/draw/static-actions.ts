import { drawnAction } from './actions.ts';
import type { Action } from './actions.ts';
import { Draws } from './draws.ts';
import type { DrawnPod } from './pod.ts';

/** What happens to this static pod, or to its mirror; null = nothing. */
export function drawnStaticAction(seed: number, number: number, pod: DrawnPod): Action | null {
  const d = new Draws(seed, `static-action-${String(number)}`);
  const containers = pod.spec['containers'] as Record<string, unknown>[];
  const changed = containers.map((one, i) => (i === 0 ? { ...one, image: 'registry.example/app:v1' } : one));
  return d.one<() => Action | null>([
    () => ({ kind: 'manifest', pod: { ...pod, spec: { ...pod.spec, containers: changed } } }),
    () => ({ kind: 'away', pod, ms: d.one([0, 1_500, 4_000]) }),
    () => ({ kind: 'delete', options: d.one([{}, { gracePeriodSeconds: 0 }]) }),
    () => drawnAction(seed, number, pod),
  ])();
}
