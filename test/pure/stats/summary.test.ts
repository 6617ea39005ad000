import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keyOf } from '../../../actors/resources/stats/cgroup-book.ts';
import { accountedCgroup } from '../../../actors/resources/stats/node-usage.ts';
import { summaryJson } from '../../../actors/resources/stats/summary.ts';
import { MIB, container, criStats, fakeNode, reading, sandbox } from './support/fake-node.ts';

const onePod = {
  sandboxes: [sandbox('s1', 'web')],
  containers: [container('c1', 's1', 'main')],
  stats: [criStats('c1', 'main')],
};
const cgroups = {
  '/kubepods/burstable/poduid-web': reading(20),
  '/kubepods/burstable/poduid-web/c1': reading(10),
  '/kubepods/burstable/poduid-web/s1': reading(1),
};
const time = '2026-01-02T03:04:05Z';
const criTime = '2026-01-02T03:04:04Z';
const none = { total: 0, avg10: 0, avg60: 0, avg300: 0 };
const psi = { full: none, some: none };
const memoryOf = (mib: number) => ({
  usageBytes: mib * MIB,
  workingSetBytes: mib * MIB - 1000,
  rssBytes: mib * MIB - 2000,
  pageFaults: mib,
  majorPageFaults: 1,
});

/** The summary as people get it, without cpu figures (they have tests of their own) and with all times of readings alike. */
function shown(json: string): { node: Record<string, unknown>; pods: Record<string, unknown>[] } {
  return JSON.parse(json, (key, value: unknown) => {
    if (key === 'usageNanoCores' || key === 'usageCoreNanoSeconds') return undefined;
    return key === 'time' && typeof value === 'string' && value > time ? time : value;
  }) as never;
}

describe('the summary', () => {
  it('of a node with a pod: kubelet fields in kubelet order', async () => {
    const { stats, calls } = fakeNode({ ...onePod, cgroups });
    const json = summaryJson(await stats.summary());
    const network = {
      ...{ time, name: 'eth0', rxBytes: 9, rxErrors: 0, txBytes: 8, txErrors: 0 },
      interfaces: [
        { name: 'eth1', rxBytes: 1, rxErrors: 0, txBytes: 2, txErrors: 1 },
        { name: 'eth0', rxBytes: 9, rxErrors: 0, txBytes: 8, txErrors: 0 },
      ],
    };
    const fs = { availableBytes: 600, capacityBytes: 1000 };
    const inodes = { inodesFree: 40, inodes: 100 };
    const images = { time: criTime, ...fs, usedBytes: 5, ...inodes, inodesUsed: 3 };
    const swap = { time, swapUsageBytes: 0 };
    assert.deepEqual(shown(json), {
      node: {
        nodeName: 'one',
        systemContainers: [
          {
            name: 'pods',
            startTime: '2026-01-02T03:03:05Z',
            cpu: { time, psi },
            memory: { time, ...memoryOf(50), psi },
            io: { time, psi },
            swap,
          },
        ],
        startTime: '2026-01-02T02:04:05Z',
        cpu: { time, psi },
        memory: { time, availableBytes: 100 * MIB + 1000, ...memoryOf(100), psi },
        io: { time, psi },
        network,
        fs: { time, ...fs, usedBytes: 300, ...inodes, inodesUsed: 60 },
        runtime: { imageFs: images, containerFs: images },
        rlimit: { time, maxpid: 32768, curproc: 200 },
        swap: { time, swapAvailableBytes: 0, swapUsageBytes: 0 },
      },
      pods: [
        {
          podRef: { name: 'web', namespace: 'shop', uid: 'uid-web' },
          startTime: criTime,
          containers: [
            {
              name: 'main',
              startTime: criTime,
              cpu: { time, psi },
              memory: { time, ...memoryOf(10), psi },
              io: { time, psi },
              rootfs: { time: criTime, ...fs, usedBytes: 12288, ...inodes, inodesUsed: 6 },
              swap,
            },
          ],
          cpu: { time, psi },
          memory: { time, ...memoryOf(20), psi },
          io: { time, psi },
          network: { ...network, interfaces: [{ ...network.interfaces[0], rxBytes: 42 }, network.interfaces[1]] },
          'ephemeral-storage': { time, ...fs, usedBytes: 12288, ...inodes, inodesUsed: 6 },
          process_stats: { process_count: 3 },
          swap,
        },
      ],
    });
    assert.match(json, /^\{\n "node": \{\n {2}"nodeName": "one",\n {2}"systemContainers": \[/);
    const pod = JSON.parse(json) as { pods: object[] };
    assert.deepEqual(Object.keys(pod.pods[0] ?? {}), [
      ...['podRef', 'startTime', 'containers', 'cpu', 'memory', 'io', 'network', 'ephemeral-storage'],
      ...['process_stats', 'swap'],
    ]);
    assert.deepEqual(calls.sort(), ['ImageFsInfo', 'ListContainerStats', 'ListContainers', 'ListPodSandbox']);
  });

  it('has a rate from the first request on, and one reading each from the second on', async () => {
    const { stats, reader } = fakeNode({ ...onePod, cgroups });
    const first = await stats.summary();
    assert.equal(first.pods[0]?.cpu?.usageNanoCores, 1e8, '1 ms of cpu in each 10 ms');
    assert.equal(first.node.cpu?.usageNanoCores, 1e8);
    assert.equal(reader.reads.length, 8, 'four cgroups, twice');
    reader.passed += 5000;
    const second = await stats.summary();
    assert.equal(second.pods[0]?.containers[0]?.cpu?.usageNanoCores, 1e8);
    assert.equal(reader.reads.length, 12);
    assert.equal(reader.trees, 1, 'cgroups are looked for once');
  });

  it('answers those who ask together with one look', async () => {
    const { stats, calls } = fakeNode({ ...onePod, cgroups });
    const [a, b] = await Promise.all([stats.summary(), stats.summary()]);
    assert.equal(a, b);
    assert.equal(calls.length, 4);
    await stats.summary();
    assert.equal(calls.length, 8);
  });

  it('tells what the runtime tells of a container without a cgroup, and sums up a pod without one', async () => {
    const containers = [...onePod.containers, container('c2', 's1', 'side')];
    const { stats } = fakeNode({ ...onePod, containers, stats: [...onePod.stats, criStats('c2', 'side')] });
    const { pods } = shown(summaryJson(await stats.summary()));
    const memory = { time: criTime, usageBytes: 2000, workingSetBytes: 1000 };
    const [pod] = pods as { containers: Record<string, unknown>[]; memory: object }[];
    assert.deepEqual(pod?.containers[0]?.['memory'], memory);
    assert.deepEqual(pod?.containers[0]?.['swap'], { time, swapAvailableBytes: 0, swapUsageBytes: 0 });
    const zero = { rssBytes: 0, pageFaults: 0, majorPageFaults: 0 };
    assert.deepEqual(pod?.memory, { ...memory, availableBytes: 0, usageBytes: 4000, workingSetBytes: 2000, ...zero });
  });

  it('has no pressure when the gate is off, and the real one on v2', async () => {
    const off = fakeNode({ ...onePod, cgroups, config: { featureGates: { KubeletPSI: false } } });
    assert.doesNotMatch(summaryJson(await off.stats.summary()), /"(psi|io)"/);
    const line = (totalUs: number) => ({ avg10: 1, avg60: 2, avg300: 3, totalUs });
    const pressure = { some: line(7), full: line(8) };
    const v2 = reading(10, { pressure: { cpu: pressure, memory: pressure, io: pressure } });
    const on = fakeNode({ ...onePod, cgroups: { ...cgroups, '/kubepods/burstable/poduid-web/c1': v2 } });
    const [pod] = (await on.stats.summary()).pods;
    assert.deepEqual(pod?.containers[0]?.io?.psi, {
      full: { total: 8, avg10: 1, avg60: 2, avg300: 3 },
      some: { total: 7, avg10: 1, avg60: 2, avg300: 3 },
    });
  });

  it('fails in kubelet words when the runtime is away', async () => {
    for (const [failing, words] of [
      ['ImageFsInfo', 'failed to get imageFs stats: '],
      [
        'ListContainers',
        'failed to list pod stats: failed to get pod or container map: failed to list all containers: ',
      ],
      ['ListContainerStats', 'failed to list pod stats: failed to list all container stats: '],
    ] as const) {
      const { stats } = fakeNode({ failing });
      await assert.rejects(stats.summary(), { message: `${words}rpc error: code = Unavailable desc = gone` });
    }
  });

  it('of a node without pods has an empty list', async () => {
    assert.deepEqual((await fakeNode().stats.summary()).pods, []);
  });
});

describe('cpu and memory alone', () => {
  it('has no files and no network, and swap as the runtime tells it', async () => {
    const { stats, calls } = fakeNode({ ...onePod, cgroups });
    const { node, pods } = shown(summaryJson(await stats.cpuAndMemory()));
    assert.deepEqual(Object.keys(node), ['nodeName', 'systemContainers', 'startTime', 'cpu', 'memory', 'swap']);
    assert.equal(node['startTime'], '2026-01-02T03:03:05Z');
    assert.deepEqual(pods, [
      {
        podRef: { name: 'web', namespace: 'shop', uid: 'uid-web' },
        startTime: criTime,
        containers: [
          {
            name: 'main',
            startTime: criTime,
            cpu: { time, psi },
            memory: { time, ...memoryOf(10), psi },
            swap: { time, swapAvailableBytes: 0, swapUsageBytes: 0 },
          },
        ],
        cpu: { time, psi },
        memory: { time, ...memoryOf(20), psi },
        swap: { time, swapUsageBytes: 0 },
      },
    ]);
    assert.ok(!calls.includes('ImageFsInfo'));
  });

  it('reads cgroups once when nobody wants rates', async () => {
    const { stats, reader } = fakeNode({ ...onePod, cgroups });
    await stats.cpuAndMemory(false);
    assert.equal(reader.reads.length, 4);
  });
});

describe('cgroups', () => {
  it('are known by the last part of their path, with both drivers', () => {
    assert.equal(keyOf('/kubepods/pod12-3'), 'pod12-3');
    assert.equal(keyOf('/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_3.slice'), 'pod12-3');
    assert.equal(keyOf('/kubepods.slice/a.slice/cri-containerd-abc.scope'), 'abc');
  });

  it('account for this process where cpu and memory are together', () => {
    assert.equal(accountedCgroup('0::/kubelet.slice/a.service\n'), '/kubelet.slice/a.service');
    assert.equal(accountedCgroup('2:memory:/a\n1:cpu,cpuacct:/a\n'), '/a');
    assert.equal(accountedCgroup('3:name=systemd:/s\n2:memory:/a\n1:cpu,cpuacct:/a\n0::/\n'), '/s');
    assert.equal(accountedCgroup('2:memory:/a\n1:cpu,cpuacct:/b\n'), null);
    assert.equal(accountedCgroup(''), null);
  });
});
