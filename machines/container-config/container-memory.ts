import type { Container, Pod } from '../protocol/api-types.ts';
import type { LinuxContainerResources } from '../protocol/cri-shapes.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { isCriticalPod } from '../qos/critical-pod.ts';
import { podQosClass } from '../qos/qos-class.ts';
import { amountsOf, units } from '../qos/resource-amounts.ts';

/**
 * Sets the swap that a container may use (kubelet's configureContainerSwapResources): none, or with `LimitedSwap` on cgroup v2 the share
 * of the node's swap that its memory request is of the node's memory. Only containers of burstable, not critical pods get it,
 * those with a request below their limit.
 */
export function limitSwap(
  resources: LinuxContainerResources,
  pod: Pod,
  container: Container,
  settings: Pick<NodeSettings, 'cgroupVersion' | 'capacity' | 'limitedSwapBytes'>,
): void {
  if (settings.cgroupVersion === 2) {
    const bytes = mayLimitedSwap(pod, container) ? swapShare(memoryOf(container, 'requests'), settings) : 0;
    resources.unified = { ...resources.unified, 'memory.swap.max': String(bytes) };
  } else if (resources.memoryLimitInBytes) resources.memorySwapLimitInBytes = resources.memoryLimitInBytes;
}

/** May the container swap where `LimitedSwap` is set and swap can be limited (kubelet GetContainerSwapBehavior)? */
export function mayLimitedSwap(pod: Pod, container: Container): boolean {
  if (isCriticalPod(pod) || podQosClass(pod) !== 'Burstable') return false;
  // Equal, also where both are nothing.
  return memoryOf(container, 'requests') !== memoryOf(container, 'limits');
}

function swapShare(
  request: number,
  { capacity, limitedSwapBytes = 0 }: Pick<NodeSettings, 'capacity' | 'limitedSwapBytes'>,
): number {
  const { memoryBytes } = capacity;
  return memoryBytes <= 0 || request > memoryBytes ? 0 : Math.trunc((request / memoryBytes) * limitedSwapBytes);
}

/**
 * Files of v2 that keep a container's requested memory from being reclaimed, and slow it down before it comes to its limit, or to what the
 * node has for pods where it has none (gate MemoryQoS, KEP-2570; `memory.high` by the formula of 1.27).
 */
export function memoryQoSFiles(
  container: Container,
  { throttlingFactor, pageBytes, unreservedBytes }: NonNullable<NodeSettings['memoryQoS']>,
): Record<string, string> {
  const request = memoryOf(container, 'requests');
  const limit = memoryOf(container, 'limits');
  const files: Record<string, string> = {};
  if (request !== 0) files['memory.min'] = String(request);
  if (request === limit) return files;
  const most = limit !== 0 ? limit : unreservedBytes;
  const high = Math.trunc(Math.floor(request + (most - request) * throttlingFactor) / pageBytes) * pageBytes;
  if (most > 0 && high > request) files['memory.high'] = String(high);
  return files;
}

function memoryOf(container: Container, which: 'requests' | 'limits'): number {
  return units(amountsOf(container.resources?.[which])['memory']);
}
