import { uidEntries } from '../../supervisor/uid-table.ts';
import { CheckpointError } from '../../values/checkpoint-error.ts';
import { maskOf } from '../topology/node-mask.ts';
import { MemoryBook } from './memory-book.ts';
import type { MemoryState, NodeMemory } from './memory-state.ts';

/**
 * Does what was given away before suit the machine and the configuration of now (the static policy's validateState)?
 * Returns the state to begin with.
 * @param born what it is when nothing was given away
 * @throws CheckpointError in kubelet's words
 */
export function checkMemory(born: MemoryState, found: MemoryState): MemoryState {
  const grants = uidEntries(found.pods).flatMap(([uid, own]) => own.map((each) => ({ uid, ...each })));
  if (found.nodes.length === 0) {
    if (grants.length === 0) return born;
    throw new CheckpointError('[memorymanager] machine state can not be empty when it has memory assignments');
  }
  const book = new MemoryBook(born);
  for (const { uid, name, blocks } of grants) {
    for (const { numaAffinity, type, size } of blocks) {
      const who = `[memorymanager] (pod: ${uid}, container: ${name}) the memory assignment uses`;
      for (const id of numaAffinity) {
        const node = born.nodes.find((each) => each.id === id);
        if (node === undefined) throw new CheckpointError(`${who} the NUMA that does not exist`);
        if (!Object.hasOwn(node.memoryMap, type)) {
          throw new CheckpointError(`${who} memory resource that does not exist`);
        }
      }
      book.take(maskOf(numaAffinity), type, size);
    }
  }
  if (sameNodes(found.nodes, book.state.nodes)) return found;
  throw new CheckpointError('[memorymanager] the expected machine state is different from the real one');
}

/** What groups of nodes gave must be the same; which of a group gave it may differ. */
function sameNodes(found: readonly NodeMemory[], expected: readonly NodeMemory[]): boolean {
  if (found.length !== expected.length) return false;
  const others = new Map(expected.map((node) => [node.id, node]));
  const mine = new Map(found.map((node) => [node.id, node]));
  return found.every((node) => {
    const other = others.get(node.id);
    if (other === undefined || node.numberOfAssignments !== other.numberOfAssignments) return false;
    if (sorted(node.cells) !== sorted(other.cells)) return false;
    const names = Object.keys(node.memoryMap);
    if (names.length !== Object.keys(other.memoryMap).length) return false;
    return names.every((name) => {
      const [one, two] = [node.memoryMap[name], other.memoryMap[name]];
      if (one === undefined || two === undefined) return false;
      if (one.total !== two.total || one.systemReserved !== two.systemReserved) return false;
      if (one.allocatable !== two.allocatable) return false;
      const sum = (of: ReadonlyMap<number, NodeMemory>, field: 'free' | 'reserved'): number =>
        node.cells.reduce((all, id) => all + (of.get(id)?.memoryMap[name]?.[field] ?? 0), 0);
      return sum(mine, 'free') === sum(others, 'free') && sum(mine, 'reserved') === sum(others, 'reserved');
    });
  });
}

function sorted(ids: readonly number[]): string {
  return ids.toSorted((a, b) => a - b).join();
}
