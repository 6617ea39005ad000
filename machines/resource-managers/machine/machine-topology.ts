/** Huge pages of one size on a NUMA node. */
export interface NodeHugePages {
  /** KiB. */
  pageSize: number;
  pages: number;
}

/** A physical core. */
export interface MachineCore {
  socket: number;
  /** Logical CPUs, as the kernel numbers them. */
  threads: readonly number[];
  /** Id of the uncore (level 3) cache that it shares with some of its node only; absent when the whole node shares one. */
  uncoreCache?: number;
}

/** A NUMA node with the CPUs and the memory that belong to it. */
export interface MachineNode {
  id: number;
  /** Bytes, huge pages among them. */
  memory: number;
  hugePages: readonly NodeHugePages[];
  cores: readonly MachineCore[];
  /** To each node, in the order of the nodes; null when the kernel does not tell. */
  distances: readonly number[] | null;
}

/** How a machine is built, as cAdvisor's MachineInfo tells it: what CPU, memory and topology managers go by. */
export interface MachineTopology {
  /** Logical CPUs. */
  cpus: number;
  sockets: number;
  nodes: readonly MachineNode[];
}
