import type { Container, Pod } from '../../protocol/api-types.ts';
import { isSidecar } from '../../qos/pod-resources.ts';
import { amountsOf } from '../../qos/resource-amounts.ts';
import { Refusal } from '../refusal.ts';

const NANO = 1_000_000_000n;
const MOST = 2n ** 63n - 1n;

/** Bytes by resource: memory and huge pages, in the order of their names. */
export type MemoryRequests = ReadonlyMap<string, number>;

/**
 * What memory the container asks for.
 * @throws Refusal for what is no whole number of bytes
 */
export function requestedMemory(container: Container): MemoryRequests {
  const out = new Map<string, number>();
  for (const [name, amount] of Object.entries(amountsOf(container.resources?.requests)).sort(byName)) {
    if (name !== 'memory' && !name.startsWith('hugepages-')) continue;
    if (amount % NANO !== 0n || amount / NANO > MOST) {
      throw new Refusal('[memorymanager] failed to represent quantity as int64');
    }
    out.set(name, Number(amount / NANO));
  }
  return out;
}

/** What all containers of the pod need at once (KEP-753). @throws Refusal */
export function requestedMemoryOfPod({ spec }: Pod): MemoryRequests {
  const [atStart, sidecars, apps] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const of = (map: ReadonlyMap<string, number>, name: string): number => map.get(name) ?? 0;
  for (const container of spec?.initContainers ?? []) {
    for (const [name, size] of requestedMemory(container)) {
      if (isSidecar(container)) sidecars.set(name, of(sidecars, name) + size);
      else atStart.set(name, Math.max(of(atStart, name), of(sidecars, name) + size));
    }
  }
  for (const container of spec?.containers ?? []) {
    for (const [name, size] of requestedMemory(container)) apps.set(name, of(apps, name) + size);
  }
  const names = [...apps.keys()].sort();
  return new Map(names.map((name) => [name, Math.max(of(apps, name) + of(sidecars, name), of(atStart, name))]));
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
