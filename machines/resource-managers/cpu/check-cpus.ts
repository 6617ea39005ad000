import { uidEntries } from '../../supervisor/uid-table.ts';
import { CheckpointError } from '../../values/checkpoint-error.ts';
import type { CpuState } from './cpu-book.ts';
import { bornShared } from './cpu-ground.ts';
import type { CpuGround } from './cpu-ground.ts';
import type { CpuSet } from './cpu-set.ts';
import { cpuSetText, intersection, parseCpuSetList, sameCpus, union } from './cpu-set.ts';

/**
 * Does what was given away before suit the machine and the configuration of now (the static policy's validateState)?
 * Returns the state to begin with.
 * @throws CheckpointError in kubelet's words
 */
export function checkCpus(ground: CpuGround, found: CpuState): CpuState {
  const { reserved, options } = ground;
  const all = bornShared(ground);
  const shared = parseCpuSetList(found.shared);
  const grants = uidEntries(found.pods).flatMap(([uid, own]) => own.map((each) => ({ uid, ...each })));
  if (shared.size === 0) {
    if (grants.length > 0) throw new CheckpointError('default cpuset cannot be empty');
    return { shared: cpuSetText(all), pods: {} };
  }
  const kept = intersection(reserved, shared);
  if (options.strictReservation && kept.size > 0) {
    throw new CheckpointError(
      `some of strictly reserved cpus: ${quoted(kept)} are present in defaultCpuSet: ${quoted(shared)}`,
    );
  }
  if (!options.strictReservation && !sameCpus(kept, reserved)) {
    throw new CheckpointError(
      `not all reserved cpus: ${quoted(reserved)} are present in defaultCpuSet: ${quoted(shared)}`,
    );
  }
  let known: CpuSet = shared;
  for (const { uid, name, cpus } of grants) {
    const own = parseCpuSetList(cpus);
    if (intersection(shared, own).size > 0) {
      const overlap = `cpuset: ${quoted(own)} overlaps with default cpuset ${quoted(shared)}`;
      throw new CheckpointError(`pod: ${uid}, container: ${name} ${overlap}`);
    }
    known = union(known, own);
  }
  if (!sameCpus(known, all)) {
    const match = `doesn't match with CPUs in state ${quoted(known)}`;
    throw new CheckpointError(`current set of available CPUs ${quoted(all)} ${match}`);
  }
  return found;
}

function quoted(set: CpuSet): string {
  return JSON.stringify(cpuSetText(set));
}
