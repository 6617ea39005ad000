import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clusterTool } from '../cluster/support/cluster-tool.ts';
import { keptRuns } from './kept-results.ts';
import type { SuiteName } from './options.ts';
import { readGinkgoReport } from './suite/ginkgo-report.ts';

/** Names of all specs that a suite would run, as Ginkgo tells when it only pretends to. */
async function specsOf(suite: SuiteName, focus: string, skip: string): Promise<string[]> {
  const program = await clusterTool(suite === 'node' ? 'e2e_node.test' : 'e2e.test');
  const dir = await mkdtemp(join(tmpdir(), 'actorlet-specs-'));
  try {
    const file = join(dir, 'report.json');
    const chosen = [`--ginkgo.focus=${focus}`, ...(skip === '' ? [] : [`--ginkgo.skip=${skip}`])];
    const args = ['--ginkgo.dry-run', '--ginkgo.silence-skips', ...chosen, `--ginkgo.json-report=${file}`];
    await promisify(execFile)(program, args, { cwd: dir, maxBuffer: 1 << 28 });
    return readGinkgoReport(await readFile(file, 'utf8')).results.map(({ name }) => name);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * The specs of a suite that no kept result says the agent has passed with real containers, a line each: `failed`, `skipped` (and why it
 * left itself out), or `no result`, which are those that are worth a look next.
 */
export async function neverPassed(suite: SuiteName, focus: string, skip: string): Promise<string> {
  const known = new Map<string, string>();
  for (const { agent, simulated, results, skipped = [] } of await keptRuns()) {
    if (agent !== 'actorlet' || simulated === true) continue;
    for (const { name, reason } of skipped) if (!known.has(name)) known.set(name, `skipped: ${reason}`);
    for (const { name, state } of results) if (known.get(name) !== 'passed') known.set(name, state);
  }
  const all = await specsOf(suite, focus, skip);
  const left = all.filter((name) => known.get(name) !== 'passed');
  const lines = left.map((name) => `${known.get(name) ?? 'no result'}\t${name}\n`);
  return `${lines.join('')}${all.length - left.length} of ${all.length} specs were passed, ${left.length} not\n`;
}
