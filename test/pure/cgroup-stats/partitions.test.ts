import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPartitions, parseDiskstats, readPartitions } from '../../../actors/resources/cgroup-stats/partitions.ts';

const MOUNTINFO = `22 27 0:21 / /proc rw - proc proc rw
30 27 254:0 /var/x /data/bind rw - ext4 /dev/vda rw
27 1 254:0 / / rw - ext4 /dev/vda rw
28 27 254:16 / /data rw - xfs /dev/vdb rw
29 27 254:16 /sub /data/again rw - xfs /dev/vdb rw
31 23 0:28 / /run rw - tmpfs tmpfs rw
32 23 0:29 / /run/lock rw - tmpfs tmpfs rw
33 27 0:41 / /run/c/a/rootfs rw - overlay overlay rw
34 27 0:42 / /run/c/b/rootfs rw - overlay overlay rw
`;

test('each device once, by the mount at / if it has one; every tmpfs and overlay', () => {
  assert.deepEqual(findPartitions(MOUNTINFO), [
    { device: '/dev/vda', mountPoint: '/', major: 254, minor: 0 },
    { device: '/dev/vdb', mountPoint: '/data', major: 254, minor: 16 },
    { device: '/run', mountPoint: '/run', major: 0, minor: 28 },
    { device: '/run/lock', mountPoint: '/run/lock', major: 0, minor: 29 },
    { device: 'overlay_0-41', mountPoint: '/run/c/a/rootfs', major: 0, minor: 41 },
    { device: 'overlay_0-42', mountPoint: '/run/c/b/rootfs', major: 0, minor: 42 },
  ]);
});

test('counters of disks and partitions, not of loops', () => {
  const found = parseDiskstats(
    ' 254       0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n   7       0 loop0 1 2 3 4 5 6 7 8 9 10 11\n',
  );
  assert.deepEqual([...found.keys()], ['/dev/vda', '254:0']);
  assert.deepEqual(found.get('/dev/vda'), {
    reads: 1,
    readsMerged: 2,
    sectorsRead: 3,
    readMs: 4,
    writes: 5,
    writesMerged: 6,
    sectorsWritten: 7,
    writeMs: 8,
    inProgress: 9,
    ioMs: 10,
    weightedIoMs: 11,
  });
});

test('what is not mounted any more is left out', async () => {
  const here = { device: 'x', mountPoint: '/', major: 0, minor: 0 };
  const found = await readPartitions([here, { ...here, device: 'y', mountPoint: '/nowhere/at/all' }]);
  assert.deepEqual(
    found.map((one) => one.device),
    ['x'],
  );
  assert.ok((found[0]?.capacityBytes ?? 0) > 0);
  assert.equal(found[0]?.reads, 0);
});
