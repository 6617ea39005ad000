import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { unmountBelow } from '../../../actors/host/files/mounts.ts';
import type { SimScript } from '../../../cri/sim/script.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import type { SimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { readCheckpoint } from '../../../machines/resize/checkpoint.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import type { FakeApiServer } from '../api/support/fake-api-server.ts';
import { startAgent } from './support/agent.ts';
import type { Agent } from './support/agent.ts';
import { IMAGE, PRESENT, until } from './support/bench.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };
const NODES = { group: '', version: 'v1', resource: 'nodes' };

/** A node with an API server of its own and a simulated runtime. */
interface ClusterBench {
  dir: string;
  sim: SimulatedRuntime;
  server: FakeApiServer;
  agent: Agent;
  /** Starts an agent anew, after the one before has ended. */
  restart(): Promise<void>;
}

async function clusterBench(t: TestContext, script: SimScript = {}): Promise<ClusterBench> {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-resize-'));
  const server = await startFakeApiServer();
  const ends = [() => server.close()];
  t.after(async () => {
    for (const end of ends.reverse()) await end();
  });
  const socket = join(dir, 'cri.sock');
  const sim = await startSimulatedRuntime({ socket, script: { images: [PRESENT], ...script }, seed: 1 });
  const start = () => startAgent({ dir, endpoint: `unix://${socket}`, kubeconfigPath: server.kubeconfigPath });
  const agents: Agent[] = [];
  ends.push(async () => {
    await agents.at(-1)?.kill();
    await sim.stop();
    await unmountBelow(dir);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  agents.push(await start());
  const bench: ClusterBench = {
    dir,
    sim,
    server,
    agent: agents[0] ?? (await start()),
    restart: async () => void agents.push((bench.agent = await start())),
  };
  await until('the node to register', () => server.get(NODES, 'node') !== undefined);
  return bench;
}

/** Makes a pod, or gives it other resources as `kubectl patch --subresource resize` would. */
function put({ server }: ClusterBench, name: string, cpu: string, memory = '64Mi', spec: object = {}): void {
  const before = server.get({ ...PODS, namespace: 'default' }, name) as Pod | undefined;
  const amounts = { cpu, memory };
  server.put(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...before?.metadata, name, namespace: 'default', generation: (before?.metadata?.generation ?? 0) + 1 },
    spec: {
      nodeName: 'node',
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 1,
      ...spec,
      containers: [{ name: 'c', image: IMAGE, resources: { requests: { ...amounts }, limits: { ...amounts } } }],
    },
    status: before?.status ?? {},
  });
}

function statusOf({ server }: ClusterBench, name: string): Pod['status'] {
  return (server.get({ ...PODS, namespace: 'default' }, name) as Pod | undefined)?.status;
}

const runs = (bench: ClusterBench, name: string) =>
  until(`${name} to run`, () => statusOf(bench, name)?.containerStatuses?.[0]?.ready === true);
const pending = (bench: ClusterBench, name: string) =>
  statusOf(bench, name)?.conditions?.find(({ type }) => type === 'PodResizePending');
const has = (bench: ClusterBench, name: string, cpu: string) =>
  until(`${name} to have cpu ${cpu}`, () => {
    const status = statusOf(bench, name);
    const resized = status?.containerStatuses?.[0]?.resources?.limits?.['cpu'] === cpu;
    return resized && !status.conditions?.some(({ type }) => type.startsWith('PodResize'));
  });

function container({ sim }: ClusterBench, pod: string) {
  return [...sim.state.containers.values()].find((c) => c.sandbox.metadata.name === pod);
}

const reasons = async (bench: ClusterBench) =>
  (await bench.agent.events()).map(({ reason }) => reason).filter((r) => r.startsWith('Resize'));

test('a pod of the API is resized in place: runtime, status, events, metrics, checkpoints', async (t) => {
  const bench = await clusterBench(t);
  put(bench, 'a', '100m');
  await runs(bench, 'a');
  const id = container(bench, 'a')?.id;
  put(bench, 'a', '200m', '128Mi');
  await has(bench, 'a', '200m');
  assert.equal(container(bench, 'a')?.id, id, 'it was not restarted');
  assert.equal(container(bench, 'a')?.resources?.cpuQuota, '20000');
  assert.equal(container(bench, 'a')?.resources?.memoryLimitInBytes, String(128 * 2 ** 20));
  assert.equal(statusOf(bench, 'a')?.observedGeneration, 2);
  assert.deepEqual(await reasons(bench), ['ResizeStarted', 'ResizeCompleted']);
  const metrics = await bench.agent.metrics();
  assert.match(
    metrics,
    /kubelet_container_requested_resizes_total\{resource="cpu",requirement="limits",operation="increase"\} 1/,
  );
  assert.match(metrics, /kubelet_pod_resize_duration_milliseconds_count\{success="true"\} 1/);
  assert.match(metrics, /kubelet_pod_in_progress_resizes 0/);
  await bench.agent.stop();
  for (const file of ['allocated_pods_state', 'actuated_pods_state']) {
    const entries = readCheckpoint(readFileSync(join(bench.dir, 'root', file), 'utf8')) ?? {};
    const amounts = { cpu: '200m', memory: '128Mi' };
    assert.deepEqual(
      Object.values(entries)[0]?.ContainerResources,
      { c: { limits: amounts, requests: amounts } },
      file,
    );
  }
});

test('what others hold is waited for, also by an agent that was killed; what is too much is never given', async (t) => {
  const bench = await clusterBench(t);
  const cores = Number(
    (bench.server.get(NODES, 'node') as { status?: { capacity?: { cpu?: string } } }).status?.capacity?.cpu,
  );
  put(bench, 'big', `${cores * 1000 - 500}m`);
  put(bench, 'small', '100m');
  await runs(bench, 'big');
  await runs(bench, 'small');

  put(bench, 'small', `${cores * 1000 + 1}m`);
  await until('Infeasible', () => pending(bench, 'small')?.reason === 'Infeasible');
  assert.match(
    pending(bench, 'small')?.message ?? '',
    /^Node didn't have enough capacity: cpu, requested: \d+, capacity: \d+$/,
  );
  assert.match(
    await bench.agent.metrics(),
    /kubelet_pod_infeasible_resizes_total\{reason_detail="insufficient_node_allocatable"\} 1/,
  );

  put(bench, 'small', '900m');
  await until('Deferred', () => pending(bench, 'small')?.reason === 'Deferred');
  assert.equal(pending(bench, 'small')?.observedGeneration, 3);
  assert.equal(statusOf(bench, 'small')?.containerStatuses?.[0]?.allocatedResources?.['cpu'], '100m');
  assert.deepEqual(await reasons(bench), ['ResizeInfeasible', 'ResizeDeferred']);

  await bench.agent.kill();
  await bench.restart();
  await until(
    'the new agent to take them up',
    async () => (await bench.agent.rows()).filter((r) => r.state === 'syncing.running').length === 2,
  );
  assert.equal(pending(bench, 'small')?.reason, 'Deferred');
  assert.equal(container(bench, 'small')?.resources?.cpuQuota, '10000', 'it was not resized by the restart');

  bench.server.remove({ ...PODS, namespace: 'default' }, 'big');
  await has(bench, 'small', '900m');
  assert.equal(container(bench, 'small')?.resources?.cpuQuota, '90000');
  assert.match(
    await bench.agent.metrics(),
    /kubelet_pod_deferred_accepted_resizes_total\{retry_trigger="pods_removed"\} 1/,
  );
});

test('a pod that shrinks makes room for one that waits', async (t) => {
  const bench = await clusterBench(t);
  const cores = Number(
    (bench.server.get(NODES, 'node') as { status?: { capacity?: { cpu?: string } } }).status?.capacity?.cpu,
  );
  put(bench, 'big', `${cores * 1000 - 500}m`);
  put(bench, 'small', '100m');
  await runs(bench, 'big');
  await runs(bench, 'small');
  put(bench, 'small', '900m');
  await until('Deferred', () => pending(bench, 'small')?.reason === 'Deferred');
  put(bench, 'big', '200m');
  await has(bench, 'big', '200m');
  await has(bench, 'small', '900m');
  put(bench, 'small', `${cores * 1000 - 100}m`);
  await until('Deferred again', () => pending(bench, 'small')?.reason === 'Deferred');
  put(bench, 'small', '900m');
  await until('a wish that is taken back waits no more', () => pending(bench, 'small') === undefined);
});

test('a pod that was removed by force counts no more, though it is still stopping', async (t) => {
  const hangs = { match: { rpc: 'StopContainer', pod: 'big' }, hang: 'forever' } as const;
  const bench = await clusterBench(t, { faults: [hangs] });
  const cores = Number(
    (bench.server.get(NODES, 'node') as { status?: { capacity?: { cpu?: string } } }).status?.capacity?.cpu,
  );
  put(bench, 'big', `${cores * 1000 - 500}m`);
  put(bench, 'small', '100m');
  await runs(bench, 'big');
  await runs(bench, 'small');
  bench.server.remove({ ...PODS, namespace: 'default' }, 'big');
  put(bench, 'small', '900m');
  await has(bench, 'small', '900m');
  assert.ok(container(bench, 'big') !== undefined, 'the runtime still has it');
  put(bench, 'late', `${cores * 1000 - 1000}m`);
  await runs(bench, 'late');
});
