import type { Pod } from '../protocol/api-types.ts';
import { CONFIG_HASH, CONFIG_MIRROR } from '../sources/annotations.ts';

/** The node that owns a mirror pod. */
export interface OwningNode {
  name: string;
  uid: string;
}

/** Is the pod a mirror pod (annotation `kubernetes.io/config.mirror`)? */
export function isMirrorPod(pod: Pod): boolean {
  return pod.metadata?.annotations?.[CONFIG_MIRROR] !== undefined;
}

/** `namespace/name`, which a static pod shares with its mirror pod. */
export function fullName(pod: Pod): string {
  return `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
}

/** What names the version of a static pod: annotation `kubernetes.io/config.hash`. */
export function hashOf(pod: Pod): string {
  return pod.metadata?.annotations?.[CONFIG_HASH] ?? pod.metadata?.uid ?? '';
}

/**
 * The mirror pod of a static pod, as it is created: the same name, labels, annotations, finalizers and spec; the hash as mirror
 * annotation; owned by the node, as NodeRestriction demands (KEP-1314). The API server gives it a UID of its own. (Kubelet sends all
 * of the pod's metadata; what is left out here the API server sets itself.)
 */
export function mirrorPodOf(pod: Pod, node: OwningNode): Pod {
  const { name, namespace, labels, annotations, finalizers } = pod.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      ...(labels && { labels }),
      annotations: { ...annotations, [CONFIG_MIRROR]: hashOf(pod) },
      ...(finalizers && { finalizers }),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid, controller: true }],
    },
    ...(pod.spec && { spec: pod.spec }),
  };
}
