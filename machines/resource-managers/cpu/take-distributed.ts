import { CpuAccumulator } from './cpu-accumulator.ts';
import type { CpuOrder } from './cpu-accumulator.ts';
import type { CpuSet } from './cpu-set.ts';
import type { CpuTopology } from './cpu-topology.ts';
import type { Combination } from './combinations.ts';
import { eachCombination } from './combinations.ts';
import { CpuShortage, takePacked, tooFew } from './take-packed.ts';

/** The nodes that share a request evenly, and those that bear what is left over. */
interface Choice {
  nodes: Combination;
  rest: Combination | null;
}

/**
 * Takes so many of the available CPUs evenly from as few NUMA nodes as can share them (kubelet's takeByTopologyNUMADistributed,
 * KEP-2902), in groups of `group` CPUs; packed where that cannot be.
 *
 * @throws CpuShortage
 */
export function takeDistributed(
  topology: CpuTopology,
  available: CpuSet,
  wanted: number,
  group: number,
  order: CpuOrder,
): CpuSet {
  const packed = (from: CpuSet, n: number): CpuSet => takePacked(topology, from, n, order, false);
  if (wanted % group !== 0) return packed(available, wanted);
  const sum = new CpuAccumulator(topology, available, wanted, order);
  if (sum.satisfied) return sum.taken;
  if (sum.hopeless) throw tooFew(wanted, available.size);
  const nodes = sum.nodes();
  const { least, most } = sum.nodesNeeded(group);
  for (let size = least; size <= most; size++) {
    const choice = bestOf(sum, nodes, size, wanted, group);
    if (choice === null) continue;
    takeChosen(sum, choice, wanted, group, packed);
    if (sum.missing > 0)
      throw new CpuShortage(`accounting error, not enough CPUs allocated, remaining: ${sum.missing}`);
    if (sum.missing < 0) throw new CpuShortage(`accounting error, too many CPUs allocated, remaining: ${sum.missing}`);
    return sum.taken;
  }
  return packed(available, wanted);
}

function evenShare(wanted: number, nodes: number, group: number): number {
  return Math.floor(Math.floor(wanted / nodes) / group) * group;
}

/** The combination of so many nodes that leaves the machine most even; null when none can share the request. */
function bestOf(
  sum: CpuAccumulator,
  nodes: readonly number[],
  size: number,
  wanted: number,
  group: number,
): Choice | null {
  const free = new Map(nodes.map((node) => [node, sum.freeIn('node', [node]).size]));
  const freeOf = (node: number): number => free.get(node) ?? 0;
  let best = Number.MAX_VALUE;
  let choice: Choice | null = null;
  eachCombination(nodes, size, (combination) => {
    if (best === 0) return 'stop';
    const combo = combination.numbers();
    if (total(combo.map(freeOf)) < wanted) return 'on';
    if (total(combo.map((node) => Math.floor(freeOf(node) / group))) * group < wanted) return 'on';
    const share = evenShare(wanted, combo.length, group);
    if (combo.some((node) => freeOf(node) < share)) return 'on';
    const left = new Map(free);
    for (const node of combo) left.set(node, freeOf(node) - share);
    const { balance, rest } = bestRest(left, combo, wanted - share * combo.length, group);
    if (balance < best) {
      best = balance;
      choice = { nodes: combination, rest };
    }
    return 'on';
  });
  return choice;
}

/** Which of the nodes bear what is left over, so that the machine is most even; on as many as can be. */
function bestRest(
  left: ReadonlyMap<number, number>,
  combo: readonly number[],
  rest: number,
  group: number,
): { balance: number; rest: Combination | null } {
  if (rest === 0) return { balance: deviation([...left.values()]), rest: null };
  const able = combo.filter((node) => (left.get(node) ?? 0) >= group);
  let best: { balance: number; rest: Combination | null } = { balance: Number.MAX_VALUE, rest: null };
  for (let size = able.length; size >= 1; size--) {
    eachCombination(able, size, (subset) => {
      const after = spread(left, subset.numbers(), rest, group);
      if (after === null) return 'on';
      const balance = deviation([...after.values()]);
      if (balance < best.balance) best = { balance, rest: subset };
      return 'on';
    });
  }
  return best;
}

/** What is left when these nodes bear the rest, group by group; null when they cannot (kubelet may never come back from some such). */
function spread(
  left: ReadonlyMap<number, number>,
  nodes: readonly number[],
  rest: number,
  group: number,
): Map<number, number> | null {
  const after = new Map(left);
  const leftOf = (node: number): number => after.get(node) ?? 0;
  if (total(nodes.map(leftOf)) < rest) return null;
  for (let open = rest; open > 0;) {
    const before = open;
    for (const node of nodes) {
      if (open === 0) break;
      if (leftOf(node) < group) continue;
      after.set(node, leftOf(node) - group);
      open -= group;
    }
    if (open === before) return null;
  }
  return after;
}

function takeChosen(
  sum: CpuAccumulator,
  { nodes, rest }: Choice,
  wanted: number,
  group: number,
  packed: (from: CpuSet, n: number) => CpuSet,
): void {
  const chosen = nodes.numbers();
  const share = evenShare(wanted, chosen.length, group);
  const takeOf = (node: number, n: number): void => sum.take(orNone(() => packed(sum.freeIn('node', [node]), n)));
  for (const node of chosen) takeOf(node, share);
  for (let open = wanted - share * chosen.length; open > 0;) {
    const before = open;
    for (const node of rest?.numbers() ?? []) {
      if (open === 0) break;
      if (sum.freeIn('node', [node]).size < group) continue;
      takeOf(node, group);
      open -= group;
    }
    if (open === before) return;
  }
}

/** A node that cannot give its share gives nothing: the sum is checked at the end. */
function orNone(take: () => CpuSet): CpuSet {
  try {
    return take();
  } catch (error) {
    if (error instanceof CpuShortage) return new Set();
    throw error;
  }
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** Standard deviation, rounded to thousandths on the way as kubelet does. */
function deviation(numbers: readonly number[]): number {
  const mean = thousandths(total(numbers) / numbers.length);
  const squares = numbers.map((each) => (each - mean) * (each - mean));
  return thousandths(Math.sqrt(total(squares) / numbers.length));
}

function thousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
