import type { Pod } from '../../../machines/protocol/api-types.ts';

/** What the pages of the kubelet server know of this node's pods. */
export interface NodeView {
  readonly nodeName: string;
  /** All pods with their current status. */
  pods(): readonly Pod[];
  /**
   * The pod of that name with its current status, as kubelet's pod manager finds it. While a pod ends and its successor
   * of the same name waits or runs, it is the successor that sources want. A static pod has its own UID, not its mirror's.
   */
  podNamed(namespace: string, name: string): Pod | undefined;
}
