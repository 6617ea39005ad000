import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { createCgroupReader } from '../../../actors/resources/cgroup-stats/create-cgroup-reader.ts';
import type { WithoutParts } from '../../../actors/resources/cgroup-stats/cgroup-reading.ts';
import { withTree } from './support/made-tree.ts';

const POD = '/kubepods/pod1';
const CONTROLLERS = ['cpu', 'cpuacct', 'memory', 'pids', 'blkio'];
const SUMMARY: WithoutParts = { files: true, blockIo: true, details: true, createdAt: true };
const FILES = {
  [`cpu${POD}/cgroup.procs`]: '1\n',
  [`cpuacct${POD}/cpuacct.usage`]: '5\n',
  [`memory${POD}/memory.stat`]: 'total_rss 5\n',
  [`memory${POD}/memory.usage_in_bytes`]: '7\n',
  [`memory${POD}/memory.limit_in_bytes`]: '9\n',
  [`memory${POD}/memory.memsw.limit_in_bytes`]: '9\n',
};

/** Files that are opened, and looks at files, while `body` runs. */
function counted(t: { mock: { method: typeof test.mock.method } }, body: () => void): { reads: number; looks: number } {
  const reads = t.mock.method(fs, 'readFileSync');
  const looks = t.mock.method(fs, 'statSync');
  syncBuiltinESMExports();
  try {
    body();
    return { reads: reads.mock.callCount(), looks: looks.mock.callCount() };
  } finally {
    reads.mock.restore();
    looks.mock.restore();
    syncBuiltinESMExports();
  }
}

test('a summary reads few files of a cgroup, and looks at none', async (t) => {
  await withTree(FILES, (root) => {
    const mounts = Object.fromEntries(CONTROLLERS.map((name) => [name, `${root}/${name}`]));
    const reader = createCgroupReader({ version: 1, controllers: CONTROLLERS, mounts });
    const of = (without: WithoutParts) =>
      counted(t, () => {
        const reading = reader.read(POD, { ...SUMMARY, ...without });
        assert.equal(reading?.cpu?.usageNs, 5);
        assert.equal(reading.createdAt, 0);
        assert.equal(reading.memory?.rssBytes, without.memory === true ? undefined : 5);
      });
    assert.deepEqual(of({}), { reads: 6, looks: 0 }, 'a container');
    assert.deepEqual(of({ processes: true }), { reads: 5, looks: 0 }, 'a pod');
    assert.deepEqual(of({ processes: true, limits: true }), { reads: 3, looks: 0 }, 'for /metrics/resource');
    assert.deepEqual(of({ processes: true, memory: true }), { reads: 1, looks: 0 }, 'a second reading of cpu');
  });
});

test('a cgroup that is gone is told as gone, also where nobody asks when it was made', async () => {
  await withTree({ ...FILES, 'cpu/kubepods/bare/cgroup.clone_children': '0\n' }, (root) => {
    const mounts = Object.fromEntries(CONTROLLERS.map((name) => [name, `${root}/${name}`]));
    const reader = createCgroupReader({ version: 1, controllers: CONTROLLERS, mounts });
    assert.equal(reader.read('/kubepods/none', SUMMARY), null);
    assert.equal(reader.read('/kubepods/none'), null);
    assert.notEqual(reader.read('/kubepods/bare', { ...SUMMARY, processes: true }), null, 'there, but without figures');
    fs.rmSync(`${root}/cpu${POD}`, { recursive: true });
    fs.rmSync(`${root}/cpuacct${POD}`, { recursive: true });
    assert.equal(reader.read(POD, SUMMARY), null, 'left over in another hierarchy');
  });
});
