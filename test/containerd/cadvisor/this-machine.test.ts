import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createCgroupReader } from '../../../actors/resources/cgroup-stats/create-cgroup-reader.ts';
import { readFilesystem } from '../../../actors/resources/cgroup-stats/filesystem.ts';
import { readInterfaces } from '../../../actors/resources/cgroup-stats/interfaces.ts';
import { readMachineInfo } from '../../../actors/resources/cgroup-stats/machine-info.ts';
import { readOpenFilesLimit, readProcesses } from '../../../actors/resources/cgroup-stats/processes.ts';
import { detectCgroups } from '../../../actors/host/cgroups/cgroup-detect.ts';

test('the root cgroup of this machine', () => {
  const reader = createCgroupReader(detectCgroups());
  const reading = reader.read('/');
  assert.ok(reading !== null && reading.createdAt <= reading.at);
  assert.ok((reading.cpu?.usageNs ?? 0) > 0);
  assert.ok((reading.memory?.usageBytes ?? 0) >= (reading.memory?.workingSetBytes ?? 1));
  assert.ok((reading.processes?.processes ?? 0) > 0);
  assert.ok(reader.tree('/').length > 0);
});

test('a process: its open files, its sockets, its limit', () => {
  const own = readProcesses([process.pid, 2 ** 30], { current: 1, max: null }, true);
  assert.ok(own.fileDescriptors > 2);
  const soft = execFileSync('sh', ['-c', 'ulimit -Sn'], { encoding: 'utf8' }).trim();
  assert.equal(readOpenFilesLimit(process.pid), soft === 'unlimited' ? -1 : Number(soft));
  assert.equal(readOpenFilesLimit(2 ** 30), null);
  assert.deepEqual(readInterfaces(2 ** 30), []);
});

test('a file system: its device as mountinfo tells it', async () => {
  const found = await readFilesystem('/proc/self');
  assert.equal(found?.device, 'proc');
  const root = await readFilesystem('/');
  const df = execFileSync('df', ['-B1', '--output=size,used,avail,itotal', '/'], { encoding: 'utf8' }).split('\n')[1];
  const [size, , , inodes] = (df ?? '').trim().split(/\s+/).map(Number);
  assert.equal(root?.capacityBytes, size);
  assert.equal(root?.inodes, inodes);
  assert.ok((root?.usedBytes ?? 0) > 0);
  assert.equal(await readFilesystem('/nowhere/at/all'), null);
});

test('the machine', () => {
  const info = readMachineInfo();
  assert.equal(info.bootId, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  assert.ok(info.logicalCores >= info.physicalCores && info.physicalCores > 0 && info.sockets > 0);
  assert.ok(info.memoryBytes > 0);
});
