import type { Container, Pod } from '../protocol/api-types.ts';
import type { LinuxContainerResources } from '../protocol/cri-shapes.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { oomScoreAdj } from '../qos/oom-score.ts';
import { hasPodLevelResources } from '../qos/pod-resources.ts';
import { amountsOf, units } from '../qos/resource-amounts.ts';
import { linuxResources } from '../sandbox-config/linux-resources.ts';

/**
 * The container's cgroup limits and OOM score. Without limits of its own it shows the pod's (KEP-2837).
 * Swap: none above the memory limit, where the node can limit it at all (`memorySwap.swapBehavior: NoSwap`).
 */
export function containerResources(pod: Pod, container: Container, settings: NodeSettings): LinuxContainerResources {
  const podLevel = hasPodLevelResources(pod);
  const podLimits = podLevel ? amountsOf(pod.spec?.resources?.limits) : {};
  const requests = amountsOf(container.resources?.requests);
  const limits = amountsOf(container.resources?.limits);
  const resources = linuxResources(
    {
      cpuRequest: requests['cpu'],
      cpuLimit: limits['cpu'] || podLimits['cpu'],
      memoryLimit: limits['memory'] || podLimits['memory'],
    },
    settings,
  );
  resources.oomScoreAdj = String(oomScoreAdj(pod, container, settings.capacity.memoryBytes));
  const pages = hugepageLimits(settings.hugePageSizes ?? [], { ...podLimits, ...limits });
  if (pages.length > 0) resources.hugepageLimits = pages;
  if (settings.swapController) forbidSwap(resources, settings.cgroupVersion);
  return resources;
}

function forbidSwap(resources: LinuxContainerResources, cgroupVersion: 1 | 2): void {
  if (cgroupVersion === 2) resources.unified = { ...resources.unified, 'memory.swap.max': '0' };
  else if (resources.memoryLimitInBytes) resources.memorySwapLimitInBytes = resources.memoryLimitInBytes;
}

/** Each page size of the node: what is asked of it, otherwise 0. Sizes the node does not have are left out. */
function hugepageLimits(
  sizes: readonly string[],
  limits: Record<string, bigint>,
): { pageSize: string; limit: string }[] {
  const asked = new Map<string, number>();
  for (const [name, amount] of Object.entries(limits)) {
    if (!name.startsWith('hugepages-')) continue;
    const bytes = units(amountsOf({ size: name.slice('hugepages-'.length) })['size']);
    asked.set(kernelSize(bytes), units(amount));
  }
  return sizes.map((pageSize) => ({ pageSize, limit: String(asked.get(pageSize) ?? 0) }));
}

/** 2097152 -> `2MB`, as the kernel's hugetlb files are named. */
function kernelSize(bytes: number): string {
  let size = bytes;
  let step = 0;
  while (size >= 1024 && step < 5) {
    size = Math.trunc(size / 1024);
    step++;
  }
  return `${size}${['B', 'KB', 'MB', 'GB', 'TB', 'PB'][step]}`;
}
