import type { Container, PodSandbox } from '../../../cri/generated/runtime/v1/api.ts';
import type { ListedPod } from './observe-pod.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';
import type { PodCounts } from './runtime-counts.ts';

/** The runtime's two lists, by pod UID. */
export interface GroupedLists {
  pods: Map<string, ListedPod>;
  /** One text per pod; it changes when anything that PLEG watches does. */
  lines: Map<string, string>;
  counts: Map<string, PodCounts>;
}

/** Nothing can be asked for by no id, and a plain object cannot hold an entry of this name. */
function isNoId(id: string): boolean {
  return id === '' || id === '__proto__';
}

/** Groups the lists of sandboxes and containers by pod; what carries no pod's label, or has no id to ask for, is left out. */
export function groupByPod(sandboxes: readonly PodSandbox[], containers: readonly Container[]): GroupedLists {
  const pods = new Map<string, ListedPod>();
  const parts = new Map<string, string[]>();
  const counts = new Map<string, { readySandboxes: number; containers: number[] }>();
  const podOf = (labels: Record<string, string>): ListedPod | null => {
    const uid = labels[LABEL.podUid];
    if (uid === undefined) return null;
    let pod = pods.get(uid);
    if (pod === undefined) {
      pod = {
        uid,
        name: labels[LABEL.podName] ?? '',
        namespace: labels[LABEL.podNamespace] ?? '',
        sandboxIds: [],
        containers: [],
      };
      pods.set(uid, pod);
      parts.set(uid, []);
      counts.set(uid, { readySandboxes: 0, containers: [0, 0, 0, 0] });
    }
    return pod;
  };
  for (const s of sandboxes) {
    const pod = isNoId(s.id) ? null : podOf(s.labels);
    if (pod === null) continue;
    pod.sandboxIds.push(s.id);
    parts.get(pod.uid)?.push(`${s.id}:s${s.state}`);
    const count = counts.get(pod.uid);
    if (count !== undefined && s.state === 0) count.readySandboxes++;
  }
  for (const c of containers) {
    const pod = isNoId(c.id) ? null : podOf(c.labels);
    if (pod === null) continue;
    pod.containers.push({ id: c.id, sandboxId: c.podSandboxId });
    parts.get(pod.uid)?.push(`${c.id}:${c.state}`);
    const states = counts.get(pod.uid)?.containers;
    if (states !== undefined) states[c.state] = (states[c.state] ?? 0) + 1;
  }
  // Lists that grew have room for many more, and these are kept until the next look at all.
  for (const pod of pods.values()) {
    pod.sandboxIds = pod.sandboxIds.slice();
    pod.containers = pod.containers.slice();
  }
  const lines = new Map<string, string>();
  for (const [uid, list] of parts) lines.set(uid, list.sort().join(' '));
  return { pods, lines, counts };
}
