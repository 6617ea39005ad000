import type { LogLine, TestNode } from '../../agent/support/test-node.ts';

/** Everything of the agents' logs that is a warning, an error, or carries the code of a registry error. */
export async function complaints(node: TestNode): Promise<LogLine[]> {
  return (await node.agentLog()).filter((line) => levelOf(line) >= 40);
}

/** How often each complaint was made; texts with digits, ids and names alike count as one. */
export async function complaintCounts(node: TestNode): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const line of await complaints(node)) {
    const text = `${String(line['msg'])} ${JSON.stringify(line['err'] ?? '')}`.replace(/[0-9a-f]{6,}|\d+/g, '#');
    counts[text] = (counts[text] ?? 0) + 1;
  }
  return counts;
}

function levelOf(line: LogLine): number {
  const { level } = line;
  if (typeof level === 'number') return level;
  const names: Record<string, number> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 };
  return names[String(level)] ?? 0;
}
