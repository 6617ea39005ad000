import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import fastify from 'fastify';
import { pino } from 'pino';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { kubeletConfigurationSchema } from '../../../actors/configure/configuration/kubelet-configuration.ts';
import { listen } from '../../../actors/serve/server/http-listener.ts';
import { addStatsRoutes } from '../../../actors/serve/server/stats-routes.ts';
import { StatsProvider } from '../../../actors/resources/stats/stats-provider.ts';
import type { Summary } from '../../../actors/resources/stats/summary.ts';
import { FakeCgroups, NOW, reading } from '../../pure/stats/support/fake-node.ts';
import { bench, containerConfig } from '../sim/sim-client.ts';
import type { Bench } from '../sim/sim-client.ts';

const KIB = 1024;

/** A simulated runtime, and a server of the routes on it. */
async function server(t: TestContext): Promise<{ sim: Bench; url: string; reader: FakeCgroups; rootDir: string }> {
  const sim = await bench(t);
  const log = pino({ level: 'silent' });
  const cri = createCriClient({ endpoint: `unix://${sim.sim.socket}`, retryMs: 0 });
  const rootDir = join(sim.dir, 'root');
  mkdirSync(rootDir);
  const pod: Pod = {
    metadata: { name: 'web', namespace: 'default', uid: 'uid-web' },
    spec: { containers: [{ name: 'main', image: 'busybox' }], volumes: [{ name: 'data', emptyDir: {} }] },
  };
  const reader = new FakeCgroups();
  reader.cgroups.set('/', reading(100));
  const stats = new StatsProvider({
    ...{ node: { nodeName: 'one', pods: () => [pod] }, cri, reader, log, now: () => NOW },
    config: kubeletConfigurationSchema.parse({ cgroupRoot: '/', podLogsDir: join(sim.dir, 'logs') }),
    featureGates: resolveFeatureGates({}).gates,
    flags: { rootDir, runtimeCgroups: '' },
    machine: { ownCgroup: () => null },
  });
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  addStatsRoutes(app, { stats, log });
  const running = await listen(app, { address: '127.0.0.1', port: 0, log }, 'test', 'port');
  t.after(async () => {
    await running.close();
    cri.close();
  });
  return { sim, url: running.url, reader, rootDir };
}

describe('/stats/summary', () => {
  it('tells of running containers, their logs, volumes and writable layers', async (t) => {
    const { sim, url, reader, rootDir } = await server(t);
    const sandbox = await sim.sandbox('web');
    const main = await sim.run(sandbox, 'main');
    const ended = await sim.run(sandbox, 'ended', containerConfig('ended'));
    sim.sim.exitContainer(ended, 0);
    reader.cgroups.set('/kubepods/poduid-web', reading(20));
    reader.cgroups.set(`/kubepods/poduid-web/${main}`, reading(10));
    const logs = join(sim.dir, 'logs', 'default_web_uid-web', 'main');
    mkdirSync(logs, { recursive: true });
    writeFileSync(join(logs, '0.log'), 'x'.repeat(5 * KIB));
    writeFileSync(join(logs, '0.log.20260101-000000'), 'x'.repeat(KIB));
    const data = join(rootDir, 'pods', 'uid-web', 'volumes', 'kubernetes.io~empty-dir', 'data');
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, 'f'), 'x'.repeat(40 * KIB));
    writeFileSync(join(rootDir, 'pods', 'uid-web', 'etc-hosts'), '127.0.0.1 localhost\n');

    const answer = await fetch(`${url}/stats/summary`);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/json');
    const { node, pods } = (await answer.json()) as Summary;
    assert.equal(node.nodeName, 'one');
    assert.ok((node.fs?.capacityBytes ?? 0) > 0);
    assert.equal(pods.length, 1);
    const [pod] = pods;
    assert.deepEqual(pod?.podRef, { name: 'web', namespace: 'default', uid: 'uid-web' });
    assert.deepEqual(
      pod.containers.map(({ name }) => name),
      ['main'],
    );
    assert.equal(pod.containers[0]?.rootfs?.usedBytes, 4 * KIB);
    assert.equal(pod.containers[0]?.logs?.usedBytes, 12 * KIB);
    assert.equal(pod.containers[0]?.logs?.inodesUsed, 2);
    assert.deepEqual(
      pod.volume?.map(({ name, usedBytes, inodesUsed }) => [name, usedBytes, inodesUsed]),
      [['data', 44 * KIB, 2]],
    );
    // layer, logs, volume, etc-hosts
    assert.equal(pod['ephemeral-storage']?.usedBytes, (4 + 12 + 44 + 4) * KIB);
    assert.equal(pod['ephemeral-storage']?.inodesUsed, 1 + 2 + 2 + 1);
    assert.equal(pod.cpu?.usageNanoCores, 1e8);
  });

  it('asks the runtime four times, however many pods there are', async (t) => {
    const { sim, url } = await server(t);
    for (const name of ['a', 'b', 'c', 'd']) await sim.run(await sim.sandbox(name), 'main');
    const before = { ...sim.sim.state.calls.counts };
    assert.equal(((await (await fetch(`${url}/stats/summary`)).json()) as Summary).pods.length, 4);
    const asked = Object.entries(sim.sim.state.calls.counts).filter(([rpc, count]) => count !== (before[rpc] ?? 0));
    assert.deepEqual(
      asked.map(([rpc, count]) => [rpc, count - (before[rpc] ?? 0)]).sort(),
      ['ImageFsInfo', 'ListContainerStats', 'ListContainers', 'ListPodSandbox'].map((rpc) => [rpc, 1]),
    );
  });

  it('is short when only cpu and memory are asked for, by query or form', async (t) => {
    const { url } = await server(t);
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    const short = async (query: string, init: RequestInit = {}) => {
      const answer = await fetch(`${url}/stats/summary${query}`, init);
      assert.equal(answer.status, 200);
      return ((await answer.json()) as Summary).node.fs === undefined;
    };
    assert.equal(await short('?only_cpu_and_memory=true'), true);
    assert.equal(await short('/?only_cpu_and_memory=true'), true);
    assert.equal(await short('?only_cpu_and_memory=1'), false);
    assert.equal(await short('?only_cpu_and_memory=true&only_cpu_and_memory=true'), false);
    assert.equal(await short('', { ...form, body: 'only_cpu_and_memory=true' }), true);
    assert.equal(await short('', { method: 'POST', body: 'only_cpu_and_memory=true' }), false);
  });

  it('fails when the runtime is away, and /metrics/resource tells of it', async (t) => {
    const { sim, url } = await server(t);
    await sim.sim.stop();
    const answer = await fetch(`${url}/stats/summary`);
    assert.equal(answer.status, 500);
    assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.match(await answer.text(), /^Internal Error: failed to get imageFs stats: rpc error: code = Unavailable /);
    const metrics = await fetch(`${url}/metrics/resource`);
    assert.equal(metrics.status, 200);
    assert.match(await metrics.text(), /^resource_scrape_error 1$/m);
  });
});

describe('/metrics/resource', () => {
  it('has what metrics-server wants', async (t) => {
    const { sim, url, reader } = await server(t);
    const id = await sim.run(await sim.sandbox('web'), 'main');
    reader.cgroups.set('/kubepods/poduid-web', reading(20));
    reader.cgroups.set(`/kubepods/poduid-web/${id}`, reading(10));
    const answer = await fetch(`${url}/metrics/resource`);
    assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores');
    assert.match(answer.headers.get('process-start-time-unix') ?? '', /^\d{10}$/);
    const text = await answer.text();
    const labels = 'container="main",namespace="default",pod="web"';
    for (const line of [
      `container_cpu_usage_seconds_total{${labels}} 10\\.\\d+ \\d{13}`,
      `container_memory_working_set_bytes{${labels}} 1\\.048476e\\+07 \\d{13}`,
      `container_start_time_seconds{${labels}} \\d\\.\\d+e\\+09`,
      'node_cpu_usage_seconds_total 100\\.\\d+ \\d{13}',
      'node_memory_working_set_bytes 1\\.048566e\\+08 \\d{13}',
      'resource_scrape_error 0',
    ]) {
      assert.match(text, new RegExp(`^${line}$`, 'm'));
    }
  });
});
