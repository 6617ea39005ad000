/** What stands for the node in the name of a static pod, where both sides' pods are spoken of. */
export const NODE = 'NODE';

/** The name of a pod on both sides, of the one it has on this node: a static pod's ends with its node's. */
export function knownName(name: string, node: string): string {
  return name.replace(node, NODE);
}

/** The name of a pod on this node, of the one it has on both sides. */
export function ownName(known: string, node: string): string {
  return known.replace(NODE, node);
}
