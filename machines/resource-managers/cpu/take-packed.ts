import type { CpuOrder } from './cpu-accumulator.ts';
import { CpuAccumulator } from './cpu-accumulator.ts';
import type { CpuSet } from './cpu-set.ts';
import type { CpuTopology } from './cpu-topology.ts';

/** Thrown when CPUs cannot be found, in kubelet's words. */
export class CpuShortage extends Error {}

/** What kubelet says when there are too few. */
export function tooFew(requested: number, available: number): CpuShortage {
  return new CpuShortage(
    `not enough cpus available to satisfy request: requested=${requested}, available=${available}`,
  );
}

/**
 * Takes so many of the available CPUs, as close together as can be (kubelet's takeByTopologyNUMAPacked): whole nodes and sockets,
 * uncore caches where that is wished, whole cores, single CPUs.
 *
 * @throws CpuShortage
 */
export function takePacked(
  topology: CpuTopology,
  available: CpuSet,
  wanted: number,
  order: CpuOrder,
  byUncore: boolean,
): CpuSet {
  const sum = new CpuAccumulator(topology, available, wanted, order);
  if (sum.satisfied) return sum.taken;
  if (sum.hopeless) throw tooFew(wanted, available.size);
  sum.takeWhole();
  if (!sum.satisfied && byUncore) sum.takeUncores();
  if (!sum.satisfied && order === 'packed') sum.takeCores();
  if (!sum.satisfied) sum.takeRest();
  if (sum.satisfied) return sum.taken;
  throw new CpuShortage('failed to allocate cpus');
}
