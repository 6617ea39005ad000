import type { NodeStats, PodStats } from '../../../actors/resources/stats/summary.ts';

/** The node's stats as a runtime or kernel that is not itself tells them; `lie` chooses how. */
export function nodeLie(node: NodeStats, lie: number): NodeStats {
  const { fs, memory } = node;
  switch (lie % 6) {
    case 0:
      return { ...node, memory: { time: memory?.time ?? 0 } };
    case 1:
      return { ...node, fs: { time: fs?.time ?? 0, capacityBytes: 0, availableBytes: 0 } };
    case 2:
      return { ...node, memory: { ...memory, time: 0, availableBytes: 2 ** 45, workingSetBytes: 0 } };
    case 3:
      return { nodeName: node.nodeName, startTime: 0 };
    case 4:
      return { ...node, rlimit: { time: null, maxpid: 10, curproc: 20 } };
    default:
      return node;
  }
}

/** The same of pods: one is missing, nothing is known of their containers, or all take nothing. */
export function podsLie(pods: readonly PodStats[], lie: number): PodStats[] {
  switch (lie % 4) {
    case 0:
      return pods.filter((_, i) => i !== lie % pods.length);
    case 1:
      return pods.map(({ podRef, startTime }) => ({ podRef, startTime, containers: [] }));
    case 2:
      return pods.map((pod) => ({ ...pod, memory: { time: null }, process_stats: { process_count: 0 } }));
    default:
      return [...pods];
  }
}
