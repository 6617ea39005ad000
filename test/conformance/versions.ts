import type { SuiteNode } from './conformance-node.ts';

/** What ran, in the node object's own words. */
export async function versionsOf(node: SuiteNode): Promise<Record<string, string>> {
  const info = (await node.object())?.status?.nodeInfo;
  return {
    agent: `${node.kind} ${info?.kubeletVersion ?? ''}`,
    runtime: info?.containerRuntimeVersion ?? '',
    kernel: info?.kernelVersion ?? '',
    system: info?.osImage ?? '',
  };
}
