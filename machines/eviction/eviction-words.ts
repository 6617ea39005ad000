import type { Candidate, Excess } from './candidates.ts';
import type { Observations } from './observations.ts';
import { signalText } from './observations.ts';
import type { StarvedResource } from './signals.ts';
import { resourceOf } from './signals.ts';
import type { Threshold } from './thresholds.ts';
import { amountText } from './thresholds.ts';

/** `status.reason` of an evicted pod, reason of its event and of a pod that is refused under pressure. */
export const EVICTED = 'Evicted';

/** What is told of an eviction: message of status and event, and the event's annotations. */
export interface EvictionWords {
  message: string;
  annotations: Record<string, string>;
}

/**
 * Kubelet's evictionMessage, word for word; each sentence ends with a space.
 * @param thresholds those that are acted on, the first of the starved resource is named
 */
export function evictionWords(
  resource: StarvedResource,
  pod: Candidate,
  thresholds: readonly Threshold[],
  seen: Observations,
): EvictionWords {
  const annotations: Record<string, string> = {};
  let message = `The node was low on resource: ${resource}. `;
  const met = thresholds.find(({ signal }) => resourceOf(signal) === resource && seen[signal] !== undefined);
  const observed = met && seen[met.signal];
  if (met !== undefined && observed !== undefined) {
    const quantity = amountText(met.value, observed.capacity);
    message += `Threshold quantity: ${quantity}, available: ${signalText(met.signal, observed.available)}. `;
  }
  if (pod.figures === undefined) return { message, annotations };
  if (pod.whole !== undefined) {
    message += `Pod ${using(pod.whole, resource)}`;
    annotations['offending_pod'] = pod.whole.name;
    annotations['offending_pod_usage'] = pod.whole.usage;
  }
  const over = pod.over ?? [];
  for (const container of over) message += `Container ${using(container, resource)}`;
  annotations['offending_containers'] = over.map(({ name }) => name).join(',');
  annotations['offending_containers_usage'] = over.map(({ usage }) => usage).join(',');
  annotations['starved_resource'] = resource;
  return { message, annotations };
}

function using({ name, usage, request }: Excess, resource: StarvedResource): string {
  return `${name} was using ${usage}, request is ${request}, has larger consumption of ${resource}. `;
}
