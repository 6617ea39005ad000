import type { Container, Pod } from '../protocol/api-types.ts';
import { addAmounts, amountsOf, raiseAmounts } from './resource-amounts.ts';
import type { Amounts, ResourceList } from './resource-amounts.ts';

/** Sidecar: an init container with restartPolicy Always (KEP-753). */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** Resources that may be set for the whole pod: cpu, memory and huge pages (KEP-2837). */
function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

function anyPodLevel(list: ResourceList | undefined): boolean {
  return Object.keys(list ?? {}).some(isPodLevelResource);
}

/** Does `spec.resources` set requests that count for the whole pod? */
export function hasPodLevelRequests(pod: Pod): boolean {
  return anyPodLevel(pod.spec?.resources?.requests);
}

/** Does `spec.resources` set limits that count for the whole pod? */
export function hasPodLevelLimits(pod: Pod): boolean {
  return anyPodLevel(pod.spec?.resources?.limits);
}

/** Does `spec.resources` set anything that counts for the whole pod? */
export function hasPodLevelResources(pod: Pod): boolean {
  return hasPodLevelRequests(pod) || hasPodLevelLimits(pod);
}

/**
 * Sum over containers by the sidecar formula (KEP-753): the greater of what runs together and of what the most
 * demanding init container needs next to the sidecars started before it. `each` sees each effective list.
 */
function sumOverContainers(pod: Pod, which: 'requests' | 'limits', each?: (amounts: Amounts) => void): Amounts {
  const sum: Amounts = {};
  for (const container of pod.spec?.containers ?? []) {
    const own = amountsOf(container.resources?.[which]);
    each?.(own);
    addAmounts(sum, own);
  }
  const sidecars: Amounts = {};
  const initMost: Amounts = {};
  for (const container of pod.spec?.initContainers ?? []) {
    const own = amountsOf(container.resources?.[which]);
    let effective: Amounts;
    if (isSidecar(container)) {
      addAmounts(sum, own);
      addAmounts(sidecars, own);
      effective = sidecars;
    } else {
      effective = { ...own };
      addAmounts(effective, sidecars);
    }
    each?.(effective);
    raiseAmounts(initMost, effective);
  }
  raiseAmounts(sum, initMost);
  return sum;
}

function overridePodLevel(sum: Amounts, list: ResourceList | undefined): void {
  for (const [name, value] of Object.entries(amountsOf(list))) if (isPodLevelResource(name)) sum[name] = value;
}

/** Requests of all containers together, without pod-level values and overhead. */
export function containerRequests(pod: Pod): Amounts {
  return sumOverContainers(pod, 'requests');
}

/** The pod's requests: containers by the sidecar formula, pod-level values instead where set, and `spec.overhead`. */
export function podRequests(pod: Pod, options: { excludeOverhead?: boolean } = {}): Amounts {
  const sum = sumOverContainers(pod, 'requests');
  if (hasPodLevelRequests(pod)) overridePodLevel(sum, pod.spec?.resources?.requests);
  if (!options.excludeOverhead) addAmounts(sum, amountsOf(pod.spec?.overhead));
  return sum;
}

/** The pod's limits; overhead is added to limits that are not zero. `each` sees every container's effective limits. */
export function podLimits(
  pod: Pod,
  options: { excludeOverhead?: boolean; each?: (amounts: Amounts) => void } = {},
): Amounts {
  const sum = sumOverContainers(pod, 'limits', options.each);
  if (hasPodLevelResources(pod)) overridePodLevel(sum, pod.spec?.resources?.limits);
  if (!options.excludeOverhead) {
    for (const [name, value] of Object.entries(amountsOf(pod.spec?.overhead))) {
      const now = sum[name];
      if (now !== undefined && now !== 0n) sum[name] = now + value;
    }
  }
  return sum;
}
