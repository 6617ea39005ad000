import type { Pod } from '../protocol/api-types.ts';
import { addAmounts, amountsOf } from './resource-amounts.ts';
import type { Amounts, ResourceList } from './resource-amounts.ts';

/** `status.qosClass`. */
export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const COMPUTE = ['cpu', 'memory'];

function computeAmounts(list: ResourceList | undefined): Amounts {
  const out: Amounts = {};
  for (const [name, value] of Object.entries(amountsOf(list)))
    if (COMPUTE.includes(name) && value > 0n) out[name] = value;
  return out;
}

/**
 * The pod's QoS class: `status.qosClass` when it has one, otherwise computed. Pod-level resources decide alone
 * when `spec.resources` is there (KEP-2837); ephemeral containers never count.
 */
export function podQosClass(pod: Pod): QosClass {
  const set = pod.status?.qosClass;
  return set === 'Guaranteed' || set === 'Burstable' || set === 'BestEffort' ? set : computeQosClass(pod);
}

/** The QoS class by the spec alone. */
function computeQosClass(pod: Pod): QosClass {
  const requests: Amounts = {};
  const limits: Amounts = {};
  let guaranteed = true;
  const take = (resources: { requests?: ResourceList; limits?: ResourceList } | undefined): void => {
    addAmounts(requests, computeAmounts(resources?.requests));
    const own = computeAmounts(resources?.limits);
    addAmounts(limits, own);
    if (COMPUTE.some((name) => own[name] === undefined)) guaranteed = false;
  };
  const podLevel = pod.spec?.resources;
  if (podLevel) {
    // Without any limit the pod is not guaranteed either: its requests then have no equal limit.
    if (Object.keys(podLevel.limits ?? {}).length > 0) take(podLevel);
    else addAmounts(requests, computeAmounts(podLevel.requests));
  } else {
    for (const container of [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])])
      take(container.resources);
  }
  const asked = Object.keys(requests);
  if (asked.length === 0 && Object.keys(limits).length === 0) return 'BestEffort';
  const equal = asked.length === Object.keys(limits).length && asked.every((name) => limits[name] === requests[name]);
  return guaranteed && equal ? 'Guaranteed' : 'Burstable';
}
