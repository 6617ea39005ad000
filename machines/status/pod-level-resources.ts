import type { Pod, PodStatus } from '../protocol/api-types.ts';
import type { PodCgroup } from '../protocol/effects.ts';
import { quotaToMilli, sharesToMilli } from '../qos/cpu-shares.ts';
import { podLimits, podRequests } from '../qos/pod-resources.ts';
import { amountsOf } from '../qos/resource-amounts.ts';
import type { Amounts, ResourceList } from '../qos/resource-amounts.ts';
import { bytesText, formatQuantity } from '../values/quantity.ts';
import { MIN_LIMIT_MILLI, MIN_SHARES, setCpu } from './actual-resources.ts';

/** What of a pod's resources is in force: the pod with them, and its cgroup. */
export interface ResourcesInForce {
  pod: Pod;
  cgroup: PodCgroup;
}

type Told = Required<Pick<PodStatus, 'resources' | 'allocatedResources'>>;

/**
 * `status.resources` and `status.allocatedResources` of the whole pod (KEP-5419, kubelet convertToAPIPodLevelResourcesStatus).
 * Kubelet reads a running pod's cgroup for it; here it is what was written there, with the same rounding.
 * @param pod as it is allocated
 */
export function podLevelStatus(pod: Pod, phase: string, inForce: ResourcesInForce): Told {
  const whole = pod.spec?.resources;
  const allocatedResources = told(podRequests(pod), whole?.requests);
  if (phase !== 'Running')
    return { resources: lists(allocatedResources, told(podLimits(pod), whole?.limits)), allocatedResources };
  const { requests, limits } = inForce.pod.spec?.resources ?? {};
  const [has, most] = [{ ...requests }, { ...limits }];
  const { cpuShares, cpuQuotaUs, cpuPeriodUs, memoryLimitBytes } = inForce.cgroup;
  setCpu(has, sharesToMilli(cpuShares ?? 0), MIN_SHARES);
  has['memory'] ??= told(podRequests(inForce.pod))['memory'] ?? '0';
  setCpu(most, quotaToMilli(cpuQuotaUs ?? 0, cpuPeriodUs ?? 0), MIN_LIMIT_MILLI);
  if (memoryLimitBytes) most['memory'] = bytesText(memoryLimitBytes);
  return { resources: lists(has, most), allocatedResources };
}

function lists(requests: ResourceList, limits: ResourceList): Told['resources'] {
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(requests).length > 0 && { requests }),
  };
}

/** @param asked where it says the same, its words are kept */
function told(amounts: Amounts, asked: ResourceList = {}): ResourceList {
  const same = amountsOf(asked);
  const out: ResourceList = {};
  for (const [name, amount] of Object.entries(amounts)) {
    const words = same[name] === amount ? asked[name] : undefined;
    out[name] = words ?? formatQuantity(amount, name === 'cpu' ? 'DecimalSI' : 'BinarySI');
  }
  return out;
}
