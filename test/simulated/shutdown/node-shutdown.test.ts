/** A node of a cluster that shuts down: a real message bus with a logind, the agent's process, a simulated runtime, an API server. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { startAgent } from '../agent/support/agent.ts';
import type { Agent } from '../agent/support/agent.ts';
import { IMAGE, PRESENT, until } from '../agent/support/bench.ts';
import { endWithTest } from '../agent/support/end-with-test.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import type { FakeApiServer } from '../api/support/fake-api-server.ts';
import { lacksBus, PrivateBus } from './support/private-bus.ts';

const skip = await lacksBus();
const PODS = { group: '', version: 'v1', resource: 'pods' };
const NODES = { group: '', version: 'v1', resource: 'nodes' };
const CRITICAL = 2_000_000_000;

interface Bench {
  dir: string;
  bus: PrivateBus;
  server: FakeApiServer;
  agent: Agent;
}

/** A node that holds the lock; containers take a second and a half to stop. */
async function bench(t: TestContext, pods: (server: FakeApiServer) => void): Promise<Bench> {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-shutdown-'));
  const bus = await PrivateBus.start(t, 60);
  const server = await startFakeApiServer();
  const socket = join(dir, 'cri.sock');
  const script = { images: [PRESENT], containers: [{ onStop: { after: 1_500 } }] };
  const sim = await startSimulatedRuntime({ socket, script, seed: 1 });
  pods(server);
  const begun = startAgent({
    ...{ dir, endpoint: `unix://${socket}`, kubeconfigPath: server.kubeconfigPath },
    env: { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${bus.socket}` },
    config: { shutdownGracePeriod: 30_000, shutdownGracePeriodCriticalPods: 10_000 },
  });
  endWithTest(t, { dir, agent: begun, sim, server });
  const agent = await begun;
  await bus.tells(/^locked 1 shutdown\|kubelet\|/);
  return { dir, bus, server, agent };
}

function put(server: FakeApiServer, name: string, spec: object = {}): void {
  server.put(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', generation: 1 },
    spec: {
      nodeName: 'node',
      restartPolicy: 'Always',
      ...{ terminationGracePeriodSeconds: 20, ...spec },
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

const conditionOf = (server: FakeApiServer, name: string, type: string) =>
  statusOf(server, name).conditions?.find((each) => each.type === type);
const isReady = (server: FakeApiServer, name: string) => conditionOf(server, name, 'Ready')?.status === 'True';
const runs = (server: FakeApiServer, name: string) => until(`${name} to run`, () => isReady(server, name));

function nodeReady(server: FakeApiServer): { status?: string; reason?: string; message?: string } {
  const node = server.get(NODES, 'node') as Node | undefined;
  return node?.status?.conditions?.find(({ type }) => type === 'Ready') ?? {};
}

function nodeEvents(server: FakeApiServer): string[] {
  return server
    .requestsOf({ verb: 'create', resource: 'events' })
    .map(({ body }) => body as { reason: string; type: string; message: string; involvedObject: { kind: string } })
    .filter(({ reason, involvedObject }) => reason === 'Shutdown' && involvedObject.kind === 'Node')
    .map(({ type, message }) => `${type}: ${message}`);
}

test(
  'the node is not ready at once, ends pods by their groups, tells how they ended, and lets the machine go down',
  { skip },
  async (t) => {
    const { dir, bus, server, agent } = await bench(t, (api) => {
      put(api, 'web');
      put(api, 'quick', { terminationGracePeriodSeconds: 1 });
      put(api, 'dns', { priority: CRITICAL + 1_000 });
    });
    for (const name of ['web', 'quick', 'dns']) await runs(server, name);
    await until('the node to be ready', () => nodeReady(server).status === 'True');
    await bus.order('prepare');

    await until('the node to be not ready', () => nodeReady(server).status === 'False');
    const { reason, message } = nodeReady(server);
    assert.deepEqual([reason, message], ['KubeletNotReady', 'node is shutting down']);
    // kubernetes#116965: who is about to go gets no more traffic, though it still runs.
    await until('web to be not ready', () => !isReady(server, 'web'));
    assert.equal(statusOf(server, 'web').phase, 'Running');
    assert.ok(isReady(server, 'dns'), 'critical pods go when the others have gone');
    put(server, 'late');
    await until('late to be refused', () => statusOf(server, 'late').phase === 'Failed');
    assert.equal(statusOf(server, 'late').reason, 'NodeShutdown');
    assert.match(statusOf(server, 'late').message ?? '', /Pod was rejected as the node is shutting down\.$/);

    await until('dns to end', () => !isReady(server, 'dns'));
    for (const name of ['web', 'quick']) assert.equal(statusOf(server, name).phase, 'Failed', name);
    await until('the lock to be given back', () => bus.told.includes('released 1'));
    // kubernetes#110755, #112443: the machine goes down when this is known.
    for (const name of ['web', 'quick', 'dns']) {
      const { phase, reason: why, message: words } = statusOf(server, name);
      const told = 'Pod was terminated in response to imminent node shutdown.';
      assert.deepEqual([phase, why, words], ['Failed', 'Terminated', told], name);
      const target = conditionOf(server, name, 'DisruptionTarget');
      assert.deepEqual([target?.status, target?.reason, target?.message], ['True', 'TerminationByKubelet', told], name);
    }
    assert.deepEqual(nodeEvents(server), ['Normal: Shutdown manager detected shutdown event']);

    const state = JSON.parse(readFileSync(join(dir, 'root', 'graceful_node_shutdown_state'), 'utf8')) as Record<
      string,
      string
    >;
    const [began, ended] = [Date.parse(state['startTime'] ?? ''), Date.parse(state['endTime'] ?? '')];
    assert.ok(began > 0 && ended >= began, JSON.stringify(state));
    const metrics = await agent.metrics();
    assert.match(
      metrics,
      new RegExp(`^kubelet_graceful_shutdown_start_time_seconds ${Math.floor(began / 1000)}$`, 'm'),
    );
    assert.match(metrics, new RegExp(`^kubelet_graceful_shutdown_end_time_seconds ${Math.floor(ended / 1000)}$`, 'm'));

    const journals = [join(dir, 'journal')];
    const why = await explainFromJournal({ pod: 'default/web', journals, now: Date.now() });
    const texts = why.causes.map(({ text }) => text).join('\n');
    assert.match(texts, /its node shuts down: Pod was terminated in response to imminent node shutdown/);
  },
);

test(
  'a shutdown that is called off: the node takes pods again, those of later groups run on, and the lock is taken anew',
  { skip },
  async (t) => {
    const { bus, server } = await bench(t, (api) => {
      put(api, 'web');
      put(api, 'dns', { priority: CRITICAL });
    });
    for (const name of ['web', 'dns']) await runs(server, name);
    await bus.order('prepare');
    await until('web to be ended', () => !isReady(server, 'web'));
    await bus.order('cancel');
    await until('the node to be ready', () => nodeReady(server).status === 'True');
    await until('web to have failed', () => statusOf(server, 'web').phase === 'Failed');
    assert.ok(isReady(server, 'dns'), 'kubelet ends it all the same');
    assert.ok(!bus.told.includes('released 1'), 'the lock was never given back');
    put(server, 'next');
    await runs(server, 'next');
    await until('the events', () => nodeEvents(server).length === 2);
    assert.equal(nodeEvents(server)[1], 'Normal: Shutdown manager detected shutdown cancellation');

    // Now to the end, and called off then.
    await bus.order('prepare');
    await bus.tells('released 1');
    await bus.order('cancel');
    await bus.tells(/^locked 2/);
    await until('the node to be ready', () => nodeReady(server).status === 'True');
  },
);

test(
  'dbus is restarted: the agent listens and holds a lock again, and sees a shutdown that began meanwhile (kubernetes#122674)',
  { skip },
  async (t) => {
    const { bus, server } = await bench(t, (api) => put(api, 'web'));
    await runs(server, 'web');
    await bus.down();
    await bus.up();
    // The new logind counts from one.
    await until('another lock', () => bus.told.filter((line) => line.startsWith('locked 1 ')).length === 2);
    await bus.down();
    await bus.up('prepare');
    await until('the node to be not ready', () => nodeReady(server).message === 'node is shutting down');
    await until('web to be ended', () => statusOf(server, 'web').reason === 'Terminated');
  },
);
