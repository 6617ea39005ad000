import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCgroupReader } from '../../../actors/resources/cgroup-stats/create-cgroup-reader.ts';
import { sharesOfWeight } from '../../../actors/resources/cgroup-stats/read-v2.ts';
import { withTree } from './support/made-tree.ts';

const POD = 'kubepods.slice/kubepods-burstable.slice/pod1';
const PRESSURE = (total: number) =>
  `some avg10=1.50 avg60=2.00 avg300=0.25 total=${total}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=${total - 1}\n`;

const FILES: Record<string, string> = {
  [`${POD}/cgroup.procs`]: '',
  [`${POD}/cgroup.events`]: 'populated 1\nfrozen 0\n',
  [`${POD}/cpu.stat`]:
    'usage_usec 5000\nuser_usec 4000\nsystem_usec 1000\nnr_periods 9\nnr_throttled 8\nthrottled_usec 70\n',
  [`${POD}/cpu.weight`]: '79\n',
  [`${POD}/cpu.max`]: '50000 100000\n',
  [`${POD}/memory.stat`]:
    'anon 100\nfile 200\nkernel 30\nfile_mapped 40\ninactive_file 50\nactive_file 60\npgfault 7\npgmajfault 8\n',
  [`${POD}/memory.current`]: '400\n',
  [`${POD}/memory.peak`]: '500\n',
  [`${POD}/memory.swap.current`]: '5\n',
  [`${POD}/memory.max`]: 'max\n',
  [`${POD}/memory.swap.max`]: '0\n',
  [`${POD}/memory.min`]: '0\n',
  [`${POD}/memory.events`]: 'low 0\nhigh 0\nmax 6\noom 2\noom_kill 1\n',
  [`${POD}/pids.current`]: '3\n',
  [`${POD}/pids.max`]: '100\n',
  [`${POD}/io.stat`]: '9999:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n9999:16 \n',
  [`${POD}/cpu.pressure`]: PRESSURE(10),
  [`${POD}/memory.pressure`]: PRESSURE(20),
  [`${POD}/io.pressure`]: PRESSURE(30),
  'memory.stat': 'anon 1000\nfile 2000\ninactive_file 100\n',
  'cpu.stat': 'usage_usec 1\nuser_usec 1\nsystem_usec 0\n',
  'cgroup.procs': '',
};

const hostAt = (root: string) => ({ version: 2 as const, controllers: ['cpu', 'memory'], mounts: { '': root } });

test('v2: every part is derived as cAdvisor does', async () => {
  await withTree(FILES, (root) => {
    const reading = createCgroupReader(hostAt(root)).read(`/${POD}`);
    assert.deepEqual(reading?.cpu, {
      usageNs: 5_000_000,
      userNs: 4_000_000,
      systemNs: 1_000_000,
      periods: 9,
      throttledPeriods: 8,
      throttledNs: 70_000,
      shares: 2046,
      quotaUs: 50_000,
      periodUs: 100_000,
    });
    assert.deepEqual(reading.memory, {
      usageBytes: 400,
      maxUsageBytes: 500,
      cacheBytes: 200,
      rssBytes: 100,
      swapBytes: 5,
      mappedFileBytes: 40,
      kernelBytes: 30,
      workingSetBytes: 350,
      totalActiveFileBytes: 60,
      totalInactiveFileBytes: 50,
      failures: 0,
      pageFaults: 7,
      majorPageFaults: 8,
      hierarchicalPageFaults: 7,
      hierarchicalMajorPageFaults: 8,
      limitBytes: null,
      swapLimitBytes: 0,
      reservationBytes: 0,
      oomKills: 1,
    });
    assert.deepEqual(reading.processes, { processes: 0, threads: 3, threadsMax: 100, fileDescriptors: 0, sockets: 0 });
    assert.deepEqual(reading.blockIo, [
      {
        device: '',
        major: 9999,
        minor: 0,
        readBytes: 1,
        writeBytes: 2,
        reads: 3,
        writes: 4,
        bytesByOperation: { Read: 1, Write: 2 },
      },
    ]);
    assert.deepEqual(reading.pressure?.memory, {
      some: { avg10: 1.5, avg60: 2, avg300: 0.25, totalUs: 20 },
      full: { avg10: 0, avg60: 0, avg300: 0, totalUs: 19 },
    });
  });
});

test('v2: the root cgroup has no memory.current: anonymous and file pages together', async () => {
  await withTree(FILES, (root) => {
    const reading = createCgroupReader(hostAt(root)).read('/');
    assert.equal(reading?.memory?.usageBytes, 3000);
    assert.equal(reading.memory.workingSetBytes, 2900);
    assert.equal(reading.pressure, undefined);
    assert.equal(reading.cpu?.quotaUs, null);
  });
});

test('v2: weights become the shares that they come from', () => {
  assert.deepEqual([0, 1, 79, 100, 10_000, 10_001].map(sharesOfWeight), [0, 2, 2046, 2597, 262_144, 0]);
});
