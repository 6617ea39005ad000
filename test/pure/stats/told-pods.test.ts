/** Gate PodAndContainerStatsFromCRI: pods and containers as the runtime tells of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CriError } from '../../../cri/client/cri-error.ts';
import { summaryJson } from '../../../actors/resources/stats/summary.ts';
import { CRI_TIME, container, criPodStats, criStats, fakeNode, NOW, reading, sandbox } from './support/fake-node.ts';
import type { FakeNodeWish } from './support/fake-node.ts';

const value = (n: number) => ({ value: String(n) });
const eth0 = { name: 'eth0', rxBytes: value(11), rxErrors: value(0), txBytes: value(12), txErrors: value(1) };
const psi = {
  Full: { Total: '1', Avg10: 0.5, Avg60: 0, Avg300: 0 },
  Some: { Total: '2', Avg10: 1, Avg60: 0, Avg300: 0 },
};
const pressure = {
  full: { total: 1, avg10: 0.5, avg60: 0, avg300: 0 },
  some: { total: 2, avg10: 1, avg60: 0, avg300: 0 },
};
const told = criPodStats('s1', [criStats('c1', 'main'), criStats('gone', 'ended')], {
  cpu: { timestamp: CRI_TIME, usageCoreNanoSeconds: value(9e9), usageNanoCores: value(77), psi },
  memory: { timestamp: CRI_TIME, workingSetBytes: value(500), usageBytes: value(600) },
  network: { timestamp: CRI_TIME, defaultInterface: eth0, interfaces: [eth0, { ...eth0, name: 'net1' }] },
  process: { timestamp: CRI_TIME, processCount: value(4) },
  io: { timestamp: CRI_TIME, psi },
});

/** Cgroups of the same things are there, and would tell otherwise. */
function node(more: FakeNodeWish = {}) {
  return fakeNode({
    sandboxes: [sandbox('s1', 'web')],
    containers: [container('c1', 's1', 'main')],
    stats: [criStats('c1', 'main')],
    podStats: [told],
    cgroups: { '/kubepods/poduid-web': reading(20), '/kubepods/poduid-web/c1': reading(10) },
    config: { featureGates: { PodAndContainerStatsFromCRI: true } },
    ...more,
  });
}

test('the summary has of pods what the runtime tells, and of the node what its cgroups do', async () => {
  const { stats, calls, reader } = node();
  const summary = await stats.summary();
  const time = Number(CRI_TIME);
  const network = { name: 'eth0', rxBytes: 11, rxErrors: 0, txBytes: 12, txErrors: 1 };
  const [pod] = JSON.parse(JSON.stringify(summary.pods)) as Record<string, unknown>[];
  assert.deepEqual(pod, {
    podRef: { name: 'web', namespace: 'shop', uid: 'uid-web' },
    startTime: time,
    containers: [
      {
        name: 'main',
        startTime: time,
        cpu: { time, usageCoreNanoSeconds: 7e9 },
        memory: { time, usageBytes: 2000, workingSetBytes: 1000 },
        io: { time: NOW * 1e6 },
        rootfs: {
          ...{ time, availableBytes: 600, capacityBytes: 1000, usedBytes: 12288 },
          ...{ inodesFree: 40, inodes: 100, inodesUsed: 6 },
        },
        swap: { time: NOW * 1e6, swapAvailableBytes: 0, swapUsageBytes: 0 },
      },
    ],
    cpu: { time, usageNanoCores: 77, usageCoreNanoSeconds: 9e9, psi: pressure },
    memory: { time, usageBytes: 600, workingSetBytes: 500 },
    io: { time, psi: pressure },
    network: { time, ...network, interfaces: [network, { ...network, name: 'net1' }] },
    'ephemeral-storage': {
      ...(pod?.['ephemeral-storage'] as object),
      usedBytes: 12288,
    },
    process_stats: { process_count: 4 },
  });
  assert.equal(summary.node.cpu !== undefined && summary.node.memory !== undefined, true);
  assert.equal(
    reader.reads.some((path) => path.includes('poduid-web')),
    false,
    'no cgroup of a pod is read',
  );
  assert.deepEqual(calls.sort(), ['ImageFsInfo', 'ListContainers', 'ListPodSandbox', 'ListPodSandboxStats']);
});

test('without KubeletPSI no pressure is told', async () => {
  const gates = { PodAndContainerStatsFromCRI: true, KubeletPSI: false };
  const { stats } = node({ config: { featureGates: gates } });
  assert.equal(summaryJson(await stats.summary()).includes('"psi"'), false);
});

test('a pod without containers and one of which the runtime tells nothing are told all the same', async () => {
  const sandboxes = [sandbox('s1', 'web'), sandbox('s2', 'idle'), sandbox('s3', 'silent')];
  const idle = criPodStats('s2', [], { memory: { timestamp: CRI_TIME, workingSetBytes: value(1) } });
  const { stats } = node({ sandboxes, podStats: [told, idle, criPodStats('s3', []), criPodStats('other', [])] });
  const shown = (await stats.cpuAndMemory()).pods.map(({ podRef, containers, cpu, memory }) => [
    podRef.name,
    containers.map(({ name }) => name),
    cpu?.usageNanoCores,
    memory?.workingSetBytes,
  ]);
  assert.deepEqual(shown, [
    ['web', ['main'], 77, 500],
    ['idle', [], undefined, 1],
    ['silent', [], undefined, undefined],
  ]);
});

test('a runtime that tells counters only: the rate of a container is that since they were told before', async () => {
  const podStats = [told];
  const { stats } = node({ podStats });
  const rate = async () => (await stats.cpuAndMemory()).pods[0]?.containers[0]?.cpu?.usageNanoCores;
  assert.equal(await rate(), undefined);
  const timestamp = String(BigInt(CRI_TIME) + 10_000_000_000n);
  const later = criStats('c1', 'main', {
    cpu: { timestamp, usageCoreNanoSeconds: value(12e9), usageNanoCores: undefined },
  });
  podStats[0] = criPodStats('s1', [later]);
  assert.equal(await rate(), 5e8);
});

test('a runtime that has no such call: cgroups tell, as without the gate', async () => {
  const failure = new CriError('ListPodSandboxStats', 'Unimplemented', 'unknown method');
  const { stats, calls } = node({ failing: 'ListPodSandboxStats', failure });
  const [pod] = (await stats.summary()).pods;
  assert.equal(pod?.cpu?.usageCoreNanoSeconds !== 9e9, true);
  assert.equal(pod?.memory?.pageFaults, 20, "the cgroup's");
  assert.ok(calls.includes('ListContainerStats'));
});

test('a call that fails is told with the words of the runtime', async () => {
  const failure = new CriError('ListPodSandboxStats', 'Unavailable', 'gone');
  const { stats } = node({ failing: 'ListPodSandboxStats', failure });
  await assert.rejects(stats.summary(), {
    message: 'failed to list pod stats: rpc error: code = Unavailable desc = gone',
  });
});
