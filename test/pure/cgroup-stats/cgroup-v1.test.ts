import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCgroupReader } from '../../../actors/resources/cgroup-stats/create-cgroup-reader.ts';
import type { CgroupHost } from '../../../actors/host/files/cgroup-host.ts';
import { withTree } from './support/made-tree.ts';

const MEMORY_STAT = `cache 4096
rss 8192
total_cache 40960
total_rss 81920
total_swap 512
total_mapped_file 1024
total_inactive_file 30000
total_active_file 7000
pgfault 11
pgmajfault 2
total_pgfault 99
`;

const POD = '/kubepods/burstable/pod1';

function hostAt(root: string): CgroupHost {
  const names = ['cpu', 'cpuacct', 'memory', 'pids', 'blkio'];
  return { version: 1, controllers: names, mounts: Object.fromEntries(names.map((name) => [name, `${root}/${name}`])) };
}

const FILES = {
  [`cpu${POD}/cgroup.procs`]: '',
  [`cpu${POD}/cgroup.clone_children`]: '0\n',
  [`cpu${POD}/cpu.shares`]: '51\n',
  [`cpu${POD}/cpu.cfs_quota_us`]: '10000\n',
  [`cpu${POD}/cpu.cfs_period_us`]: '100000\n',
  [`cpu${POD}/cpu.stat`]: 'nr_periods 20\nnr_throttled 7\nthrottled_time 123456789\n',
  [`cpuacct${POD}/cpuacct.usage`]: '5000000001\n',
  [`cpuacct${POD}/cpuacct.stat`]: 'user 400\nsystem 100\n',
  [`memory${POD}/memory.stat`]: MEMORY_STAT,
  [`memory${POD}/memory.usage_in_bytes`]: '123456\n',
  [`memory${POD}/memory.max_usage_in_bytes`]: '234567\n',
  [`memory${POD}/memory.failcnt`]: '3\n',
  [`memory${POD}/memory.limit_in_bytes`]: '33554432\n',
  [`memory${POD}/memory.memsw.limit_in_bytes`]: '9223372036854771712\n',
  [`memory${POD}/memory.soft_limit_in_bytes`]: '9223372036854771712\n',
  [`memory${POD}/memory.kmem.usage_in_bytes`]: '77\n',
  [`memory${POD}/memory.oom_control`]: 'oom_kill_disable 0\nunder_oom 0\noom_kill 4\n',
  [`pids${POD}/pids.current`]: '6\n',
  [`pids${POD}/pids.max`]: 'max\n',
  [`blkio${POD}/blkio.bfq.io_service_bytes_recursive`]: 'Total 0\n',
  [`blkio${POD}/blkio.throttle.io_service_bytes_recursive`]:
    '9999:1 Read 10\n9999:1 Write 20\n9999:1 Total 30\nTotal 30\n',
  [`blkio${POD}/blkio.throttle.io_serviced_recursive`]: '9999:1 Read 1\n9999:1 Write 2\n9999:1 Total 3\nTotal 3\n',
};

test('v1: every part is derived as cAdvisor does', async () => {
  await withTree(FILES, (root) => {
    const reading = createCgroupReader(hostAt(root)).read(POD);
    assert.deepEqual(reading?.cpu, {
      usageNs: 5_000_000_001,
      userNs: 4_000_000_000,
      systemNs: 1_000_000_000,
      periods: 20,
      throttledPeriods: 7,
      throttledNs: 123_456_789,
      shares: 51,
      quotaUs: 10_000,
      periodUs: 100_000,
    });
    assert.deepEqual(reading.memory, {
      usageBytes: 123_456,
      maxUsageBytes: 234_567,
      cacheBytes: 40_960,
      rssBytes: 81_920,
      swapBytes: 512,
      mappedFileBytes: 1024,
      kernelBytes: 77,
      workingSetBytes: 93_456,
      totalActiveFileBytes: 7000,
      totalInactiveFileBytes: 30_000,
      failures: 3,
      pageFaults: 11,
      majorPageFaults: 2,
      hierarchicalPageFaults: 11,
      hierarchicalMajorPageFaults: 2,
      limitBytes: 33_554_432,
      swapLimitBytes: null,
      reservationBytes: null,
      oomKills: 4,
    });
    assert.deepEqual(reading.processes, {
      processes: 0,
      threads: 6,
      threadsMax: null,
      fileDescriptors: 0,
      sockets: 0,
    });
    // an empty file of bfq means that another scheduler counts
    assert.deepEqual(reading.blockIo, [
      {
        device: '',
        major: 9999,
        minor: 1,
        readBytes: 10,
        writeBytes: 20,
        reads: 1,
        writes: 2,
        bytesByOperation: { Read: 10, Write: 20, Total: 30 },
      },
    ]);
    assert.equal(reading.pressure, undefined);
  });
});

test('v1: no limit, inactive pages above the usage, absent controllers', async () => {
  const files: Record<string, string> = { ...FILES, [`cpu${POD}/cpu.cfs_quota_us`]: '-1\n' };
  files[`memory${POD}/memory.usage_in_bytes`] = '20000\n';
  delete files[`memory${POD}/memory.kmem.usage_in_bytes`];
  delete files[`cpuacct${POD}/cpuacct.usage`];
  await withTree(files, (root) => {
    const reader = createCgroupReader(hostAt(root));
    const reading = reader.read(POD);
    assert.equal(reading?.memory?.workingSetBytes, 0);
    assert.equal(reading.memory.kernelBytes, 0);
    assert.equal(reading.cpu, undefined);
    const less = reader.read(POD, { limits: true, blockIo: true, processes: true });
    assert.equal(less?.memory?.limitBytes, null);
    assert.equal(less.blockIo, undefined);
    assert.equal(less.processes, undefined);
  });
  files[`cpuacct${POD}/cpuacct.usage`] = '1\n';
  await withTree(files, (root) => {
    assert.equal(createCgroupReader(hostAt(root)).read(POD)?.cpu?.quotaUs, null);
  });
});

test('the tree below a cgroup; a cgroup that is gone', async () => {
  await withTree(
    { ...FILES, 'cpu/system.slice/a.service/cgroup.procs': '7\n8\n', 'cpu/cgroup.procs': '1\n' },
    (root) => {
      const reader = createCgroupReader(hostAt(root));
      assert.deepEqual(reader.tree('/').sort(), [
        '/',
        '/kubepods',
        '/kubepods/burstable',
        POD,
        '/system.slice',
        '/system.slice/a.service',
      ]);
      assert.deepEqual(reader.tree('/kubepods'), ['/kubepods', '/kubepods/burstable', POD]);
      assert.deepEqual(reader.tree('/nowhere'), []);
      assert.equal(reader.read('/nowhere'), null);
      assert.equal(reader.firstPid('/system.slice/a.service'), 7);
      assert.equal(reader.firstPid(POD), null);
      assert.equal(reader.firstPid('/nowhere'), null);
    },
  );
});

test('creation is the lowest time seen, never before the boot', async () => {
  await withTree(FILES, async (root, setTime) => {
    const reader = createCgroupReader(hostAt(root));
    const made = Date.now() - 10_000;
    await setTime(`cpu${POD}`, made);
    assert.equal(reader.read(POD)?.createdAt, made);
    // the kernel dropped the inode and made it anew
    await setTime(`cpu${POD}`, made + 8000);
    await setTime(`cpu${POD}/cgroup.clone_children`, made + 8000);
    assert.equal(reader.read(POD)?.createdAt, made);
    await setTime(`cpu${POD}`, 1000);
    const earliest = createCgroupReader(hostAt(root)).read(POD)?.createdAt ?? 0;
    assert.ok(earliest > 1000 && earliest % 60_000 === 0, String(earliest));
  });
});
