/** A set of NUMA nodes: the bit of each is set (kubelet's bitmask). Nodes have ids from 0 to {@link MOST_NODE_ID}. */
export type NodeMask = number;

/** Greatest id of a NUMA node that a mask can hold; kubelet's holds up to 63. */
export const MOST_NODE_ID = 29;

/** @throws RangeError for an id that no mask can hold */
export function maskOf(nodes: Iterable<number>): NodeMask {
  let mask = 0;
  for (const node of nodes) {
    if (!Number.isInteger(node) || node < 0 || node > MOST_NODE_ID)
      throw new RangeError(`bit number must be in range 0-${MOST_NODE_ID}`);
    mask |= 1 << node;
  }
  return mask;
}

/** Its nodes, ascending. */
export function nodesOf(mask: NodeMask): number[] {
  const nodes: number[] = [];
  for (let node = 0; node <= MOST_NODE_ID; node++) if (mask & (1 << node)) nodes.push(node);
  return nodes;
}

/** How many nodes. */
export function sizeOf(mask: NodeMask): number {
  let size = 0;
  for (let left = mask; left !== 0; left &= left - 1) size++;
  return size;
}

/** Fewer nodes; of as many those with lower numbers. */
export function isNarrower(a: NodeMask, b: NodeMask): boolean {
  const [left, right] = [sizeOf(a), sizeOf(b)];
  return left === right ? a < b : left < right;
}

/** All masks of these nodes, those of one node first, each size in the order of the nodes. */
export function masksOf(nodes: readonly number[]): NodeMask[] {
  const masks: NodeMask[] = [];
  const walk = (start: number, left: number, mask: NodeMask): void => {
    if (left === 0) {
      masks.push(mask);
      return;
    }
    for (let i = start; i <= nodes.length - left; i++) walk(i + 1, left - 1, mask | maskOf([nodes[i] ?? 0]));
  };
  for (let size = 1; size <= nodes.length; size++) walk(0, size, 0);
  return masks;
}
