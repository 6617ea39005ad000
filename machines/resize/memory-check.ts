import type { Pod } from '../protocol/api-types.ts';
import type { PodResourcesRead } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { podCgroup } from '../qos/pod-cgroup.ts';
import { sizesOf } from './requirements.ts';
import type { ResizeTarget } from './resize-plan.ts';

/**
 * Why memory limits cannot be taken down now, null when they can (kubelet validateMemoryResizeAction): a new limit at or
 * below what is in use would let the kernel kill. Best effort: usage may grow right after.
 */
export function memoryFault(
  pod: Pod,
  targets: readonly ResizeTarget[],
  now: Pick<PodResourcesRead, 'memoryLimitBytes' | 'usageBytes' | 'containers'>,
  settings: NodeSettings,
): string | null {
  const faults: string[] = [];
  const limit = podCgroup(pod, settings).memoryLimitBytes;
  if (limit !== undefined && limit < now.memoryLimitBytes) {
    if (now.usageBytes === null) faults.push('missing pod memory usage');
    else if (now.usageBytes >= limit)
      faults.push(`attempting to set pod memory limit (${limit}) below current usage (${now.usageBytes})`);
  }
  for (const { container, actuated } of targets) {
    const [wanted, has] = [sizesOf(container.resources).memoryLimit, sizesOf(actuated).memoryLimit];
    if (wanted === 0 || (has !== 0 && wanted >= has)) continue;
    const usage = now.containers[container.name] ?? null;
    if (usage === null) faults.push(`missing container "${container.name}" memory usage`);
    else if (usage >= wanted)
      // Kubelet tells the pod's usage here, whatever the container uses.
      faults.push(
        `attempting to set container "${container.name}" memory limit (${wanted}) below current usage (${now.usageBytes ?? 0})`,
      );
  }
  if (faults.length === 0) return null;
  return `cannot decrease memory limits: ${faults.length === 1 ? (faults[0] ?? '') : `[${[...new Set(faults)].join(', ')}]`}`;
}
