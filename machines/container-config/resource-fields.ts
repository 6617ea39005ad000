import type { Container, Pod } from '../protocol/api-types.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { hasPodLevelLimits } from '../qos/pod-resources.ts';
import { amountsOf, milli, units } from '../qos/resource-amounts.ts';
import type { Amounts } from '../qos/resource-amounts.ts';
import type { FieldValue } from './downward-fields.ts';

/** `resourceFieldRef`; `divisor` is a quantity, "1" by default. */
export interface ResourceFieldRef {
  containerName?: string;
  resource: string;
  divisor?: string;
}

const NAMED = ['cpu', 'memory', 'ephemeral-storage'];

/** What a container without a limit may use: the node's allocatable resources. */
function nodeAllocatable(settings: Pick<NodeSettings, 'allocatable'>): Amounts {
  const { cpuMilli, memoryBytes, ephemeralStorageBytes } = settings.allocatable;
  return {
    cpu: BigInt(Math.round(cpuMilli)) * 1_000_000n,
    memory: BigInt(Math.round(memoryBytes)) * 1_000_000_000n,
    'ephemeral-storage': BigInt(Math.round(ephemeralStorageBytes)) * 1_000_000_000n,
  };
}

/**
 * `resourceFieldRef` of an env variable. Without a limit of its own a container shows the pod's (KEP-2837) and
 * otherwise the node's allocatable; another container's only when it is a regular one, as in the kubelet.
 */
export function envResourceValue(
  ref: ResourceFieldRef,
  pod: Pod,
  container: Container,
  settings: Pick<NodeSettings, 'allocatable'>,
): FieldValue {
  const most = nodeAllocatable(settings);
  if (hasPodLevelLimits(pod)) {
    const own = amountsOf(pod.spec?.resources?.limits);
    for (const name of ['cpu', 'memory']) if (own[name]) most[name] = own[name];
  }
  if (!ref.containerName) return resourceValue(ref, container, most);
  const regular = pod.spec?.containers.find((c) => c.name === ref.containerName);
  if (regular) return resourceValue(ref, regular, most);
  const init = pod.spec?.initContainers?.find((c) => c.name === ref.containerName);
  return init ? resourceValue(ref, init, {}) : { fault: `container ${ref.containerName} not found` };
}

/** `resourceFieldRef` of a downward API volume: any container of the pod, the node's allocatable as its limit. */
export function volumeResourceValue(
  ref: ResourceFieldRef,
  pod: Pod,
  settings: Pick<NodeSettings, 'allocatable'>,
): FieldValue {
  const name = ref.containerName ?? '';
  const all = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const container = all.find((c) => c.name === name);
  return container
    ? resourceValue(ref, container, nodeAllocatable(settings))
    : { fault: `container ${name} not found` };
}

function resourceValue(ref: ResourceFieldRef, container: Container, defaultLimits: Amounts): FieldValue {
  const [kind, ...rest] = ref.resource.split('.');
  const name = rest.join('.');
  const known = NAMED.includes(name) || name.startsWith('hugepages-');
  if ((kind !== 'limits' && kind !== 'requests') || !known) {
    return { fault: `unsupported container resource : ${ref.resource}` };
  }
  let amount = amountsOf(container.resources?.[kind])[name] ?? 0n;
  if (kind === 'limits' && amount === 0n) amount = defaultLimits[name] ?? 0n;
  const asked = amountsOf({ divisor: ref.divisor ?? '1' })['divisor'] ?? 0n;
  const divisor = asked === 0n ? 1_000_000_000n : asked;
  const round = name === 'cpu' ? milli : units;
  return { value: String(Math.ceil(round(amount) / round(divisor))) };
}
