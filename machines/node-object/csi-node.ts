import { ownedByNode } from './node-lease.ts';
import type { OwnerReference } from './node-lease.ts';

/** A `storage.k8s.io/v1` CSINode. */
export interface CsiNode {
  apiVersion: 'storage.k8s.io/v1';
  kind: 'CSINode';
  metadata: {
    name: string;
    annotations?: Record<string, string>;
    ownerReferences?: OwnerReference[];
    [f: string]: unknown;
  };
  spec: { drivers: unknown[] | null };
}

const MIGRATED_ANNOTATION = 'storage.alpha.kubernetes.io/migrated-plugins';

/** In-tree plugins that CSI drivers have taken over, all of them since 1.31. */
const MIGRATED = ['aws-ebs', 'azure-disk', 'azure-file', 'cinder', 'gce-pd', 'portworx-volume', 'vsphere-volume']
  .map((name) => `kubernetes.io/${name}`)
  .join(',');

/** The object that tells schedulers and controllers which CSI drivers the node has: none yet. */
export function initialCsiNode(nodeName: string, nodeUid: string): CsiNode {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: {
      name: nodeName,
      annotations: { [MIGRATED_ANNOTATION]: MIGRATED },
      ownerReferences: [ownedByNode(nodeName, nodeUid)],
    },
    spec: { drivers: [] },
  };
}

/** An existing CSINode with the annotation of now; null when it is right already. */
export function reconciledCsiNode(existing: CsiNode): CsiNode | null {
  const tellsNow = new Set((existing.metadata.annotations?.[MIGRATED_ANNOTATION] ?? '').split(','));
  const wanted = MIGRATED.split(',');
  if (tellsNow.size === wanted.length && wanted.every((plugin) => tellsNow.has(plugin))) return null;
  const annotations = { ...existing.metadata.annotations, [MIGRATED_ANNOTATION]: MIGRATED };
  return { ...existing, metadata: { ...existing.metadata, annotations } };
}

/**
 * Why the CSINode of this name is not this node's but an earlier machine's, in kubelet's words (ensureNodeOwnsCSINode); null when it is its own. Such a
 * one is deleted, or the garbage collector would take it later, with the drivers that were written into it.
 */
export function foreignCsiNode({ metadata }: CsiNode, node: { name: string; uid: string }): string | null {
  const owners = (metadata.ownerReferences ?? []).filter(({ kind }) => kind === 'Node');
  if (owners.some(({ name, uid }) => name === node.name && uid === node.uid)) return null;
  const ids = `oldNodeID="${owners.at(-1)?.uid ?? ''}", newNodeID="${node.uid}"`;
  return `CSINode "${metadata.name}" was owned by different node (${ids}), deleted it`;
}
