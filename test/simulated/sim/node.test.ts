import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { CgroupDriver, NamespaceMode } from '../../../cri/generated/runtime/v1/api.ts';
import { bench, call, sandboxConfig } from './sim-client.ts';
import { until } from '../../tools/wait-for.ts';

test('Version, Status, RuntimeConfig and UpdateRuntimeConfig', async (t) => {
  const b = await bench(t, { runtime: { version: '1.2.3', cgroupDriver: 'systemd' } });
  assert.deepEqual(await call(b.runtime, b.runtime.version, { version: '0.1.0' }), {
    version: '0.1.0',
    runtimeName: 'actorlet-sim',
    runtimeVersion: '1.2.3',
    runtimeApiVersion: 'v1',
  });
  const runtimeConfig = { networkConfig: { podCidr: '10.9.0.0/16' } };
  await call(b.runtime, b.runtime.updateRuntimeConfig, { runtimeConfig });
  const got = await call(b.runtime, b.runtime.status, { verbose: true });
  assert.deepEqual(
    got.status?.conditions.map((each) => [each.type, each.status]),
    [
      ['RuntimeReady', true],
      ['NetworkReady', true],
    ],
  );
  assert.equal(got.features?.supplementalGroupsPolicy, true);
  assert.deepEqual(got.runtimeHandlers, [
    { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
  ]);
  assert.equal((JSON.parse(got.info['config'] ?? '') as { podCidr: string }).podCidr, '10.9.0.0/16');
  const config = await call(b.runtime, b.runtime.runtimeConfig, {});
  assert.equal(config.linux?.cgroupDriver, CgroupDriver.SYSTEMD);
});

test('what the script switches off is Unimplemented', async (t) => {
  const b = await bench(t, {
    runtime: { supportsRuntimeConfig: false, supportsCheckpoint: false, supportsPodResources: false },
  });
  const gone = { code: status.UNIMPLEMENTED };
  await assert.rejects(call(b.runtime, b.runtime.runtimeConfig, {}), gone);
  const podSandboxId = await b.sandbox('web');
  await assert.rejects(call(b.runtime, b.runtime.updatePodSandboxResources, { podSandboxId }), gone);
  const containerId = await b.run(podSandboxId, 'c');
  const location = '/nonexistent/x';
  await assert.rejects(call(b.runtime, b.runtime.checkpointContainer, { containerId, location, timeout: '0' }), gone);
});

test('UpdatePodSandboxResources is kept', async (t) => {
  const b = await bench(t);
  const podSandboxId = await b.sandbox('web', { linux: { cgroupParent: '/x' } });
  const resources = { ...sandboxResources, cpuShares: '7' };
  await call(b.runtime, b.runtime.updatePodSandboxResources, { podSandboxId, resources });
  assert.equal(b.sim.state.sandboxes.get(podSandboxId)?.config.linux?.resources?.cpuShares, '7');
});

test('runtime and network are not ready for a time, by script and by test', async (t) => {
  const b = await bench(t, {
    runtime: {
      notReady: [{ condition: 'NetworkReady', for: 3_000, reason: 'NetworkPluginNotReady', message: 'no cni' }],
    },
  });
  const conditions = async () => (await call(b.runtime, b.runtime.status, { verbose: false })).status?.conditions ?? [];
  assert.deepEqual((await conditions())[1], {
    type: 'NetworkReady',
    status: false,
    reason: 'NetworkPluginNotReady',
    message: 'no cni',
  });
  await assert.rejects(b.sandbox('web'), /failed to setup network for sandbox "[0-9a-f]+": no cni/);
  const linux = { securityContext: { namespaceOptions: { network: NamespaceMode.NODE } } };
  await b.sandbox('host', { linux });
  await until(async () => (await conditions())[1]?.status === true, 'the network to be ready');
  await b.sandbox('web');
  b.sim.setReady('RuntimeReady', { reason: 'Broken', message: 'by test' });
  assert.deepEqual((await conditions())[0], {
    type: 'RuntimeReady',
    status: false,
    reason: 'Broken',
    message: 'by test',
  });
  b.sim.setReady('RuntimeReady', undefined);
  assert.equal((await conditions())[0]?.status, true);
});

test('stats and metrics follow what runs', async (t) => {
  const b = await bench(t, {
    containers: [{ usage: { cpuNanoCores: 500_000_000, memoryBytes: 1_000_000 } }],
  });
  const podSandboxId = await b.sandbox('web');
  const containerId = await b.run(podSandboxId, 'c');
  const other = await b.run(podSandboxId, 'd');
  b.sim.exitContainer(other, 0);
  const { stats } = await call(b.runtime, b.runtime.containerStats, { containerId });
  assert.equal(stats?.cpu?.usageNanoCores?.value, '500000000');
  assert.equal(stats?.memory?.workingSetBytes?.value, '1000000');
  assert.equal(stats?.attributes?.metadata?.name, 'c');
  const all = await call(b.runtime, b.runtime.listContainerStats, {});
  assert.deepEqual(
    all.stats.map((each) => each.attributes?.id),
    [containerId],
  );
  const filter = { id: '', podSandboxId, labelSelector: { 'io.kubernetes.container.name': 'x' } };
  assert.deepEqual((await call(b.runtime, b.runtime.listContainerStats, { filter })).stats, []);
  const pod = (await call(b.runtime, b.runtime.podSandboxStats, { podSandboxId })).stats;
  assert.equal(pod?.linux?.memory?.workingSetBytes?.value, '1000000');
  assert.equal(pod?.linux?.process?.processCount?.value, '2');
  assert.equal(pod?.linux?.network?.defaultInterface?.name, 'eth0');
  assert.equal((await call(b.runtime, b.runtime.listPodSandboxStats, {})).stats.length, 1);
  const { descriptors } = await call(b.runtime, b.runtime.listMetricDescriptors, {});
  const { podMetrics } = await call(b.runtime, b.runtime.listPodSandboxMetrics, {});
  const names = podMetrics[0]?.containerMetrics[0]?.metrics.map((each) => each.name);
  assert.deepEqual(
    names,
    descriptors.map((each) => each.name),
  );
  const absent = call(b.runtime, b.runtime.containerStats, { containerId: '0'.repeat(64) });
  await assert.rejects(absent, { code: status.NOT_FOUND });
});

const sandboxResources = {
  cpuPeriod: '0',
  cpuQuota: '0',
  cpuShares: '0',
  memoryLimitInBytes: '0',
  oomScoreAdj: '0',
  cpusetCpus: '',
  cpusetMems: '',
  hugepageLimits: [],
  unified: {},
  memorySwapLimitInBytes: '0',
};

test('a config without metadata is InvalidArgument', async (t) => {
  const b = await bench(t);
  const config = { ...sandboxConfig('web'), metadata: undefined };
  await assert.rejects(call(b.runtime, b.runtime.runPodSandbox, { config, runtimeHandler: '' }), {
    code: status.INVALID_ARGUMENT,
  });
});
