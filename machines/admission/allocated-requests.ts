import type { Container, ContainerStatus, Pod } from '../protocol/api-types.ts';
import { isSidecar, podRequests } from '../qos/pod-resources.ts';
import type { Amounts, ResourceList } from '../qos/resource-amounts.ts';
import { compareQuantities, isQuantity } from '../values/quantity.ts';

/**
 * Requests that an admitted pod holds: while a resize in place is under way (KEP-1287), the greatest of what its spec
 * asks, what it was given and what its containers have now.
 */
export function allocatedRequests(pod: Pod): Amounts {
  return podRequests(withStatus(pod));
}

function withStatus(pod: Pod): Pod {
  const { spec, status } = pod;
  const states = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  if (!spec || !(status?.resources || states.some((state) => state.resources))) return pod;
  const condition = status?.conditions?.find((each) => each.type === 'PodResizePending');
  const infeasible = condition?.reason === 'Infeasible';
  const effective = (container: Container): Container => {
    const state = states.find((each) => each.name === container.name);
    if (!state?.resources) return container;
    return { ...container, resources: { ...container.resources, requests: held(container, state, infeasible) } };
  };
  const whole = status?.resources && spec.resources && held(spec, status, infeasible);
  return {
    ...pod,
    spec: {
      ...spec,
      // Only what is asked for the whole pod, and not what was told of its containers' sum.
      ...(whole && {
        resources: {
          ...spec.resources,
          requests: Object.fromEntries(Object.entries(whole).filter(([name]) => spec.resources?.requests?.[name])),
        },
      }),
      containers: spec.containers.map(effective),
      ...(spec.initContainers
        ? { initContainers: spec.initContainers.map((each) => (isSidecar(each) ? effective(each) : each)) }
        : {}),
    },
  };
}

/** A resize that will never be done does not count with what its spec asks. */
function held(
  { resources }: Pick<Container, 'resources'>,
  state: Pick<ContainerStatus, 'resources' | 'allocatedResources'>,
  infeasible: boolean,
): ResourceList {
  const most: ResourceList = infeasible ? {} : { ...resources?.requests };
  for (const list of [state.resources?.requests, state.allocatedResources]) {
    for (const [name, quantity] of Object.entries(list ?? {})) {
      if (!isQuantity(quantity)) continue;
      const now = most[name];
      if (now === undefined || !isQuantity(now) || compareQuantities(quantity, now) > 0) most[name] = quantity;
    }
  }
  return most;
}
