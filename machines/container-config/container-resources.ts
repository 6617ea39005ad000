import type { Container, Pod } from '../protocol/api-types.ts';
import type { LinuxContainerResources } from '../protocol/cri-shapes.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { hugepageBytes } from '../qos/huge-pages.ts';
import { oomScoreAdj } from '../qos/oom-score.ts';
import { hasPodLevelResources } from '../qos/pod-resources.ts';
import { amountsOf } from '../qos/resource-amounts.ts';
import { linuxResources } from '../sandbox-config/linux-resources.ts';
import { limitSwap, memoryQoSFiles } from './container-memory.ts';

/**
 * The container's cgroup limits and OOM score. Without limits of its own it shows the pod's (KEP-2837).
 * Swap: none above the memory limit, where the node can limit it at all, but for what `LimitedSwap` gives.
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
  const pages = hugepageBytes(settings.hugePageSizes ?? [], { ...podLimits, ...limits });
  if (Object.keys(pages).length > 0)
    resources.hugepageLimits = Object.entries(pages).map(([pageSize, limit]) => ({ pageSize, limit: String(limit) }));
  if (settings.swapController) limitSwap(resources, pod, container, settings);
  if (settings.memoryQoS !== undefined) {
    const files = memoryQoSFiles(container, settings.memoryQoS);
    if (Object.keys(files).length > 0) resources.unified = { ...resources.unified, ...files };
  }
  return resources;
}
