import type { MachineTopology } from '../machine/machine-topology.ts';
import type { ResourceHints, TopologyHint } from './hints.ts';
import type { NodeMask } from './node-mask.ts';
import { isNarrower, maskOf, nodesOf, sizeOf } from './node-mask.ts';
import type { TopologyRules } from './topology-options.ts';

/** A hint that names nodes. */
interface Merged {
  nodes: NodeMask;
  preferred: boolean;
}

/** Which of two sets of nodes is the better one. */
type Fitter = (a: NodeMask, b: NodeMask) => NodeMask;

/**
 * The hint that is best for all resources together, and whether the pod may run with it (kubelet's Policy.Merge).
 * @param all hints of each manager
 */
export function mergeHints(
  rules: TopologyRules,
  machine: MachineTopology,
  all: readonly ResourceHints[],
): { hint: TopologyHint; admit: boolean } {
  const { policy } = rules;
  if (policy === 'none') return { hint: { nodes: null, preferred: false }, admit: true };
  const everywhere = maskOf(machine.nodes.map(({ id }) => id));
  const listed = all.flatMap(listsOf);
  if (policy !== 'single-numa-node') {
    const fitter = rules.preferClosest ? closest(machine) : narrowest;
    const hint = best(everywhere, listed, fitter);
    return { hint, admit: policy === 'best-effort' || hint.preferred };
  }
  const single = listed.map((hints) => hints.filter(isSingle));
  const { nodes, preferred } = best(everywhere, single, narrowest);
  return { hint: { nodes: nodes === everywhere ? null : nodes, preferred }, admit: preferred };
}

/** A list for each resource: who has no preference takes any node gladly, who can have nothing takes any without gladness. */
function listsOf(hints: ResourceHints): (readonly TopologyHint[])[] {
  const lists = Object.values(hints ?? {});
  if (lists.length === 0) return [[{ nodes: null, preferred: true }]];
  return lists.map((list) => (list.length === 0 ? [{ nodes: null, preferred: false }] : list));
}

function isSingle({ nodes, preferred }: TopologyHint): boolean {
  return preferred && (nodes === null || sizeOf(nodes) === 1);
}

function narrowest(a: NodeMask, b: NodeMask): NodeMask {
  return isNarrower(a, b) ? a : b;
}

/** Of as many nodes those that are nearer to each other (option prefer-closest-numa-nodes). */
function closest(machine: MachineTopology): Fitter {
  const rows = new Map(machine.nodes.map(({ id, distances }) => [id, distances ?? []]));
  const average = (mask: NodeMask): number => {
    const nodes = nodesOf(mask);
    let sum = 0;
    for (const from of nodes) for (const to of nodes) sum += rows.get(from)?.[to] ?? 0;
    return nodes.length === 0 ? 0 : sum / (nodes.length * nodes.length);
  };
  return (a, b) => {
    if (sizeOf(a) !== sizeOf(b)) return narrowest(a, b);
    const [left, right] = [average(a), average(b)];
    if (left === right) return a < b ? a : b;
    return left < right ? a : b;
  };
}

/** Which hints can come of one for each resource: never the same one twice, however many ways lead to it. */
function combined(everywhere: NodeMask, lists: readonly (readonly TopologyHint[])[]): Merged[] {
  // Preferred stays what names the same nodes all along; `first`: the nodes that were named first, null when none were.
  let gladly = new Map<NodeMask | null, NodeMask>([[null, everywhere]]);
  let otherwise = new Set<NodeMask>();
  for (const hints of lists) {
    const [nextGladly, next] = [new Map<NodeMask | null, NodeMask>(), new Set<NodeMask>()];
    for (const { nodes, preferred } of hints) {
      for (const [first, mask] of gladly) {
        const merged = nodes === null ? mask : mask & nodes;
        const same = nodes === null || first === null || nodes === first;
        if (preferred && same) nextGladly.set(first ?? nodes, merged);
        else next.add(merged);
      }
      for (const mask of otherwise) next.add(nodes === null ? mask : mask & nodes);
    }
    [gladly, otherwise] = [nextGladly, next];
  }
  return [
    ...Array.from(gladly.values(), (nodes) => ({ nodes, preferred: true })),
    ...Array.from(otherwise, (nodes) => ({ nodes, preferred: false })),
  ];
}

function best(everywhere: NodeMask, lists: readonly (readonly TopologyHint[])[], fitter: Fitter): Merged {
  const aim = mostOfLeast(lists);
  let found: Merged | null = null;
  for (const candidate of combined(everywhere, lists)) found = better(found, candidate, aim, fitter);
  return found ?? { nodes: everywhere, preferred: false };
}

/** How many nodes the resource needs that needs most: what no node is preferred for should not get less. */
function mostOfLeast(lists: readonly (readonly TopologyHint[])[]): number {
  const least = lists.map((hints) =>
    hints.flatMap(({ nodes }) => (nodes === null ? [] : [sizeOf(nodes)])).reduce((a, b) => Math.min(a, b), Infinity),
  );
  return Math.max(0, ...least.filter(Number.isFinite));
}

function better(current: Merged | null, candidate: Merged, aim: number, fitter: Fitter): Merged | null {
  if (candidate.nodes === 0) return current;
  if (current === null) return candidate;
  if (candidate.preferred !== current.preferred) return candidate.preferred ? candidate : current;
  const fitting = (): Merged => (fitter(current.nodes, candidate.nodes) === current.nodes ? current : candidate);
  const [now, then] = [sizeOf(current.nodes), sizeOf(candidate.nodes)];
  if (current.preferred || now > aim || now === then) return fitting();
  // As near to the aim as can be, and rather below it.
  if (now === aim || then > aim) return current;
  return then > now ? candidate : current;
}
