import type { Container, Pod } from '../protocol/api-types.ts';
import type { ObservedPod } from '../protocol/observed.ts';
import { ANNOTATION } from '../protocol/runtime-labels.ts';

/**
 * The pod as far as the runtime's labels and annotations tell it (kubelet's restoreSpecsFromContainerLabels):
 * enough to stop its containers and to find its cgroup and folders.
 */
export function orphanPod(observed: ObservedPod): Pod {
  const names = [...new Set(observed.containers.map((c) => c.name))];
  const graces = observed.containers
    .map((c) => Number(c.annotations[ANNOTATION.terminationGracePeriod]))
    .filter((n) => Number.isFinite(n) && n >= 0);
  const containers: Container[] = names.map((name) => ({
    name,
    image: observed.containers.find((c) => c.name === name)?.image ?? '',
  }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: observed.name, namespace: observed.namespace, uid: observed.uid, annotations: {}, labels: {} },
    spec: {
      containers,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: graces.length > 0 ? Math.max(...graces) : 30,
      ...(observed.sandboxes[0]?.hostNetwork === true && { hostNetwork: true }),
    },
  };
}
