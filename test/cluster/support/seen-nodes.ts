import type { Node } from './api-objects.ts';

/** Its kubelet says that it is Ready. */
export function isReadyNode({ status }: Node): boolean {
  return status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') === true;
}

/** It is Ready, and no taint keeps pods away. */
export function takesPods(node: Node): boolean {
  return isReadyNode(node) && (node.spec?.taints ?? []).length === 0;
}
