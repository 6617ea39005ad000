/**
 * The agent in a process of its own, for tests: `startNode` with the options of {@link AgentOptions} from the
 * environment, and answers to questions that its parent asks over IPC.
 */
import { mkdirSync } from 'node:fs';
import { BroadcastChannel } from 'node:worker_threads';
import type { Worker } from 'node:worker_threads';
import { loadKubeconfig } from '../../../../actors/cluster/api/kubeconfig.ts';
import { loadConfiguration } from '../../../../actors/configure/configuration/load-configuration.ts';
import { createLogger } from '../../../../actors/record/logging/create-logger.ts';
import { startNode } from '../../../../actors/node/node.ts';
import { trackedPods } from '../../../../machines/supervisor/pod-table.ts';
import type { AgentOptions, Answer, Question } from './agent.ts';
import { HEAP_CHANNEL, measureHeap } from './heap-probe.ts';
import type { HeapQuestion, ThreadHeap } from './heap-probe.ts';
import { breakShard, breakableThreads } from './break-shard.ts';

const options = JSON.parse(process.env['AGENT_OPTIONS'] ?? '{}') as AgentOptions;
const { dir } = options;
const workerLog = { format: 'json', verbosity: options.verbosity ?? 0 } as const;
const log = createLogger(workerLog);
const { config } = loadConfiguration({ flags: [{ flag: '--fail-cgroupv1', path: 'failCgroupV1', value: false }] });
mkdirSync(`${dir}/root`, { recursive: true });

const SHARDS = 2;
const node = await startNode({
  config: {
    ...config,
    // The simulated runtime has events; kubelet's default is not to listen to them.
    featureGates: { EventedPLEG: true },
    // Nothing of the machine is touched: no cgroups, no ports unless asked for, all files below `dir`.
    cgroupsPerQOS: false,
    makeIPTablesUtilChains: false,
    // A standalone node counts its pods, too.
    maxPods: 10_000,
    enforceNodeAllocatable: [],
    podLogsDir: `${dir}/pod-logs`,
    enableServer: false,
    healthzPort: 0,
    readOnlyPort: 0,
    staticPodPath: `${dir}/manifests`,
    ...options.config,
  },
  flags: {
    configFile: '',
    configDir: '',
    rootDir: `${dir}/root`,
    certDir: `${dir}/certs`,
    kubeconfig: '',
    bootstrapKubeconfig: '',
    hostnameOverride: 'node',
    nodeIPs: ['127.0.0.1'],
    nodeLabels: {},
    cloudProvider: '',
    runtimeCgroups: '',
    imageCredentialProviderConfig: '',
    imageCredentialProviderBinDir: '',
    lockFile: '',
    exitOnLockContention: false,
    minimumContainerTtlDuration: 0,
    maximumDeadContainers: -1,
    maximumDeadContainersPerContainer: 1,
    experimentalMounterPath: '',
    experimentalAllocatableIgnoreEviction: false,
  },
  settings: {
    shards: SHARDS,
    journalDir: `${dir}/journal`,
    devicePluginsDir: `${dir}/root/device-plugins`,
    journalMaxBytes: 268_435_456,
    inspect: null,
    privateContainerd: 'never',
    stopPrivateContainerd: false,
    waitForPluginsMs: 0,
    ...options.settings,
  },
  endpoint: options.endpoint,
  ...(options.kubeconfigPath !== undefined && { kubeconfig: loadKubeconfig(options.kubeconfigPath, { log }) }),
  log,
  workerLog,
  containerLogsDir: `${dir}/container-logs`,
  threads: breakableThreads(options.settings?.shards ?? SHARDS),
});

async function answer(question: Question): Promise<unknown> {
  switch (question.ask) {
    case 'rows':
      return node.store.rows();
    case 'pods':
      return node.store.list();
    case 'tracked':
      return trackedPods(node.supervisor.context.pods).length;
    case 'events':
      return node.events.recent();
    case 'metrics':
      return node.metrics.text();
    case 'usage': {
      const { user, system } = process.cpuUsage();
      return {
        cpuMs: Math.round((user + system) / 1000),
        rssMiB: mib(process.memoryUsage.rss()),
        heaps: await heaps(),
      };
    }
    case 'heap':
      return heapsLeft({ ask: question.n, snapshotTo: question.snapshotTo });
    case 'fault':
      breakShard(node.shards, question.shard, question.kind);
      return null;
    case 'stop':
      await node.stop();
      return null;
  }
}

function mib(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

/** `used/total` of the JavaScript heaps, main first, and what lies outside of main's. */
async function heaps(): Promise<string> {
  const { heapUsed, heapTotal, external } = process.memoryUsage();
  const { threads } = (node.shards as unknown as { pool: { threads: Worker[] } }).pool;
  const workers = await Promise.all(threads.map((worker) => worker.getHeapStatistics()));
  const words = workers.map((w) => `${mib(w.used_heap_size)}/${mib(w.total_heap_size)}`);
  return [`${mib(heapUsed)}/${mib(heapTotal)} +${mib(external)}`, ...words].join(', ');
}

/** What is left of each thread's heap, main's first. */
async function heapsLeft(question: HeapQuestion): Promise<ThreadHeap[]> {
  const pool = node.shards as unknown as { pool: { threads: Worker[] }; watch: NodeJS.Timeout; check(): void };
  const expected = pool.pool.threads.length + (node.inspector === null ? 0 : 1);
  // A worker that writes a snapshot is silent for seconds, and is not to be replaced for it.
  clearInterval(pool.watch);
  const channel = new BroadcastChannel(HEAP_CHANNEL);
  const workers: ThreadHeap[] = [];
  await new Promise<void>((resolve) => {
    channel.onmessage = (event) => {
      const heap = (event as { data: ThreadHeap }).data;
      if (heap.ask !== question.ask) return;
      workers.push(heap);
      if (workers.length === expected) resolve();
    };
    channel.postMessage(question);
  });
  channel.close();
  const main = await measureHeap(question);
  pool.watch = setInterval(() => pool.check(), 500);
  return [main, ...workers.sort((a, b) => a.thread - b.thread)];
}

process.on('message', (question: Question) => {
  void answer(question).then((value) => {
    process.send?.({ n: question.n, value } satisfies Answer);
    if (question.ask === 'stop') process.disconnect();
  });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ n: 0, value: 'ready' } satisfies Answer);
