import { podOf, runs } from '../../containerd/agent/support/test-pod.ts';
import type { ContainerWish } from '../../containerd/agent/support/test-pod.ts';
import type { Manifest } from './api-objects.ts';

/** A pod template of busybox containers with the label `app`; `more` are further fields of the spec. */
export function template(app: string, containers: readonly ContainerWish[] = [runs('c')], more: object = {}): object {
  const spec = { terminationGracePeriodSeconds: 5, automountServiceAccountToken: false, containers, ...more };
  return { metadata: { labels: { app } }, spec };
}

/** A workload with the selector of {@link template}; `more` are further fields of its spec. */
export function workload(kind: string, name: string, podTemplate: object, more: object = {}): Manifest {
  return {
    kind,
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, template: podTemplate, ...more },
  };
}

/** A pod for the API server; without a token volume unless `more` says so. */
export function apiPod(
  name: string,
  containers: readonly ContainerWish[],
  more: Record<string, unknown> = {},
  metadata: Record<string, unknown> = {},
): Manifest {
  const spec = { automountServiceAccountToken: false, ...more };
  return podOf(name, containers, spec, metadata) as Manifest;
}
