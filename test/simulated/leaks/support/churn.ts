import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unmountBelow } from '../../../../actors/host/files/mounts.ts';
import { freePorts } from '../../../../bin/demo-steps/free-ports.ts';
import { startSimulatedRuntime } from '../../../../cri/sim/simulated-runtime.ts';
import type { SimulatedRuntime } from '../../../../cri/sim/simulated-runtime.ts';
import type { SimScript } from '../../../../cri/sim/script.ts';
import type { Pod } from '../../../../machines/protocol/api-types.ts';
import { startAgent } from '../../agent/support/agent.ts';
import type { Agent } from '../../agent/support/agent.ts';
import { PRESENT, until } from '../../agent/support/bench.ts';
import { startFakeApiServer } from '../../api/support/fake-api-server.ts';
import type { FakeApiServer } from '../../api/support/fake-api-server.ts';
import { SHAPES, SIZE_LIMIT, hasItsFate, podOf, staticPodOf } from './shapes.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };
const SECRETS = { group: '', version: 'v1', resource: 'secrets' };
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' };

/** Of all pods of the API: a configMap stays a minute longer than its last pod, so they share one. */
const NAMESPACE = 'churn';

/** Versions that a watch which is opened anew may need. */
const KEPT_CHANGES = 2_000;

const SCRIPT: SimScript = {
  images: [
    PRESENT,
    { image: 'registry.example/none:*', pull: { fail: { code: 'NotFound', message: 'no such image' } } },
  ],
  containers: [
    { match: { container: 'ends' }, attempts: [{ exit: { after: '20ms', code: 0 } }] },
    { match: { container: 'crashes' }, attempts: [{ exit: { after: '20ms', code: 1, message: 'crashed' } }] },
    { match: {}, logs: [{ text: 'hello', every: '1s' }] },
  ],
};

/** Options of {@link Churn.start}. */
export interface ChurnOptions {
  /** Default 8 MiB: segments are begun anew all the time. */
  journalMaxBytes?: number;
  /** The inspector's thread runs, and nobody looks at it. */
  inspect?: boolean;
  /** Of which sorts the pods are, in turn; default {@link SHAPES}. */
  shapes?: readonly string[];
  /** False: heaps cannot be read, and nothing but the agent itself collects garbage. */
  probed?: boolean;
}

/** A whole agent with an API server and a runtime that are not real, through which pods go in rounds. */
export class Churn {
  /** Pods that came and are gone. */
  gone = 0;
  /** UIDs of those of the API, in their order. */
  readonly uids: string[] = [];
  readonly agent: Agent;
  readonly dir: string;
  private readonly sim: SimulatedRuntime;
  private readonly server: FakeApiServer;
  private readonly port: number;
  /** Answers HTTP probes. */
  private readonly probed: http.Server;
  private readonly shapes: readonly string[];
  private round = 0;

  private constructor(
    parts: Pick<Churn, 'agent' | 'dir'> & Record<'sim' | 'server' | 'port' | 'probed', unknown>,
    shapes: readonly string[] = SHAPES,
  ) {
    this.shapes = shapes;
    this.agent = parts.agent;
    this.dir = parts.dir;
    this.sim = parts.sim as SimulatedRuntime;
    this.server = parts.server as FakeApiServer;
    this.port = parts.port as number;
    this.probed = parts.probed as http.Server;
  }

  /** Starts it all; `ends` gets what takes it away again, to be run in order from the end. */
  static async start(ends: (() => unknown)[], options: ChurnOptions = {}): Promise<Churn> {
    const dir = mkdtempSync(join(tmpdir(), 'actorlet-churn-'));
    ends.push(async () => {
      await unmountBelow(dir);
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    });
    const server = await startFakeApiServer({ transport: 'h2' });
    ends.push(() => server.close());
    server.put(CONFIG_MAPS, { metadata: { name: 'shared', namespace: NAMESPACE }, data: { key: 'value' } });
    server.reply({ resource: 'events' }, ({ verb, body }) => ({ code: verb === 'create' ? 201 : 200, body }));
    server.reply({ subresource: 'token' }, () => {
      const expirationTimestamp = new Date(Date.now() + 3_600_000).toISOString();
      return { code: 201, body: { spec: {}, status: { token: 'a.b.c', expirationTimestamp } } };
    });
    const probed = http.createServer((_, response) => response.end('well'));
    await new Promise<void>((resolve) => probed.listen(0, '127.0.0.1', resolve));
    ends.push(() => probed.close());
    const socket = join(dir, 'cri.sock');
    const sim = await startSimulatedRuntime({ socket, script: SCRIPT, seed: 1 });
    ends.push(() => sim.stop());
    const [port = 0] = await freePorts(1);
    const agent = await startAgent({
      dir,
      endpoint: `unix://${socket}`,
      kubeconfigPath: server.kubeconfigPath,
      probed: options.probed ?? true,
      config: {
        ...{ enableServer: true, address: '127.0.0.1', port, fileCheckFrequency: 200 },
        authentication: {
          anonymous: { enabled: true },
          webhook: { enabled: false, cacheTTL: 120_000 },
          x509: { clientCAFile: '' },
        },
        authorization: {
          mode: 'AlwaysAllow',
          webhook: { cacheAuthorizedTTL: 300_000, cacheUnauthorizedTTL: 30_000 },
        },
        // Pods are measured as often as eviction looks.
        volumeStatsAggPeriod: 1_000,
        ...{ kubeAPIQPS: 5_000, kubeAPIBurst: 5_000, eventRecordQPS: 0 },
        // It knows containers from one look to the next; heaps are looked at a few seconds after the last pod has gone.
        containerLogMonitorInterval: 1_000,
      },
      settings: {
        journalMaxBytes: options.journalMaxBytes ?? 8 << 20,
        inspect: options.inspect === true ? { host: '127.0.0.1', port: 0 } : null,
      },
    });
    ends.push(() => agent.kill());
    const churn = new Churn({ agent, dir, sim, server, port, probed }, options.shapes);
    await until('the node to register', () => server.get({ ...PODS, resource: 'nodes' }, 'node') !== undefined);
    return churn;
  }

  /** Folders of pods and of their logs, and links to logs. */
  async folders(): Promise<string[]> {
    const all = ['root/pods', 'pod-logs', 'container-logs'].map((name) =>
      readdir(join(this.dir, name)).catch(() => []),
    );
    return (await Promise.all(all)).flat();
  }

  /** Lets `count` pods come, of all shapes in turn, reach what becomes of them, and go. Returns the names of the pods. */
  async pass(count: number): Promise<string[]> {
    const round = this.round++;
    const { port: probePort } = this.probed.address() as AddressInfo;
    const names = Array.from({ length: count }, (_, i) => `${this.shapes[i % this.shapes.length] ?? ''}-${round}-${i}`);
    const api = names.filter((name) => !name.startsWith('static-'));
    for (const name of api) {
      this.server.put(SECRETS, { metadata: { name, namespace: NAMESPACE }, type: 'Opaque', data: { key: 'dmFsdWU=' } });
      this.uids.push(String(this.server.put(PODS, podOf(name, NAMESPACE, probePort)).metadata.uid));
    }
    const manifests = names.filter((name) => name.startsWith('static-')).map((name) => staticPodOf(name));
    const file = join(this.dir, 'manifests', 'pods.yaml');
    await writeFile(`${this.dir}/pods.partial`, manifests.map((pod) => JSON.stringify(pod)).join('\n---\n'));
    await rename(`${this.dir}/pods.partial`, file);
    const find = (name: string) => this.server.get({ ...PODS, namespace: NAMESPACE }, name) as Pod | undefined;
    await this.fill(api.filter((name) => name.startsWith('evicted-')));
    await until('all pods to be what they are to be', () => api.every((name) => hasItsFate(name, find(name))), {
      agent: this.agent,
    });
    if (manifests.length > 0)
      await until('the mirror pods', () => this.mirrors().length === manifests.length, { agent: this.agent });
    await this.ask(api[0] ?? '');

    await rm(file);
    for (const name of api) {
      const pod = find(name);
      if (pod === undefined) continue;
      const deletionTimestamp = new Date(Date.now() + 1_000).toISOString().replace(/\.\d+/, '');
      this.server.put(PODS, {
        ...pod,
        metadata: { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: 1 },
      });
    }
    const left = async () => api.filter((name) => find(name) !== undefined).length + (await this.agent.tracked());
    await until('all pods to be gone', async () => (await left()) === 0 && this.sim.state.sandboxes.size === 0, {
      agent: this.agent,
    });
    await until('the mirror pods to be gone', () => this.mirrors().length === 0);
    for (const name of api) {
      this.server.remove({ ...SECRETS, namespace: NAMESPACE }, name);
    }
    this.server.requests.length = 0;
    const { changes } = this.server.store as unknown as { changes: unknown[] };
    changes.splice(0, Math.max(0, changes.length - KEPT_CHANGES));
    this.gone += count;
    return names;
  }

  /** Ends a worker thread; resolves when the one in its place has had its pods. */
  async endWorker(shard: number): Promise<void> {
    const restarts = async () => {
      const text = await this.agent.metrics();
      return Number(
        new RegExp(`^actorlet_shard_restarts_total\\{shard="${shard}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0,
      );
    };
    const before = await restarts();
    await this.agent.fault(shard, 'exit');
    await until(`shard ${shard} to be replaced`, async () => (await restarts()) > before);
    await sleep(1_500);
  }

  /** Puts more into these pods' volumes than they may hold. */
  private async fill(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const find = () => this.server.get({ ...PODS, namespace: NAMESPACE }, name) as Pod | undefined;
      await until(`${name} to run`, () => find()?.status?.phase === 'Running', { agent: this.agent });
      const volume = join(this.dir, 'root/pods', find()?.metadata?.uid ?? '', 'volumes/kubernetes.io~empty-dir/data');
      await writeFile(join(volume, 'file'), 'x'.repeat(2 * SIZE_LIMIT));
    }
  }

  private mirrors(): unknown[] {
    return this.server.store.list({ collection: '/v1/pods', namespace: 'default' });
  }

  /** What is asked of a kubelet: logs, a command, statistics, metrics, its pods. */
  private async ask(pod: string): Promise<void> {
    const paths = [
      `/containerLogs/${NAMESPACE}/${pod}/c`,
      `/containerLogs/${NAMESPACE}/${pod}/c?tailLines=1`,
      `/exec/${NAMESPACE}/${pod}/c?command=true&output=1`,
      '/stats/summary',
      '/metrics',
      '/metrics/resource',
      '/metrics/cadvisor',
      '/pods',
    ];
    await Promise.all(paths.map((path) => this.get(path)));
  }

  private get(path: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.port, path, rejectUnauthorized: false, agent: false };
      https
        .get(options, (response) => {
          response.resume();
          response.once('close', () => resolve(response.statusCode ?? 0));
        })
        .once('error', reject);
    });
  }
}
