import type { CpuOptions } from './cpu-options.ts';
import type { CpuSet } from './cpu-set.ts';
import { cpuSetText, union, without } from './cpu-set.ts';
import { takeDistributed } from './take-distributed.ts';
import { takePacked } from './take-packed.ts';
import { ManagerConfigError } from '../topology/topology-options.ts';
import type { CpuTopology } from './cpu-topology.ts';
import { cpusPerCore, cpusWithin } from './cpu-topology.ts';

/** What the static policy decides by, as long as the agent lives. */
export interface CpuGround {
  topology: CpuTopology;
  options: CpuOptions;
  /** CPUs that nobody can have alone. */
  reserved: CpuSet;
  /** They and those that share a core with them. */
  reservedCores: CpuSet;
}

/**
 * The ground of a machine.
 * @param count how many CPUs are reserved (system and Kubernetes together, rounded up)
 * @param which `reservedSystemCPUs`; none: the lowest are taken
 * @throws ManagerConfigError in kubelet's words
 */
export function cpuGroundOf(topology: CpuTopology, options: CpuOptions, count: number, which: CpuSet): CpuGround {
  let reserved = which;
  if (which.size === 0) {
    try {
      reserved = takeCpus({ topology, options }, allCpus(topology), count);
    } catch {
      // Told below.
    }
  }
  if (reserved.size !== count) {
    const size = `size of ${cpuSetText(reserved)} did not equal ${count}`;
    throw new ManagerConfigError(`[cpumanager] unable to reserve the required amount of CPUs (${size})`);
  }
  const cores = [...reserved].map((cpu) => {
    const place = topology.places.get(cpu);
    if (place !== undefined) return place.core;
    const why = `unknown CPU ID: ${cpu}`;
    throw new ManagerConfigError(
      `[cpumanager] unable to build the reserved physical CPUs from the reserved set: ${why}`,
    );
  });
  return { topology, options, reserved, reservedCores: union(reserved, cpusWithin(topology.places, 'core', cores)) };
}

/** All CPUs of the machine. */
export function allCpus({ places }: Pick<CpuTopology, 'places'>): CpuSet {
  return new Set(places.keys());
}

/** The shared pool while nobody has a CPU alone. */
export function bornShared({ topology, options, reserved }: CpuGround): CpuSet {
  return options.strictReservation ? without(allCpus(topology), reserved) : allCpus(topology);
}

/** Takes so many CPUs as the options have it. @throws CpuShortage */
export function takeCpus(
  { topology, options }: Pick<CpuGround, 'topology' | 'options'>,
  available: CpuSet,
  count: number,
): CpuSet {
  const order = options.acrossCores ? 'spread' : 'packed';
  if (!options.acrossNodes) return takePacked(topology, available, count, order, options.byUncore);
  const group = options.fullCores ? cpusPerCore(topology) : 1;
  return takeDistributed(topology, available, count, group, order);
}
