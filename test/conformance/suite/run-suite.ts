import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemPath } from '../../../cri/private-containerd/run-command.ts';
import { clusterTool } from '../../cluster/support/cluster-tool.ts';
import { stopOnSignal } from '../../cluster/support/end-with-test.ts';
import { readGinkgoReport } from './ginkgo-report.ts';
import type { SuiteRun } from './spec-result.ts';

/** Short: the suite's drivers make sockets below the node's folder, with a pod's UID in their names, and a socket's path has 107 bytes at most. */
export const NODE_NAME = 'n1';

/** Which specs to run, and how. */
export interface SuiteWish {
  kubeconfig: string;
  /** The agent's `--root-dir`, for specs whose pods look into it; its usual one unless told. */
  agentRoot?: string;
  /** The suite of nodes: how it reaches the API server and the node's runtime. */
  node?: { server: string; token: string; endpoint: string };
  /** Further flags of the suite. */
  flags?: readonly string[];
  /** Regular expressions over the specs' full names, as ginkgo takes them. */
  focus: readonly string[];
  skip: readonly string[];
  /** Specs at a time. */
  procs: number;
  /** Minutes after which the run is ended. */
  timeoutMinutes: number;
  /** Folder for the suite's log and reports. */
  out: string;
  /** Hears each spec that failed while the run goes on. */
  onLine?: (line: string) => void;
}

/**
 * Runs Kubernetes' end-to-end suite against a cluster. Rejects when the suite made no report, e.g. because it could not
 * reach the cluster; specs that fail are results, not errors.
 */
export async function runSuite(wish: SuiteWish): Promise<SuiteRun> {
  const name = wish.node === undefined ? 'e2e.test' : 'e2e_node.test';
  const [ginkgo, suite] = await Promise.all([clusterTool('ginkgo'), clusterTool(name)]);
  await mkdir(wish.out, { recursive: true });
  const log = join(wish.out, 'log');
  const began = performance.now();
  const argv = [
    ...[`-procs=${wish.procs}`, `--timeout=${wish.timeoutMinutes}m`, '--no-color', '--silence-skips'],
    ...[`--output-dir=${wish.out}`, '--json-report=report.json'],
    ...wish.focus.map((expression) => `--focus=${expression}`),
    ...wish.skip.map((expression) => `--skip=${expression}`),
    ...[suite, '--', '--dump-logs-on-failure=false', `--report-dir=${wish.out}`],
    ...(wish.node === undefined ? clusterFlags(wish) : await nodeFlags(wish.node, wish.out)),
    ...(wish.flags ?? []),
  ];
  await ended(ginkgo, argv, log, wish.onLine);
  const seconds = Math.round((performance.now() - began) / 1000);
  const report = await readFile(join(wish.out, 'report.json'), 'utf8').catch(() => undefined);
  if (report === undefined) {
    throw new Error(`the suite made no report; the end of ${log}:\n${(await readFile(log, 'utf8')).slice(-2000)}`);
  }
  return { ...readGinkgoReport(report), seconds };
}

function clusterFlags({ kubeconfig, agentRoot }: SuiteWish): string[] {
  return [
    ...['--kubeconfig', kubeconfig, '--provider=skeleton', '--node-os-distro=debian'],
    ...['--allowed-not-ready-nodes=0', '--system-pods-startup-timeout=10s'],
    ...(agentRoot === undefined ? [] : ['--kubelet-root-dir', agentRoot]),
  ];
}

/** Its own services are not started: control plane and agent are there. What it asks of the machine's kernel is not its subject here. */
async function nodeFlags({ server, token, endpoint }: NonNullable<SuiteWish['node']>, out: string): Promise<string[]> {
  const systemSpec = join(out, 'system-spec.json');
  await writeFile(systemSpec, JSON.stringify({ OS: 'Linux', KernelSpec: { Versions: ['.*'] } }));
  return [
    ...['--host', server, '--bearer-token', token, '--node-name', NODE_NAME, '--container-runtime-endpoint', endpoint],
    ...['--start-services=false', '--stop-services=false', '--prepull-images=false', '--system-spec-file', systemSpec],
  ];
}

/** Runs ginkgo in a process group of its own, so that its parallel processes end with it when we are stopped. */
async function ended(
  program: string,
  argv: readonly string[],
  log: string,
  onLine: SuiteWish['onLine'],
): Promise<void> {
  const child = spawn(program, argv, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: systemPath(), HOME: process.env['HOME'] ?? '/root' },
  });
  const over = new Promise<void>((resolve, reject) => {
    child.once('close', () => resolve());
    child.once('error', reject);
  });
  const forget = stopOnSignal(async () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await over.catch(() => undefined);
  });
  const file = createWriteStream(log);
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (/^\s*\[(FAIL|TIMEDOUT|PANICKED)\]/.test(line)) onLine?.(line.trim());
  });
  try {
    await over;
  } finally {
    forget();
    file.end();
  }
}
