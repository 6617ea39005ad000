import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { loadKubeconfig } from '../../../actors/cluster/api/kubeconfig.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { startNode } from '../../../actors/node/node.ts';
import { startThreads } from '../../../actors/pods/shard/shard-pool.ts';
import { freePorts } from '../../../bin/demo-steps/free-ports.ts';
import { breakParts, makePartsBreakable, newestParts } from './faulty-parts.ts';
import type { Broken } from './faulty-parts.ts';
import { OpenTimers, countLeft, warmPool, whatIsLeft } from './what-is-left.ts';
import type { Left } from './what-is-left.ts';

/*
 * A program that starts node after node, all with the same options, and ends each: first a whole one, which tells what parts
 * there are, then one for each fault of each part. Prints what became of each node, one line of JSON for each.
 */

/** What to do. */
export interface Breaking {
  endpoint: string;
  folder: string;
  /** Of an API server; null: standalone nodes. */
  kubeconfig: string | null;
  /** What of all parts is broken, one after the other; none: only the whole node is started. */
  breaks: 'starts' | 'stops' | null;
}

/** What became of a node. */
export interface BrokenNode {
  /** All parts of the node, in the order in which it got them. */
  parts: { name: string; starts: boolean }[];
  broken: readonly Broken[];
  /** Why the start failed; null: it did not, and the node was stopped. */
  error: string | null;
  /** What the node logged at level error. */
  told: string[];
  /** Its pods were told to it. */
  fed: boolean;
  left: Left & { timers: string[] };
}

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'registry.example/a:1' }] },
};

const { endpoint, folder, kubeconfig, breaks } = JSON.parse(process.argv[2] ?? '{}') as Breaking;
const timers = new OpenTimers();
makePartsBreakable();
await warmPool();
let count = 0;
// The first node of a process: what is made once and kept for the next is left by it.
const { parts } = await tell([]);
if (breaks === 'starts')
  for (const { name: part, starts } of parts) {
    await tell([{ part, fault: 'does not start' }]);
    if (starts) await tell([{ part, fault: 'starts and fails' }]);
  }
// Two at once: each has its turn with each of them, and the ends are all asked for in any case.
if (breaks === 'stops')
  for (const [i, { name }] of parts.entries()) {
    const { name: other = '' } = parts[(i + 1) % parts.length] ?? {};
    await tell([
      { part: name, fault: 'stop rejects' },
      { part: other, fault: 'stop hangs' },
    ]);
  }

async function tell(broken: readonly Broken[]): Promise<BrokenNode> {
  const node = await oneNode(broken);
  process.stdout.write(`${JSON.stringify(node)}\n`);
  return node;
}

async function oneNode(broken: readonly Broken[]): Promise<BrokenNode> {
  const before = { counts: countLeft(), timers: timers.ids() };
  const told: string[] = [];
  const outcome = { error: null as string | null, fed: false };
  breakParts(broken);
  try {
    const node = await startNode(await optionsOf(told, () => (outcome.fed = true)));
    await node.stop();
  } catch (error) {
    outcome.error = (error as Error).message;
  }
  const left = { ...(await whatIsLeft(before.counts)), timers: await timers.since(before.timers) };
  return { parts: newestParts(), broken, ...outcome, told, left };
}

/** A node with all that can be switched on without a right to the machine, in a folder of its own. */
async function optionsOf(told: string[], onFed: () => void): Promise<Parameters<typeof startNode>[0]> {
  const dir = join(folder, String(count++));
  mkdirSync(join(dir, 'root'), { recursive: true });
  const [port = 0, healthzPort = 0, readOnlyPort = 0] = await freePorts(3);
  const log = pino({ level: 'error' }, { write: (line: string) => void told.push(line) });
  const { config } = loadConfiguration({ flags: [{ flag: '--fail-cgroupv1', path: 'failCgroupV1', value: false }] });
  return {
    config: {
      ...config,
      featureGates: { EventedPLEG: true },
      cgroupsPerQOS: false,
      makeIPTablesUtilChains: false,
      enforceNodeAllocatable: [],
      podLogsDir: join(dir, 'pod-logs'),
      staticPodPath: join(dir, 'manifests'),
      ...{ address: '127.0.0.1', port, healthzPort, readOnlyPort, enableServer: true },
      authentication: {
        anonymous: { enabled: true },
        webhook: { enabled: false, cacheTTL: 120_000 },
        x509: { clientCAFile: '' },
      },
      authorization: { mode: 'AlwaysAllow', webhook: { cacheAuthorizedTTL: 300_000, cacheUnauthorizedTTL: 30_000 } },
    },
    flags: {
      ...{ configFile: '', configDir: '', rootDir: join(dir, 'root'), certDir: join(dir, 'certs') },
      ...{ kubeconfig: '', bootstrapKubeconfig: '', hostnameOverride: 'node', nodeIPs: ['127.0.0.1'] },
      ...{ nodeLabels: {}, cloudProvider: '', runtimeCgroups: '' },
      ...{ imageCredentialProviderConfig: '', imageCredentialProviderBinDir: '' },
      ...{ lockFile: '', exitOnLockContention: false },
      ...{ minimumContainerTtlDuration: 0, maximumDeadContainers: -1, maximumDeadContainersPerContainer: 1 },
      ...{ experimentalMounterPath: '', experimentalAllocatableIgnoreEviction: false },
    },
    settings: {
      ...{ shards: 1, journalDir: join(dir, 'journal'), journalMaxBytes: 8 << 20 },
      inspect: { host: '127.0.0.1', port: 0 },
      ...{ privateContainerd: 'never', stopPrivateContainerd: false, waitForPluginsMs: 0 },
      devicePluginsDir: join(dir, 'device-plugins'),
    },
    ...(kubeconfig !== null && { kubeconfig: loadKubeconfig(kubeconfig, { log }) }),
    source: {
      name: 'own',
      start: (tellPods) => {
        onFed();
        tellPods([POD]);
      },
    },
    ...{ endpoint, log, workerLog: { format: 'json', verbosity: -1 } },
    containerLogsDir: join(dir, 'container-logs'),
    threads: startThreads(1),
  };
}
