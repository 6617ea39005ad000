import { isSystemPriority } from './draw-leaks.ts';
import type { Random } from '../world/random.ts';
import type { PodPlan } from './plan.ts';

const SECOND = 1_000;
/** What static pods may ask for together, milli cores: with all others gone they fit on the node. */
const STATIC_CPU = 3_500;

/**
 * On some nodes pods ask for more CPUs than there are, and static pods that ask for some come when others have them. Changes the pods.
 * @returns whether it did
 */
export function withFullNode(random: Random, pods: readonly PodPlan[], until: number): boolean {
  if (!random.chance(0.15)) return false;
  let left = STATIC_CPU;
  for (const pod of pods) {
    const { spec } = pod;
    const [first] = spec.containers;
    if (first === undefined || !random.chance(0.8)) continue;
    if (pod.source === 'file') {
      const cpu = random.pick([500, 1_000, 2_000]);
      if (cpu > left) continue;
      left -= cpu;
      pod.at = random.between(Math.floor((until * 0.2) / SECOND), Math.floor((until * 0.6) / SECOND)) * SECOND;
      first.resources = { ...first.resources, requests: { ...first.resources?.requests, cpu: `${cpu}m` } };
      continue;
    }
    // One that is critical itself goes for nobody.
    if (isSystemPriority(spec.priority)) continue;
    const cpu = `${random.pick([300, 700, 1_500])}m`;
    if (random.chance(0.3)) {
      pod.qos = 'Guaranteed';
      for (const each of [...(spec.initContainers ?? []), ...spec.containers]) {
        const list = { cpu: each === first ? cpu : '10m', memory: '10Mi' };
        each.resources = { requests: list, limits: list };
      }
    } else {
      pod.qos = 'Burstable';
      first.resources = { ...first.resources, requests: { ...first.resources?.requests, cpu } };
    }
  }
  return true;
}
