import type { MachineTopology } from '../machine/machine-topology.ts';
import { ManagerConfigError } from '../topology/topology-options.ts';
import { hugePageResource } from './huge-page-names.ts';
import type { MemoryState, MemoryTable, NodeMemory } from './memory-state.ts';

/** Bytes that the system keeps, of each NUMA node by resource. */
export type ReservedMemory = readonly { node: number; limits: Readonly<Record<string, number>> }[];

/** What of each node is kept for the system: `reservedMemory` of the configuration against what is reserved of the whole. */
export interface ReservedGiven {
  reservedMemory: ReservedMemory;
  /** Reserved of the whole machine, bytes: system, Kubernetes and hard eviction together. `shown`: as an amount is written. */
  whole: Readonly<Record<string, number>>;
  shown: (bytes: number, like: string) => string;
}

/**
 * Checks what is reserved.
 * @throws ManagerConfigError in kubelet's words
 */
export function checkReserved(machine: MachineTopology, { reservedMemory, whole, shown }: ReservedGiven): void {
  const sums: Record<string, number> = {};
  for (const { node, limits } of reservedMemory) {
    if (!machine.nodes.some(({ id }) => id === node)) {
      const which = `references a NUMA node ${node} that does not exist on this machine`;
      throw new ManagerConfigError(`the reserved memory configuration ${which}`);
    }
    for (const [name, bytes] of Object.entries(limits)) sums[name] = (sums[name] ?? 0) + bytes;
  }
  for (const name of new Set([...Object.keys(sums), ...Object.keys(whole)].sort())) {
    if (name !== 'memory' && !name.startsWith('hugepages-')) continue;
    const [given, wanted] = [sums[name] ?? 0, whole[name] ?? 0];
    if (given === wanted) continue;
    const amounts = `${quoted(shown(given, name))} of type ${quoted(name)} is not equal to the value ${quoted(shown(wanted, name))}`;
    throw new ManagerConfigError(`the total amount ${amounts} determined by Node Allocatable feature`);
  }
  if (!reservedMemory.some(({ limits }) => (limits['memory'] ?? 0) > 0)) {
    throw new ManagerConfigError('[memorymanager] you should specify the system reserved memory');
  }
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Nothing was given away yet. */
export function bornNodes(machine: MachineTopology, reserved: ReservedMemory): NodeMemory[] {
  return machine.nodes.map((node) => {
    const kept = (resource: string): number =>
      reserved.findLast((each) => each.node === node.id && each.limits[resource] !== undefined)?.limits[resource] ?? 0;
    const memoryMap: Record<string, MemoryTable> = {};
    let pages = 0;
    for (const { pageSize, pages: count } of node.hugePages) {
      const [name, total] = [hugePageResource(pageSize * 1024), pageSize * 1024 * count];
      memoryMap[name] = tableOf(total, kept(name), 0);
      pages += total;
    }
    memoryMap['memory'] = tableOf(node.memory, kept('memory'), pages);
    return { id: node.id, numberOfAssignments: 0, memoryMap, cells: [node.id] };
  });
}

function tableOf(total: number, systemReserved: number, elsewhere: number): MemoryTable {
  const allocatable = total - systemReserved - elsewhere;
  return { total, systemReserved, allocatable, reserved: 0, free: allocatable };
}

/** The state of a manager that nobody asked yet. */
export function bornMemory(machine: MachineTopology, reserved: ReservedMemory): MemoryState {
  return { nodes: bornNodes(machine, reserved), pods: {} };
}
