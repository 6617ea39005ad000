import type { Container, Pod } from '../../protocol/api-types.ts';
import { hasPodLevelResources, isSidecar } from '../../qos/pod-resources.ts';
import { podQosClass } from '../../qos/qos-class.ts';
import { amountsOf, milli, units } from '../../qos/resource-amounts.ts';

/** All containers that managers give something to, init containers first. */
export function managedContainers({ spec }: Pod): Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

/** Does it run and end before the containers of the pod start? */
export function isPlainInit({ spec }: Pod, name: string): boolean {
  const found = spec?.initContainers?.find((each) => each.name === name);
  return found !== undefined && !isSidecar(found);
}

/** How many CPUs the container is to have alone: those of Guaranteed pods that ask for whole ones; else 0. */
export function exclusiveCpus(pod: Pod, container: Container): number {
  if (podQosClass(pod) !== 'Guaranteed') return 0;
  const { cpu } = amountsOf(container.resources?.requests);
  return units(cpu) * 1000 === milli(cpu) ? units(cpu) : 0;
}

/** How many all of its containers need at once (KEP-753). */
export function exclusiveCpusOfPod(pod: Pod): number {
  let [atStart, sidecars] = [0, 0];
  for (const container of pod.spec?.initContainers ?? []) {
    const asked = exclusiveCpus(pod, container);
    if (isSidecar(container)) sidecars += asked;
    else atStart = Math.max(atStart, sidecars + asked);
  }
  const together = (pod.spec?.containers ?? []).reduce((sum, each) => sum + exclusiveCpus(pod, each), sidecars);
  return Math.max(atStart, together);
}

/** Pods whose resources are set for them as a whole get nothing from the static policies. */
export function isLeftAlone(pod: Pod, podLevelResources: boolean): boolean {
  return podLevelResources && hasPodLevelResources(pod);
}
