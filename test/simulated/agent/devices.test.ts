/** Device plugins with real sockets, an agent with worker threads, the simulated runtime. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { DeviceCheckpointFile } from '../../../actors/resources/devices/device-checkpoint-file.ts';
import type { GetPodResourcesResponse } from '../../../cri/generated/podresources/v1/api.ts';
import { readDeviceCheckpoint } from '../../../machines/devices/device-checkpoint.ts';
import { TestDevicePlugin } from '../../tools/device-plugin.ts';
import type { PluginBehaviour } from '../../tools/device-plugin.ts';
import { askPodResources, listPodResources } from '../../tools/pod-resources.ts';
import { bench, containerOf, manifest, running, until } from './support/bench.ts';
import type { Bench } from './support/bench.ts';

const GPU = 'example.com/gpu';
/** Sub paths are bound. */
const noRoot = process.getuid?.() !== 0;
const asking = (count: number) => ({ resources: { limits: { [GPU]: String(count) } } });
const answer: PluginBehaviour['answer'] = (ids) => ({
  envs: { GPUS: ids.join() },
  mounts: [{ containerPath: '/lib/gpu', hostPath: '/opt/gpu', readOnly: true }],
  devices: ids.map((id) => ({ containerPath: `/dev/${id}`, hostPath: `/dev/host-${id}`, permissions: 'rw' })),
  annotations: { 'gpu.example.com/ids': ids.join() },
  cdiDevices: [{ name: 'example.com/gpu=all' }],
});

function plugin(b: Bench, behaviour: Partial<PluginBehaviour> = {}, folder = 'device-plugins'): TestDevicePlugin {
  const devices = { a: 'Healthy', b: 'Healthy', c: 'Healthy' } as const;
  return new TestDevicePlugin(join(b.dir, 'root', folder), 'gpu.sock', GPU, { devices, answer, ...behaviour });
}

/** Registers, and waits until the node has its devices: from then on pods that ask are given some. */
async function comes(b: Bench, gpu: TestDevicePlugin): Promise<void> {
  await gpu.start();
  await gpu.register();
  await until('its devices', async () => (await registered(b)).length > 0, { agent: b.agent });
}

async function checkpoint(b: Bench) {
  const file = join(b.dir, 'root', 'device-plugins', 'kubelet_internal_checkpoint');
  return readDeviceCheckpoint(await readFile(file, 'utf8').catch(() => ''));
}

/** Who has which device, as the pod-resources API tells. */
async function listed(b: Bench): Promise<string[]> {
  return (await listPodResources(join(b.dir, 'root')))
    .flatMap((pod) =>
      pod.containers.flatMap(({ name, devices }) =>
        devices.map(({ resourceName, deviceIds }) => `${pod.name} ${name} ${resourceName} ${deviceIds.join()}`),
      ),
    )
    .sort();
}

async function registered(b: Bench): Promise<readonly string[]> {
  return (await checkpoint(b))?.registered[GPU] ?? [];
}

async function held(b: Bench): Promise<string[]> {
  return ((await checkpoint(b))?.entries ?? []).flatMap(({ DeviceIDs }) => Object.values(DeviceIDs).flat()).sort();
}

test(
  'a subPathExpr and a command name a variable that the plugin gave their container',
  { skip: noRoot },
  async (t) => {
    const b = await bench(t);
    const gpu = plugin(b, { preStart: true });
    t.after(() => gpu.stop());
    await comes(b, gpu);
    const volumeMounts = [{ name: 'v', mountPath: '/v', subPathExpr: 'of-$(GPUS)' }];
    const container = { ...asking(1), volumeMounts, args: ['$(GPUS)', '$(OWN)'], env: [{ name: 'OWN', value: 'own' }] };
    await b.put('p.yaml', manifest('one', { volumes: [{ name: 'v', emptyDir: {} }] }, container));
    try {
      await running(b, 1);
      assert.deepEqual(gpu.calls, ['Allocate a', 'PreStartContainer a'], 'nobody is told twice of a start');
      const [pod] = await b.agent.pods();
      const volume = join(b.dir, 'root/pods', pod?.metadata?.uid ?? '', 'volumes/kubernetes.io~empty-dir/v');
      assert.deepEqual(await readdir(volume), ['of-a']);
      assert.deepEqual(containerOf(b.sim, 'one')?.config.args, ['a', 'own']);
      assert.ok(containerOf(b.sim, 'one')?.config.mounts.some(({ containerPath }) => containerPath === '/v'));
    } finally {
      // With its bind mount, which would outlive the folder's test.
      await b.remove('p.yaml');
      await until('the pod is gone', async () => (await b.agent.rows()).length === 0, { agent: b.agent });
    }
  },
);

test('a pod gets its devices, keeps them over restarts of container and agent, and gives them back', async (t) => {
  const b = await bench(t);
  const gpu = plugin(b, { preStart: true, prefers: (available) => available.toReversed() });
  t.after(() => gpu.stop());
  await comes(b, gpu);
  await b.put('p.yaml', manifest('one', {}, asking(2)));
  await running(b, 1);
  assert.deepEqual(gpu.calls, ['GetPreferredAllocation a,b,c', 'Allocate c,b', 'PreStartContainer c,b']);
  const config = () => containerOf(b.sim, 'one')?.config;
  assert.deepEqual(
    config()?.devices.map(({ containerPath, hostPath }) => [containerPath, hostPath]),
    [
      ['/dev/c', '/dev/host-c'],
      ['/dev/b', '/dev/host-b'],
    ],
  );
  assert.deepEqual(config()?.envs[0], { key: 'GPUS', value: 'c,b' });
  assert.equal(config()?.mounts[0]?.hostPath, '/opt/gpu');
  assert.equal(config()?.annotations['gpu.example.com/ids'], 'c,b');
  assert.deepEqual(config()?.CDIDevices, [{ name: 'example.com/gpu=all' }]);
  assert.deepEqual(await held(b), ['b', 'c']);
  // Gate ResourceHealthStatus is off by default.
  const [told] = (await b.agent.pods()).map(({ status }) => status?.containerStatuses?.[0]);
  assert.equal(told?.ready, true);
  assert.equal('allocatedResourcesStatus' in told, false);

  b.sim.exitContainer(containerOf(b.sim, 'one')?.id ?? '', 1);
  const again = () => config()?.metadata?.attempt === 1 && containerOf(b.sim, 'one')?.state === 1;
  await until('a new container', again, { agent: b.agent });
  assert.deepEqual(gpu.calls.slice(3), ['PreStartContainer c,b']);
  assert.equal(config()?.annotations['gpu.example.com/ids'], 'c,b');

  // An agent that comes after a crash: the container goes on, though the plugin has not registered again.
  await running(b, 1);
  await b.agent.kill();
  await b.restart();
  await running(b, 1);
  assert.equal(containerOf(b.sim, 'one')?.config.metadata?.attempt, 1);
  assert.deepEqual(await held(b), ['b', 'c']);
  // Its socket was removed by the new agent, which is how plugins hear of it.
  await gpu.start();
  await gpu.register();
  await until('its devices', async () => (await registered(b)).length === 3, { agent: b.agent });
  await b.put('q.yaml', manifest('two', {}, asking(1)));
  await running(b, 2);
  assert.deepEqual(await listed(b), [
    'one-node c example.com/gpu b',
    'one-node c example.com/gpu c',
    'two-node c example.com/gpu a',
  ]);
  assert.equal(containerOf(b.sim, 'two')?.config.annotations['gpu.example.com/ids'], 'a');

  await b.remove('p.yaml');
  await until('its end', async () => (await held(b)).join() === 'a', { agent: b.agent });
});

test('of a pod that has ended the pod-resources API knows nothing', async (t) => {
  const b = await bench(t);
  await b.put('p.yaml', manifest('one', { restartPolicy: 'Never' }));
  await running(b, 1);
  const podName = 'one-node';
  const get = () =>
    askPodResources<GetPodResourcesResponse>(join(b.dir, 'root'), (client, done) =>
      client.get({ podName, podNamespace: 'default' }, done),
    );
  assert.equal((await get()).podResources?.name, podName);
  b.sim.exitContainer(containerOf(b.sim, 'one')?.id ?? '', 0);
  await until('its end', async () => (await b.agent.pods())[0]?.status?.phase === 'Succeeded', { agent: b.agent });
  await assert.rejects(get(), /pod one-node in namespace default not found/);
});

test('a pod that can have no devices fails with the word of kubelet, and others go on', async (t) => {
  const b = await bench(t);
  const gpu = plugin(b);
  t.after(() => gpu.stop());
  await comes(b, gpu);
  await b.put('p.yaml', manifest('many', {}, asking(4)), manifest('none', {}));
  const failed = async (name: string) =>
    (await b.agent.pods()).find(
      ({ metadata, status }) => metadata?.name === `${name}-node` && status?.phase === 'Failed',
    )?.status;
  const row = await until('its failure', () => failed('many'), { agent: b.agent });
  assert.equal(row.reason, 'UnexpectedAdmissionError');
  const few = 'requested number of devices unavailable for example.com/gpu. Requested: 4, Available: 3';
  assert.match(row.message ?? '', new RegExp(`Allocate failed due to ${few}, which is unexpected`));
  await running(b, 1);
  gpu.behaviour.failing = { allocate: 'no light' };
  await b.put('q.yaml', manifest('dark', {}, asking(1)));
  const dark = await until('its failure', () => failed('dark'), { agent: b.agent });
  assert.match(JSON.stringify(dark), /Allocate failed due to rpc error: code = Unknown desc = no light, which/);
  assert.deepEqual(await held(b), []);
  // Kubelet's topology manager is asked for each pod, devices included.
  assert.match(await b.agent.metrics(), /^kubelet_topology_manager_admission_requests_total 3$/m);
});

test('devices of a plugin that hung up are given to nobody; one that comes again takes its place', async (t) => {
  const b = await bench(t);
  const gpu = plugin(b);
  t.after(() => gpu.stop());
  await comes(b, gpu);
  gpu.stop();
  await b.put('p.yaml', manifest('early', {}, asking(1)));
  const row = await until(
    'its failure',
    async () => (await b.agent.pods()).find(({ status }) => status?.phase === 'Failed'),
    {
      agent: b.agent,
    },
  );
  assert.match(JSON.stringify(row), /no healthy devices present|has been stopped|Unavailable/);
  await gpu.start();
  await gpu.register();
  await gpu.register();
  gpu.behaviour.devices = { x: 'Healthy', y: 'Unhealthy' };
  gpu.tell();
  await until('its devices', async () => (await registered(b)).join() === 'x', { agent: b.agent });
  await b.put('q.yaml', manifest('late', {}, asking(1)));
  await running(b, 1);
  assert.equal(containerOf(b.sim, 'late')?.config.annotations['gpu.example.com/ids'], 'x');
});

test('who registers wrongly is told why', async (t) => {
  const b = await bench(t);
  const gpu = plugin(b);
  t.after(() => gpu.stop());
  await until('the socket', () => gpu.start().then(() => true));
  await assert.rejects(gpu.register('v1alpha'), {
    message: 'requested API version "v1alpha" is not supported by kubelet. Supported version is ["v1beta1"]',
  });
  await assert.rejects(gpu.register('v1beta1', 'cpu'), { message: 'the ResourceName "cpu" is invalid' });
});

test('a plugin in plugins_registry is found, told, and taken out when its socket goes', async (t) => {
  const b = await bench(t);
  const gpu = plugin(b, {}, 'plugins_registry');
  t.after(() => gpu.stop());
  await gpu.start(true);
  await until('its devices', async () => (await registered(b)).length === 3, { agent: b.agent });
  assert.deepEqual(gpu.told, [{ pluginRegistered: true, error: '' }]);
  const metrics = await b.agent.metrics();
  for (const state of ['desired', 'actual'])
    assert.ok(
      metrics.includes(`plugin_manager_total_plugins{socket_path="${gpu.socket}",state="${state}_state_of_world"} 1\n`),
    );
  await b.put('p.yaml', manifest('one', {}, asking(1)));
  await running(b, 1);
  await rm(gpu.socket);
  gpu.stop();
  await gpu.start(true);
  await until('another registration', () => gpu.told.length === 2, { agent: b.agent });
});

test('device health is told in the status, and is unknown while the plugin is away', async (t) => {
  const b = await bench(t, { config: { featureGates: { ResourceHealthStatus: true } } });
  const gpu = plugin(b);
  t.after(() => gpu.stop());
  await comes(b, gpu);
  await b.put('p.yaml', manifest('one', {}, asking(2)), manifest('none', {}));
  await running(b, 2);
  const health = async (pod: string) => {
    const { status } = (await b.agent.pods()).find(({ metadata }) => metadata?.name === `${pod}-node`) ?? {};
    return status?.containerStatuses?.[0]?.allocatedResourcesStatus;
  };
  const tells = (a: string, other: string) => async () =>
    JSON.stringify(await health('one')) ===
    JSON.stringify([
      {
        name: GPU,
        resources: [
          { resourceID: 'a', health: a },
          { resourceID: 'b', health: other },
        ],
      },
    ]);
  await until('both healthy', tells('Healthy', 'Healthy'), { agent: b.agent });
  assert.equal(await health('none'), undefined);
  gpu.behaviour.devices['b'] = 'Unhealthy';
  gpu.tell();
  await until('one unhealthy', tells('Healthy', 'Unhealthy'), { agent: b.agent });
  await b.agent.kill();
  await b.restart();
  await until('the plugin is away', tells('Unknown', 'Unknown'), { agent: b.agent });
  await gpu.start();
  await gpu.register();
  await until('its word', tells('Healthy', 'Unhealthy'), { agent: b.agent });
  gpu.stop();
  await until('it hung up', tells('Unknown', 'Unknown'), { agent: b.agent });
});

test('with --device-plugins-dir plugins register there, and who has what stands there', async (t) => {
  const devicePluginsDir = await mkdtemp(join(tmpdir(), 'plugins-'));
  t.after(() => rm(devicePluginsDir, { recursive: true, force: true }));
  const b = await bench(t, { settings: { devicePluginsDir } });
  const gpu = new TestDevicePlugin(devicePluginsDir, 'gpu.sock', GPU, { devices: { a: 'Healthy' } });
  t.after(() => gpu.stop());
  await gpu.start();
  await gpu.register();
  const file = join(devicePluginsDir, 'kubelet_internal_checkpoint');
  const kept = async () => readDeviceCheckpoint(await readFile(file, 'utf8').catch(() => ''));
  await until('its device', async () => (await kept())?.registered[GPU]?.length === 1, { agent: b.agent });
  await b.put('p.yaml', manifest('one', {}, asking(1)));
  await running(b, 1);
  assert.deepEqual(
    (await kept())?.entries.map(({ ResourceName, DeviceIDs }) => [ResourceName, Object.values(DeviceIDs).flat()]),
    [[GPU, ['a']]],
  );
  assert.equal(await checkpoint(b), null);
});

test('with --wait-for-plugins a pod whose plugin is not back waits for it, and others do not', async (t) => {
  const b = await bench(t, { settings: { waitForPluginsMs: 300_000 } });
  const gpu = plugin(b);
  t.after(() => gpu.stop());
  await comes(b, gpu);
  await b.put('p.yaml', manifest('one', {}, asking(2)));
  await running(b, 1);
  await b.agent.kill();
  gpu.stop();
  // As after a boot: nothing runs any more, and the plugin is late.
  b.sim.exitContainer(containerOf(b.sim, 'one')?.id ?? '', 1);
  await b.put('q.yaml', manifest('two', {}, asking(1)), manifest('none', {}));
  await b.restart();
  const states = async () =>
    (await b.agent.rows())
      .map(({ name, state }) => `${name} ${state}`)
      .sort()
      .join();
  const waiting = 'none-node syncing.running,one-node syncing.waitingForPlugin,two-node syncing.waitingForPlugin';
  await until('they wait', async () => (await states()) === waiting, { agent: b.agent });
  const [row] = (await b.agent.rows()).filter(({ name }) => name === 'one-node');
  assert.match(row?.why ?? '', /^device plugin of example\.com\/gpu has not come back; until 20/);
  // What it has is nobody else's, though it was not judged yet.
  assert.deepEqual(await held(b), ['a', 'b']);
  await gpu.start();
  await gpu.register();
  await running(b, 3);
  assert.equal(containerOf(b.sim, 'one')?.config.annotations['gpu.example.com/ids'], 'a,b');
  assert.equal(containerOf(b.sim, 'two')?.config.annotations['gpu.example.com/ids'], 'c');
});

test('a plugin that does not come in time is waited for no longer: the pod is rejected as by kubelet', async (t) => {
  const b = await bench(t, { settings: { waitForPluginsMs: 1_000 } });
  const gpu = plugin(b);
  t.after(() => gpu.stop());
  await comes(b, gpu);
  await b.agent.kill();
  gpu.stop();
  await b.put('p.yaml', manifest('one', {}, asking(1)));
  await b.restart();
  const status = async () =>
    (await b.agent.pods()).find(({ metadata, status }) => metadata?.name === 'one-node' && status?.phase === 'Failed')
      ?.status;
  const failed = await until('its rejection', status, { agent: b.agent });
  assert.equal(failed.reason, 'UnexpectedAdmissionError');
  assert.match(failed.message ?? '', /no healthy devices present; cannot allocate unhealthy devices example\.com\/gpu/);
});

test('what an agent leaves, stopped or killed, tells that the machine is no new one', async (t) => {
  const b = await bench(t);
  const folder = join(b.dir, 'root', 'device-plugins');
  const file = new DeviceCheckpointFile(folder, pino({ level: 'silent' }));
  await b.agent.kill();
  assert.equal(await file.nothingThere(), false);
  await rm(folder, { recursive: true });
  assert.equal(await file.nothingThere(), true);
  await b.restart();
  await b.agent.stop();
  assert.equal(await file.nothingThere(), false);
  assert.deepEqual(await held(b), []);
});
