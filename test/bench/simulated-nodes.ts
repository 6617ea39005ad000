import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import type { ApiClient, ApiRequest } from '../../actors/cluster/api/api-client.ts';
import { loadConfiguration } from '../../actors/configure/configuration/load-configuration.ts';
import { NodeFleet } from '../../actors/node/fleet/node-fleet.ts';
import { checkProfile } from '../../actors/node/fleet/profile/read-profile.ts';
import { createMetrics } from '../../actors/record/metrics/metrics-registry.ts';
import { LineQueue } from '../../actors/node/fleet/line-queue.ts';
import { strategicMergePatch } from '../simulated/api/support/patches.ts';

/**
 * What simulated nodes cost this process: memory of a node and of a pod (heap after a full collection, and resident), and CPU when nothing
 * changes. The API server is a stand-in in the same process, which keeps its objects outside the heap. Prints JSON. `node test/bench/simulated-nodes.ts [nodes] [pods a node]`
 */
const [nodes = 100, podsEach = 10] = process.argv.slice(2).map(Number);

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

type Stored = { metadata: Record<string, unknown>; spec?: Record<string, unknown>; status?: Record<string, unknown> };

class StandIn implements ApiClient {
  requests = 0;
  private version = 1;
  /** As bytes, outside the heap: what a real server keeps is not this process's. */
  private readonly objects = new Map<string, Buffer>();
  private readonly watches = new Map<string, Set<LineQueue<unknown>>>();

  put(resource: string, object: Stored): Stored {
    const key = `${resource}/${String(object.metadata['namespace'] ?? '')}/${String(object.metadata['name'])}`;
    const type = this.objects.has(key) ? 'MODIFIED' : 'ADDED';
    const uid = object.metadata['uid'] ?? crypto.randomUUID();
    const stored = { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(++this.version) } };
    const text = JSON.stringify(stored);
    // Events are told, and nobody asks for them.
    if (resource !== 'events') this.objects.set(key, Buffer.from(text));
    // As it would come over the wire.
    for (const queue of this.watches.get(resource) ?? []) queue.put({ type, object: JSON.parse(text) as Stored });
    return JSON.parse(text) as Stored;
  }

  request<T>(request: ApiRequest): Promise<T> {
    this.requests++;
    return Promise.resolve(this.answer(request) as T);
  }

  stream({ on, signal }: ApiRequest): Promise<AsyncIterable<unknown>> {
    const queue = new LineQueue<unknown>();
    const queues = this.watches.get(on.resource) ?? new Set();
    this.watches.set(on.resource, queues.add(queue));
    signal?.addEventListener('abort', () => queue.end(), { once: true });
    return Promise.resolve(queue.read(() => queues.delete(queue)));
  }

  limited(): ApiClient {
    return this;
  }

  close(): void {
    // Nothing is open.
  }

  private answer({ method, on, name, body }: ApiRequest): unknown {
    const { resource, namespace = '' } = on;
    if (method === 'GET' && name === undefined)
      return { metadata: { resourceVersion: String(this.version) }, items: [] };
    const sent = JSON.parse(JSON.stringify(body ?? {})) as Stored;
    if (method === 'POST') return this.put(resource, sent);
    const bytes = this.objects.get(`${resource}/${namespace}/${name ?? ''}`);
    const known = bytes && (JSON.parse(bytes.toString()) as Stored);
    if (method === 'GET') return known;
    // A patch names what changes of a list alone: who replaced the list by it would be told the rest for ever.
    const after = method === 'PATCH' ? (strategicMergePatch(known, sent) as Stored) : sent;
    return this.put(resource, { ...after, metadata: { ...known?.metadata, ...after.metadata } });
  }
}

const dir = mkdtempSync(join(tmpdir(), 'bench-nodes-'));
const { config, gates } = loadConfiguration({ flags: [], cgroupVersion: 2 });
const api = new StandIn();
const heap = (): number => {
  gc();
  gc();
  return process.memoryUsage().heapUsed;
};
const before = { heap: heap(), rss: process.memoryUsage.rss() };
const fleet = new NodeFleet({
  profile: checkProfile({}),
  share: { count: nodes, first: 0 },
  seed: 1,
  api,
  common: {
    config,
    featureGates: gates,
    metrics: createMetrics({ processMetrics: false }),
    agent: 'bench',
    log: pino({ level: 'silent' }),
    flags: {
      ...{ configFile: '', configDir: '', rootDir: dir, certDir: dir, kubeconfig: '', bootstrapKubeconfig: '' },
      ...{ hostnameOverride: '', nodeIPs: [], nodeLabels: {}, cloudProvider: '', runtimeCgroups: '', lockFile: '' },
      ...{ imageCredentialProviderConfig: '', imageCredentialProviderBinDir: '', exitOnLockContention: false },
      ...{ minimumContainerTtlDuration: 0, maximumDeadContainers: -1, maximumDeadContainersPerContainer: 1 },
      ...{ experimentalMounterPath: '', experimentalAllocatableIgnoreEviction: false },
    },
  },
  addressOf: () => '192.0.2.1',
});
await fleet.start();
await until(() => fleet.nodes.every(({ parts }) => parts?.cluster?.node.node() != null));
await sleep(3_000);
const empty = { heap: heap(), rss: process.memoryUsage.rss(), cpu: await idleCpu() };

const began = performance.now();
const cpu = process.cpuUsage();
for (const [i, { name }] of fleet.nodes.entries())
  for (let p = 0; p < podsEach; p++) api.put('pods', podOf(`pod-${i}-${p}`, name));
await until(() => running() === nodes * podsEach);
const seconds = (performance.now() - began) / 1000;
const used = process.cpuUsage(cpu);
await sleep(5_000);
const full = { heap: heap(), rss: process.memoryUsage.rss(), cpu: await idleCpu() };
const pods = nodes * podsEach;
const KIB = 1024;
process.stdout.write(
  `${JSON.stringify(
    {
      nodes,
      pods,
      heapKiBPerNode: Math.round((empty.heap - before.heap) / nodes / KIB),
      residentKiBPerNode: Math.round((empty.rss - before.rss) / nodes / KIB),
      heapKiBPerPod: Math.round(((full.heap - empty.heap) / pods / KIB) * 10) / 10,
      residentMiB: Math.round(full.rss / KIB / KIB),
      idleMsPerNodeSecond: { empty: empty.cpu, withPods: full.cpu },
      cpuMsPerPodStart: Math.round((used.user + used.system) / 10 / pods) / 100,
      podsRunningPerSecond: Math.round(pods / seconds),
    },
    null,
    1,
  )}\n`,
);
await fleet.stop(false);
rmSync(dir, { recursive: true, force: true });
process.exit(0);

/** CPU that this process takes while nothing changes, ms a second and node. */
async function idleCpu(): Promise<number> {
  const from = process.cpuUsage();
  const at = performance.now();
  await sleep(20_000);
  const { user, system } = process.cpuUsage(from);
  return Math.round(((user + system) / 1000 / ((performance.now() - at) / 1000) / nodes) * 1000) / 1000;
}

function running(): number {
  return fleet.nodes.reduce(
    (sum, { parts }) => sum + (parts?.store.list().filter(({ status }) => status?.phase === 'Running').length ?? 0),
    0,
  );
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await sleep(200);
}

function podOf(name: string, nodeName: string): Stored {
  const mount = {
    name: 'kube-api-access-x',
    mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
    readOnly: true,
  };
  return {
    metadata: { name, namespace: 'default', labels: { app: 'web', 'pod-template-hash': '5b689594f9' } },
    spec: {
      nodeName,
      serviceAccountName: 'default',
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: false,
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: ['not-ready', 'unreachable'].map((key) => ({
        ...{ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      })),
      containers: [
        {
          ...{ name: 'c', image: 'nginx:1', imagePullPolicy: 'IfNotPresent', volumeMounts: [mount] },
          ...{ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
          ports: [{ containerPort: 80, protocol: 'TCP' }],
          resources: { requests: { cpu: '100m', memory: '64Mi' } },
          readinessProbe: {
            ...{ httpGet: { path: '/ready', port: 80, scheme: 'HTTP' }, periodSeconds: 10 },
            ...{ timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 },
          },
        },
      ],
      volumes: [{ name: mount.name, emptyDir: {} }],
    },
    status: { phase: 'Pending', qosClass: 'Burstable' },
  };
}
