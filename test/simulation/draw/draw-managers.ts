import type { Random } from '../world/random.ts';
import type { Change, PodPlan } from './plan.ts';

/**
 * Makes most of the pods Guaranteed ones, so that a node that gives CPUs and memory away has something to give. What resizes them is
 * left out: a static policy refuses that.
 */
export function withManagers(random: Random, pods: readonly PodPlan[], changes: readonly Change[]): Change[] {
  const made = new Set<string>();
  for (const { key, spec } of pods) {
    if (!random.chance(0.7)) continue;
    made.add(key);
    for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
      const list = { cpu: random.pick(['1', '1', '2', '4', '500m']), memory: random.pick(['64Mi', '128Mi']) };
      container.resources = { requests: list, limits: list };
    }
  }
  return changes.filter((change) => change.do !== 'resize' || !made.has(change.pod));
}
