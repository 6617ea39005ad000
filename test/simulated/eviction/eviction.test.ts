import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'node:test';
import type { KubeletConfiguration } from '../../../actors/configure/configuration/kubelet-configuration.ts';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { startAgent } from '../agent/support/agent.ts';
import type { Agent } from '../agent/support/agent.ts';
import { IMAGE, PRESENT, until } from '../agent/support/bench.ts';
import { endWithTest } from '../agent/support/end-with-test.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import type { FakeApiServer } from '../api/support/fake-api-server.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };
const NODES = { group: '', version: 'v1', resource: 'nodes' };

interface EvictionBench {
  dir: string;
  server: FakeApiServer;
  agent: Agent;
}

/** A node of a cluster on a simulated runtime; `pods` are there before the agent is. */
async function evictionBench(
  t: TestContext,
  config: Partial<KubeletConfiguration>,
  pods: (server: FakeApiServer) => void,
): Promise<EvictionBench> {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-eviction-'));
  const server = await startFakeApiServer();
  const socket = join(dir, 'cri.sock');
  const sim = await startSimulatedRuntime({ socket, script: { images: [PRESENT] }, seed: 1 });
  pods(server);
  const begun = startAgent({ dir, endpoint: `unix://${socket}`, kubeconfigPath: server.kubeconfigPath, config });
  endWithTest(t, { dir, agent: begun, sim, server });
  return { dir, server, agent: await begun };
}

function put(server: FakeApiServer, name: string, spec: object = {}): void {
  server.put(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', generation: 1 },
    spec: {
      nodeName: 'node',
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 1,
      ...spec,
      containers: [{ name: 'c', image: IMAGE }],
    },
    status: {},
  });
}

function podOf(server: FakeApiServer, name: string): Pod | undefined {
  return server.get({ ...PODS, namespace: 'default' }, name) as Pod | undefined;
}

function statusOf(server: FakeApiServer, name: string): NonNullable<Pod['status']> {
  return podOf(server, name)?.status ?? {};
}

const runs = (server: FakeApiServer, name: string) =>
  until(`${name} to run`, () => statusOf(server, name).containerStatuses?.[0]?.ready === true);
const evicted = (server: FakeApiServer, name: string) =>
  until(`${name} to be evicted`, () => statusOf(server, name).reason === 'Evicted');

interface Told {
  reason: string;
  message: string;
  type: string;
  involvedObject: { kind: string; name: string };
  metadata: { annotations?: Record<string, string> };
}

const eventsOf = (server: FakeApiServer, reason: string): Told[] =>
  server
    .requestsOf({ verb: 'create', resource: 'events' })
    .map(({ body }) => body as Told)
    .filter((event) => event.reason === reason);

test('a node short of disk tells so, ends pods one by one, spares critical ones and takes no new ones', async (t) => {
  const { dir, server, agent } = await evictionBench(t, { evictionHard: { 'nodefs.available': '99.99%' } }, (api) => {
    put(api, 'worthy', { priority: 1000 });
    put(api, 'lowly', { priority: -5 });
    put(api, 'critical', { priority: 2_000_000_000 });
  });
  await evicted(server, 'worthy');
  await evicted(server, 'lowly');
  await runs(server, 'critical');

  const status = statusOf(server, 'lowly');
  assert.equal(status.phase, 'Failed');
  assert.match(
    status.message ?? '',
    /^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+, available: \d+Ki\. (Container c was using \d+(Ki)?, request is 0, has larger consumption of ephemeral-storage\. )?$/,
  );
  const disruption = status.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual(
    [disruption?.status, disruption?.reason, disruption?.message],
    ['True', 'TerminationByKubelet', status.message],
  );
  assert.equal(disruption?.observedGeneration, 1);

  await until('the node to tell', () => {
    const node = server.get(NODES, 'node') as { status?: { conditions?: { type: string; reason: string }[] } };
    return node.status?.conditions?.find(({ type }) => type === 'DiskPressure')?.reason === 'KubeletHasDiskPressure';
  });
  put(server, 'late');
  await evicted(server, 'late');
  assert.equal(statusOf(server, 'late').message, 'Pod was rejected: The node had condition: [DiskPressure]. ');
  assert.equal(statusOf(server, 'critical').phase, 'Running');

  await until('events to come', () => eventsOf(server, 'Evicted').length >= 3);
  const told = eventsOf(server, 'Evicted').filter(({ involvedObject }) => involvedObject.name !== 'late');
  // Who of the two is first depends on whose files were counted by then: that comes before priority (test/pure/eviction has the order).
  assert.deepEqual(told.map(({ involvedObject }) => involvedObject.name).sort(), ['lowly', 'worthy']);
  const met = eventsOf(server, 'EvictionThresholdMet')[0];
  assert.deepEqual(
    [met?.type, met?.involvedObject.kind, met?.message],
    ['Warning', 'Node', 'Attempting to reclaim ephemeral-storage'],
  );
  const metrics = await agent.metrics();
  assert.match(metrics, /kubelet_evictions\{eviction_signal="nodefs.available"\} 2/);
  assert.match(metrics, /kubelet_eviction_stats_age_seconds_count\{eviction_signal="nodefs.available"\} \d/);

  await agent.stop();
  const journal = join(dir, 'journal');
  const bin = fileURLToPath(new URL('../../../bin/actorlet.ts', import.meta.url));
  const replayed = spawnSync(process.execPath, [bin, 'replay', journal], { encoding: 'utf8' });
  assert.equal(replayed.stdout, 'identical\n', replayed.stderr);
  assert.match(replayed.stderr, /^replayed: .*\beviction\b/m);
  const why = await explainFromJournal({ pod: 'default/worthy', journals: [journal], now: Date.now() });
  const node = why.causes.flatMap(({ kind, text }) => (kind === 'node' ? [text] : []));
  assert.match(
    node[0] ?? '',
    /^of \d pods it was the first in the order of eviction that may go: .*default\/worthy \(.*priority 1000\) - this one/,
  );
  assert.match(node[0] ?? '', /default\/critical \(.*critical: never evicted\)/);
  assert.match(node[1] ?? '', /^first ended containers and unused images were to be removed; then was \d+/);
  assert.match(
    node[2] ?? '',
    /^the node ran short: nodefs\.available was \d+.* of \d+.*, less than the threshold \d+ \(hard\)$/,
  );
});

test('a pod that fills its emptyDir over its limit goes, its neighbour stays; no pressure is told', async (t) => {
  const volumes = [{ name: 'scratch', emptyDir: { sizeLimit: '1Mi' } }];
  const { dir, server, agent } = await evictionBench(
    t,
    // A hair of pressure would show that the limit alone was enough.
    { evictionHard: { 'nodefs.available': '1' }, volumeStatsAggPeriod: 1_000 },
    (api) => {
      put(api, 'filler', { volumes });
      put(api, 'neighbour', { volumes });
    },
  );
  await runs(server, 'filler');
  await runs(server, 'neighbour');
  for (const [name, bytes] of [
    ['filler', 2],
    ['neighbour', 0.5],
  ] as const) {
    const uid = podOf(server, name)?.metadata?.uid ?? '';
    const folder = join(dir, 'root', 'pods', uid, 'volumes', 'kubernetes.io~empty-dir', 'scratch');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'data'), Buffer.alloc(bytes * 2 ** 20, 1));
  }
  await evicted(server, 'filler');
  const { phase, message, conditions } = statusOf(server, 'filler');
  assert.equal(phase, 'Failed');
  assert.equal(message, 'Usage of EmptyDir volume "scratch" exceeds the limit "1Mi". ');
  assert.equal(
    conditions?.some(({ type }) => type === 'DisruptionTarget'),
    false,
  );
  assert.equal(statusOf(server, 'neighbour').phase, 'Running');
  assert.match(await agent.metrics(), /kubelet_evictions\{eviction_signal="emptydirfs.limit"\} 1/);
  const node = server.get(NODES, 'node') as { status?: { conditions?: { type: string; status: string }[] } };
  assert.equal(node.status?.conditions?.find(({ type }) => type === 'DiskPressure')?.status, 'False');
});
