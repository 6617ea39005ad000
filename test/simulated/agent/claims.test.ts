/** Drivers of dynamic resources with real sockets, an agent with worker threads, the simulated runtime, a fake API server. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { unmountBelow } from '../../../actors/host/files/mounts.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import type { SimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import { claimCheckpointText, readClaimCheckpoint } from '../../../machines/claims/claim-checkpoint.ts';
import { readHealthCheckpoint } from '../../../machines/claims/health-checkpoint.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { HealthStatus } from '../../../cri/generated/drahealth/v1alpha1/api.ts';
import { TestDriver, deviceOf } from '../../tools/dra-driver.ts';
import { listPodResources } from '../../tools/pod-resources.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import type { FakeApiServer } from '../api/support/fake-api-server.ts';
import { startAgent } from './support/agent.ts';
import type { Agent } from './support/agent.ts';
import { IMAGE, PRESENT, until } from './support/bench.ts';

const PODS = { group: '', version: 'v1', resource: 'pods' };
const NODES = { group: '', version: 'v1', resource: 'nodes' };
const CLAIMS = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims' };
const DRIVER = 'gpu.example.com';

interface World {
  dir: string;
  sim: SimulatedRuntime;
  server: FakeApiServer;
  agent: Agent;
  restart(): Promise<void>;
  /** They end before the agent's folders go. */
  drivers: TestDriver[];
}

async function world(t: TestContext, featureGates: Record<string, boolean> = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-claims-'));
  const server = await startFakeApiServer();
  const ends = [() => server.close()];
  t.after(async () => {
    for (const end of ends.reverse()) await end();
  });
  server.reply({ resource: 'resourceslices' }, () => ({ code: 200, body: { kind: 'Status', status: 'Success' } }));
  const socket = join(dir, 'cri.sock');
  const sim = await startSimulatedRuntime({ socket, script: { images: [PRESENT] }, seed: 1 });
  const start = () =>
    startAgent({ dir, endpoint: `unix://${socket}`, kubeconfigPath: server.kubeconfigPath, config: { featureGates } });
  const it: World = {
    dir,
    sim,
    server,
    agent: await start(),
    restart: async () => void (it.agent = await start()),
    drivers: [],
  };
  ends.push(async () => {
    for (const one of it.drivers) one.stop();
    await it.agent.kill();
    await sim.stop();
    await unmountBelow(dir);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  await until('the node to register', () => server.get(NODES, 'node') !== undefined);
  return it;
}

/** A driver whose socket is in `plugins_registry`; resolves when the node has taken it. */
async function driver(
  { dir, drivers }: World,
  name = DRIVER,
  file = 'gpu.sock',
  services = ['v1.DRAPlugin'],
): Promise<TestDriver> {
  const it = new TestDriver(join(dir, 'root', 'plugins_registry', file), name, { services });
  drivers.push(it);
  await it.start();
  await until('its registration', () => it.told.length > 0);
  assert.deepEqual(it.told, [{ pluginRegistered: true, error: '' }]);
  return it;
}

/** A claim, allocated from these drivers, that these pods may use. */
function putClaim({ server }: World, name: string, pods: readonly string[], drivers = [DRIVER]): void {
  server.put(CLAIMS, {
    ...{ apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim' },
    metadata: { name, namespace: 'default', uid: `uid-of-${name}` },
    status: {
      reservedFor: pods.map((pod) => ({ resource: 'pods', name: pod, uid: `uid-of-${pod}` })),
      allocation: {
        devices: { results: drivers.map((one) => ({ driver: one, pool: 'pool', device: 'dev', request: 'r' })) },
      },
    },
  });
}

/** A pod whose only container uses these claims. */
function putPod({ server }: World, name: string, claims: readonly string[], more: object = {}): void {
  server.put(PODS, {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { name, namespace: 'default', uid: `uid-of-${name}` },
    spec: {
      ...{ nodeName: 'node', restartPolicy: 'Always', terminationGracePeriodSeconds: 1 },
      resourceClaims: claims.map((claim) => ({ name: `in-${claim}`, resourceClaimName: claim })),
      containers: [
        { name: 'c', image: IMAGE, resources: { claims: claims.map((claim) => ({ name: `in-${claim}` })) } },
      ],
      ...more,
    },
  });
}

function podOf({ server }: World, name: string): Pod | undefined {
  return server.get({ ...PODS, namespace: 'default' }, name) as Pod | undefined;
}

/** Ends a pod as its user would. */
function deletePod(w: World, name: string): void {
  const pod = podOf(w, name);
  w.server.put(PODS, {
    ...pod,
    metadata: { ...pod?.metadata, deletionTimestamp: new Date().toISOString(), deletionGracePeriodSeconds: 1 },
  });
}

const containersOf = ({ sim }: World, pod: string) =>
  [...sim.state.containers.values()].filter(({ sandbox }) => sandbox.metadata.name === pod);
const runs = (w: World, pod: string) => containersOf(w, pod).some(({ state }) => state === 1);
const stateOf = async ({ agent }: World, pod: string) => (await agent.rows()).find(({ name }) => name === pod)?.state;

async function checkpoint({ dir }: World) {
  return readClaimCheckpoint(await readFile(join(dir, 'root', 'dra_manager_state'), 'utf8'));
}

/** Whose claims are prepared, as the pod-resources API tells. */
async function listed({ dir }: World): Promise<string[]> {
  return (await listPodResources(join(dir, 'root')))
    .flatMap((pod) =>
      pod.containers.flatMap(({ name, dynamicResources }) =>
        dynamicResources.map(
          ({ claimName, claimResources }) => `${pod.name} ${name} ${claimName} ${claimResources[0]?.driverName}`,
        ),
      ),
    )
    .sort();
}

async function told(w: World, message: RegExp): Promise<boolean> {
  return (await w.agent.events()).some(
    (event) => event.reason === 'FailedPrepareDynamicResources' && message.test(event.message),
  );
}

test('claims are prepared before the first container, kept over a restart, and given back after the last pod', async (t) => {
  const w = await world(t);
  assert.deepEqual(await checkpoint(w), []);
  const gpu = await driver(w);
  putClaim(w, 'shared', ['one', 'two']);
  putPod(w, 'one', ['shared']);
  await until('its container', () => runs(w, 'one'), { agent: w.agent });
  assert.deepEqual(gpu.calls, ['prepare shared']);
  assert.deepEqual(containersOf(w, 'one')[0]?.config.CDIDevices, [{ name: `${DRIVER}/claim=shared` }]);
  putPod(w, 'two', ['shared']);
  await until('the second', () => runs(w, 'two'), { agent: w.agent });
  assert.deepEqual(gpu.calls, ['prepare shared'], 'it is prepared for both');
  assert.deepEqual(
    (await checkpoint(w)).map(({ name, pods }) => [name, pods]),
    [['shared', ['uid-of-one', 'uid-of-two']]],
  );

  assert.deepEqual(await listed(w), ['one c shared gpu.example.com', 'two c shared gpu.example.com']);

  await w.agent.kill();
  await w.restart();
  await until('another registration', () => gpu.told.length === 2);
  await until('the pods', async () => (await stateOf(w, 'two')) === 'syncing.running', { agent: w.agent });
  assert.deepEqual(gpu.calls, ['prepare shared']);

  deletePod(w, 'one');
  await until('its end', () => podOf(w, 'one') === undefined, { agent: w.agent });
  assert.deepEqual(gpu.calls, ['prepare shared'], 'the other pod uses it');
  deletePod(w, 'two');
  await until('its end', () => podOf(w, 'two') === undefined, { agent: w.agent });
  assert.deepEqual(gpu.calls, ['prepare shared', 'unprepare shared']);
  assert.deepEqual(await checkpoint(w), []);
});

test('a pod that may not have its claim waits with the words of kubelet, and runs when it may', async (t) => {
  const w = await world(t);
  putPod(w, 'one', ['a']);
  await until('the claim to be missed', () => told(w, /fetch ResourceClaim a: resourceclaims.* "a" not found/), {
    agent: w.agent,
  });
  assert.equal(await stateOf(w, 'one'), 'syncing.preparingClaims');
  putClaim(w, 'a', ['another']);
  const forbidden =
    /^Failed to prepare dynamic resources: prepare dynamic resources: pod one \(uid-of-one\) is not allowed to use ResourceClaim a \(uid-of-a\)/;
  await until('it to be forbidden', () => told(w, forbidden), { agent: w.agent });
  putClaim(w, 'a', ['one']);
  await until('the driver to be missed', () => told(w, /: DRA driver gpu.example.com is not registered/), {
    agent: w.agent,
  });
  assert.deepEqual(await checkpoint(w), []);
  const gpu = await driver(w);
  await until('its container', () => runs(w, 'one'), { agent: w.agent });
  assert.deepEqual(gpu.calls, ['prepare a']);
});

test('faults of a driver are told; others go on beside one that hangs, and a pod that ends meanwhile leaves nothing', async (t) => {
  const w = await world(t);
  const gpu = await driver(w);
  const net = await driver(w, 'net.example.com', 'net.sock', ['v2.DRAPlugin', 'v1beta1.DRAPlugin']);
  gpu.behaviour.fault = { t: 'refuse', error: 'no light' };
  putClaim(w, 'a', ['one']);
  putPod(w, 'one', ['a']);
  await until('the refusal', () => told(w, /: NodePrepareResources failed for ResourceClaim a: no light/), {
    agent: w.agent,
  });
  gpu.behaviour.fault = { t: 'skip' };
  await until('what is missing', () => told(w, /: NodePrepareResources skipped 1 ResourceClaims/), { agent: w.agent });
  gpu.behaviour.fault = { t: 'fail', details: 'broken' };
  await until('the failure', () => told(w, /: NodePrepareResources: rpc error: code = Unknown desc = broken/), {
    agent: w.agent,
  });
  gpu.behaviour.fault = { t: 'hang' };
  const before = gpu.calls.length;
  await until('the next call', () => gpu.calls.length > before, { agent: w.agent });
  putClaim(w, 'b', ['two'], ['net.example.com']);
  putPod(w, 'two', ['b']);
  await until('the other', () => runs(w, 'two'), { agent: w.agent });
  assert.deepEqual(net.calls, ['prepare b']);

  // The call ends after 45 s; what the pod may have got by it is given back.
  delete gpu.behaviour.fault;
  deletePod(w, 'one');
  await until('its end', () => podOf(w, 'one') === undefined, { agent: w.agent });
  assert.equal(gpu.calls.at(-1), 'unprepare a');
  assert.ok(
    await told(w, /: NodePrepareResources: rpc error: code = DeadlineExceeded desc = context deadline exceeded/),
  );
  assert.equal(containersOf(w, 'one').length, 0);
  assert.deepEqual(
    (await checkpoint(w)).map(({ name }) => name),
    ['b'],
  );
});

test('slices of all drivers are removed at the start, and of one that is away for 30 s', async (t) => {
  const w = await world(t);
  const wiped = () =>
    w.server.requests
      .filter(({ method, resource }) => method === 'DELETE' && resource === 'resourceslices')
      .map(({ query }) => query['fieldSelector']);
  await until('the first', () => wiped().length === 1);
  assert.deepEqual(wiped(), ['spec.nodeName=node']);
  const gpu = await driver(w);
  const net = await driver(w, 'net.example.com', 'net.sock');
  const went = Date.now();
  gpu.stop();
  rmSync(gpu.socket, { force: true });
  // One that comes back in time keeps its own.
  net.stop();
  await net.start();
  await until('another registration', () => net.told.length === 2);
  await until('the second', () => wiped().length === 2);
  assert.ok(Date.now() - went >= 29_000);
  assert.deepEqual(wiped().slice(1), [`spec.driver=${DRIVER},spec.nodeName=node`]);
  await gpu.start();
  await until('it to be back', () => gpu.told.length === 2);
});

test("kubelet's checkpoint is taken over: a running pod's claim is known, that of a pod that is gone is given back", async (t) => {
  const w = await world(t);
  const gpu = await driver(w);
  putClaim(w, 'a', ['one']);
  putPod(w, 'one', ['a']);
  await until('its container', () => runs(w, 'one'), { agent: w.agent });
  await w.agent.stop();
  const [a] = await checkpoint(w);
  assert.ok(a);
  const device = { pool: 'pool', device: 'dev', share: null, requests: [], cdi: [] };
  const gone = { ...a, name: 'gone', uid: 'uid-of-gone', pods: ['uid-of-nobody'], drivers: { [DRIVER]: [device] } };
  await writeFile(join(w.dir, 'root', 'dra_manager_state'), claimCheckpointText([a, gone]));
  await w.restart();
  await until('it to be given back', () => gpu.calls.includes('unprepare gone'), { agent: w.agent });
  assert.deepEqual(gpu.calls, ['prepare a', 'unprepare gone']);
  // A container that is made anew gets the devices that stand in the checkpoint.
  w.sim.exitContainer(containersOf(w, 'one')[0]?.id ?? '', 1);
  await until('another container', () => containersOf(w, 'one').some((c) => c.config.metadata?.attempt === 1), {
    agent: w.agent,
  });
  const made = containersOf(w, 'one').find((c) => c.config.metadata?.attempt === 1);
  assert.deepEqual(
    made?.config.CDIDevices,
    deviceOf(DRIVER, { name: 'a' }).cdiDeviceIds.map((name) => ({ name })),
  );

  await w.agent.stop();
  const broken = (await readFile(join(w.dir, 'root', 'dra_manager_state'), 'utf8')).replace('dev-a', 'dev-b');
  await writeFile(join(w.dir, 'root', 'dra_manager_state'), broken);
  await assert.rejects(w.restart());
  assert.match(
    await readFile(join(w.dir, 'agent.log'), 'utf8'),
    /create ResourceClaim cache: GetOrCreate\(\) on checkpoint state: failed to get checkpoint dra_manager_state: checkpoint is corrupted/,
  );
});

test("a driver's word of its devices' health is told in the status, and is known to the next agent", async (t) => {
  const w = await world(t, { ResourceHealthStatus: true });
  const gpu = new TestDriver(join(w.dir, 'root', 'plugins_registry', 'gpu.sock'), DRIVER);
  const says = (health: HealthStatus) => {
    const device = { poolName: 'pool', deviceName: 'dev-a' };
    gpu.behaviour.health = [{ device, health, lastUpdatedTime: '0', healthCheckTimeoutSeconds: '3600' }];
    gpu.tellHealth();
  };
  says(HealthStatus.HEALTHY);
  w.drivers.push(gpu);
  await gpu.start();
  await until('its registration', () => gpu.told.length > 0);
  putClaim(w, 'a', ['one']);
  putPod(w, 'one', ['a']);
  const tells = (health: string) => async () => {
    const { status } = (await w.agent.pods()).find(({ metadata }) => metadata?.name === 'one') ?? {};
    const rows = status?.containerStatuses?.[0]?.allocatedResourcesStatus ?? [];
    const resources = [{ resourceID: `${DRIVER}/claim=a`, health }];
    return JSON.stringify(rows) === JSON.stringify([{ name: 'claim:in-a', resources }]);
  };
  await until('it is healthy', tells('Healthy'), { agent: w.agent });
  says(HealthStatus.UNHEALTHY);
  await until('it is not', tells('Unhealthy'), { agent: w.agent });
  const file = join(w.dir, 'root', 'dra_health_state');
  const written = async () => readHealthCheckpoint(await readFile(file, 'utf8'), { at: Date.now(), steady: 0 });
  await until('the file', async () => (await written())[DRIVER]?.['pool/dev-a']?.health === 'Unhealthy');
  await w.agent.kill();
  gpu.stop();
  await w.restart();
  await until('what the file says', tells('Unhealthy'), { agent: w.agent });
  await gpu.start();
  says(HealthStatus.HEALTHY);
  await until('its word', tells('Healthy'), { agent: w.agent });
  gpu.stop();
  await until('it is gone', tells('Unknown'), { agent: w.agent });
});
