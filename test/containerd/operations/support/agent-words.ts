import type { TestNode } from '../../agent/support/test-node.ts';

/** Lines of the agents' logs that speak of a disk that refuses to be written. */
const REFUSED = /ENOSPC|EROFS|no space left|read-only file system/i;

/**
 * How often the agents' logs speak of a disk that refuses: by message, with numbers and ids taken out. Events, which
 * Kubernetes counts by itself, are under `Event occurred`.
 */
export async function refusals(node: TestNode): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const line of await node.agentLog()) {
    if (!REFUSED.test(JSON.stringify(line))) continue;
    const about = line['reason'] === undefined ? line['err'] : line['reason'];
    const text = `${String(line['msg'])}: ${String(about ?? '')}`.replace(/[0-9a-f]{6,}|\d+/g, '#');
    counts[text] = (counts[text] ?? 0) + 1;
  }
  return counts;
}

/** Lines of the agents' logs with this message. */
export async function linesSaying(node: TestNode, message: string): Promise<string[]> {
  return (await node.agentLog()).filter((line) => line['msg'] === message).map((line) => JSON.stringify(line));
}
