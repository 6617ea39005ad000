import type { ClusterNode } from '../cluster/support/cluster-node.ts';

/** What ran, in the node object's own words. */
export async function versionsOf(node: ClusterNode): Promise<Record<string, string>> {
  const info = (await node.object())?.status?.nodeInfo;
  return {
    agent: `${node.kind} ${info?.kubeletVersion ?? ''}`,
    runtime: info?.containerRuntimeVersion ?? '',
    kernel: info?.kernelVersion ?? '',
    system: info?.osImage ?? '',
  };
}
