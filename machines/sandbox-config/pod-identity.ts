import type { Pod } from '../protocol/api-types.ts';
import { withoutEnd } from '../values/trim.ts';

/** Name, namespace and UID, '' where the pod has none. */
export function podIdentity(pod: Pod): { name: string; namespace: string; uid: string } {
  const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
  return { name, namespace, uid };
}

/** `name_namespace(uid)`, the form of pods in the kubelet's messages. */
export function formatPod(pod: Pod): string {
  const { name, namespace, uid } = podIdentity(pod);
  return `${name}_${namespace}(${uid})`;
}

/** The pod's log folder: `<podLogsDir>/<namespace>_<name>_<uid>`. */
export function podLogDirectory(pod: Pod, podLogsDir: string): string {
  const { name, namespace, uid } = podIdentity(pod);
  return `${withoutEnd(podLogsDir, '/')}/${namespace}_${name}_${uid}`;
}
