import type { UidTable } from '../../supervisor/uid-table.ts';

/** Memory of one kind on a NUMA node, bytes. Fields as in kubelet's checkpoint. */
export interface MemoryTable {
  total: number;
  systemReserved: number;
  allocatable: number;
  reserved: number;
  free: number;
}

/** What of a NUMA node's memory was given away. */
export interface NodeMemory {
  id: number;
  numberOfAssignments: number;
  /** By resource: `memory`, `hugepages-2Mi` ... */
  memoryMap: Readonly<Record<string, MemoryTable>>;
  /** The nodes that it gives memory together with, itself among them. */
  cells: readonly number[];
}

/** Memory that a container has. */
export interface MemoryBlock {
  numaAffinity: readonly number[];
  type: string;
  /** Bytes. What an init container had and a later one took over counts with that one. */
  size: number;
}

/** Blocks of a container. */
export interface MemoryGrant {
  name: string;
  blocks: readonly MemoryBlock[];
}

/** Who has memory of which NUMA node, plain JSON. */
export interface MemoryState {
  nodes: readonly NodeMemory[];
  pods: UidTable<readonly MemoryGrant[]>;
}
