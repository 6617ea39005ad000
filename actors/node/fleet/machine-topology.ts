import type { MachineNode, MachineTopology } from '../../../machines/resource-managers/machine/machine-topology.ts';
import type { NodeGroup } from './profile/profile-schema.ts';

/** Distances as ACPI has them: to itself, to any other node. */
const NEAR = 10;
const FAR = 21;

/**
 * How a simulated machine is built: a socket for each NUMA node, among which CPUs (one thread each) and memory are shared out evenly. Null
 * where the profile says nothing of NUMA nodes: nothing is given away by them then.
 */
export function machineTopology({ numa, cpus, memory }: NodeGroup['machine']): MachineTopology | null {
  if (numa === undefined) return null;
  const each = cpus / numa;
  const nodes = Array.from({ length: numa }, (_, id): MachineNode => ({
    id,
    memory: Math.floor(memory / numa),
    hugePages: [],
    cores: Array.from({ length: each }, (_core, i) => ({ socket: id, threads: [id * each + i] })),
    distances: Array.from({ length: numa }, (_node, to) => (to === id ? NEAR : FAR)),
  }));
  return { cpus, sockets: numa, nodes };
}
