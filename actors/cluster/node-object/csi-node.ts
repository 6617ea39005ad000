import { foreignCsiNode, initialCsiNode, reconciledCsiNode } from '../../../machines/node-object/csi-node.ts';
import type { CsiNode } from '../../../machines/node-object/csi-node.ts';
import { isAlreadyExists, isNotFound } from '../api/api-client.ts';
import type { ApiClient } from '../api/api-client.ts';

const CSI_NODES = { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes' };

/**
 * Makes the node's CSINode, or puts right the one that is there; one of an earlier machine of this name is replaced. One call
 * each for a new node and for one that is right already. `fresh`: the node object is new. Rejects with ApiStatusError.
 */
export async function ensureCsiNode(
  api: ApiClient,
  node: { name: string; uid: string },
  fresh: boolean,
  signal: AbortSignal,
): Promise<void> {
  const create = () =>
    api.request({ method: 'POST', on: CSI_NODES, body: initialCsiNode(node.name, node.uid), signal });
  if (fresh) {
    try {
      await create();
      return;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
  try {
    const existing = await api.request<CsiNode>({ method: 'GET', on: CSI_NODES, name: node.name, signal });
    if (foreignCsiNode(existing, node) !== null) {
      await api.request({ method: 'DELETE', on: CSI_NODES, name: node.name, signal });
      await create();
      return;
    }
    const right = reconciledCsiNode(existing);
    if (right !== null) await api.request({ method: 'PUT', on: CSI_NODES, name: node.name, body: right, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await create();
  }
}
