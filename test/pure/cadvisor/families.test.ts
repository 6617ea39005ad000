import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntryLabels } from '../../../actors/serve/cadvisor/container-entry.ts';
import { writeFamily } from '../../../actors/serve/cadvisor/family.ts';
import { ioFamilies } from '../../../actors/serve/cadvisor/io-families.ts';
import { pressureFamilies, resourceFamilies } from '../../../actors/serve/cadvisor/resource-families.ts';
import { TextWriter } from '../../../actors/record/metrics/text-format.ts';
import type { ContainerEntry } from '../../../actors/serve/cadvisor/container-entry.ts';
import type { CpuReading } from '../../../actors/resources/cgroup-stats/cgroup-reading.ts';
import type { PartitionReading } from '../../../actors/resources/cgroup-stats/partitions.ts';

const identity = { id: '/k/podU/ID', container: 'c', image: 'i', name: 'ID', namespace: 'n', pod: 'p' };
const SET = 'container="c",id="/k/podU/ID",image="i",name="ID",namespace="n",pod="p"';
const cpu: CpuReading = {
  usageNs: 1.5e9,
  userNs: 1e9,
  systemNs: 5e8,
  periods: 3,
  throttledPeriods: 2,
  throttledNs: 2.5e8,
  shares: 51,
  quotaUs: 5000,
  periodUs: 100_000,
};

function entry(more: Partial<ContainerEntry> = {}, reading: Partial<ContainerEntry['reading']> = {}): ContainerEntry {
  return {
    labels: new EntryLabels(identity),
    reading: { at: 1_700_000_000_123, createdAt: 1_600_000_000_999, ...reading },
    interfaces: [],
    partitions: [],
    openFilesLimit: null,
    ...more,
  };
}

/** The samples of a family. */
function lines(name: string, one: ContainerEntry): string[] {
  const family = [...resourceFamilies, ...ioFamilies, ...pressureFamilies].find((found) => found.name === name);
  assert.ok(family !== undefined, name);
  const writer = new TextWriter();
  writeFamily(writer, family, [one]);
  return writer
    .toString()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

test('labels stand sorted by name wherever more of them come in', () => {
  assert.deepEqual(lines('container_cpu_usage_seconds_total', entry({}, { cpu })), [
    `container_cpu_usage_seconds_total{container="c",cpu="total",id="/k/podU/ID",image="i",name="ID",namespace="n",pod="p"} 1.5 1700000000123`,
  ]);
  const io = { device: '/dev/x', major: 8, minor: 1, readBytes: 1, writeBytes: 2, reads: 3, writes: 4 };
  const found = lines(
    'container_blkio_device_usage_total',
    entry({}, { blockIo: [{ ...io, bytesByOperation: { Write: 2, Read: 1 } }] }),
  );
  assert.deepEqual(found, [
    'container_blkio_device_usage_total{container="c",device="/dev/x",id="/k/podU/ID",image="i",major="8",minor="1",name="ID",namespace="n",operation="Read",pod="p"} 1 1700000000123',
    'container_blkio_device_usage_total{container="c",device="/dev/x",id="/k/podU/ID",image="i",major="8",minor="1",name="ID",namespace="n",operation="Write",pod="p"} 2 1700000000123',
  ]);
});

test('a quota brings its series; specifications have no time', () => {
  assert.deepEqual(lines('container_spec_cpu_quota', entry({}, { cpu })), [`container_spec_cpu_quota{${SET}} 5000`]);
  assert.deepEqual(lines('container_cpu_cfs_throttled_seconds_total', entry({}, { cpu })), [
    `container_cpu_cfs_throttled_seconds_total{${SET}} 0.25 1700000000123`,
  ]);
  const free = entry({}, { cpu: { ...cpu, quotaUs: null } });
  assert.deepEqual(lines('container_spec_cpu_quota', free), []);
  assert.deepEqual(lines('container_cpu_cfs_periods_total', free), []);
  assert.deepEqual(lines('container_spec_cpu_shares', free), [`container_spec_cpu_shares{${SET}} 51`]);
  assert.deepEqual(lines('container_start_time_seconds', free), [`container_start_time_seconds{${SET}} 1.6e+09`]);
});

test('a file system that the cgroup has used as a device comes once', () => {
  const partition = (device: string): PartitionReading => ({
    ...{ device, capacityBytes: 100, availableBytes: 10, usedBytes: 60, inodes: 9, inodesFree: 8 },
    ...{ reads: 70, readsMerged: 0, sectorsRead: 0, readMs: 1500, writes: 0, writesMerged: 0, sectorsWritten: 0 },
    ...{ writeMs: 0, inProgress: 0, ioMs: 0, weightedIoMs: 0 },
  });
  const io = { device: '/dev/a', major: 8, minor: 0, readBytes: 1, writeBytes: 2, reads: 3, writes: 4 };
  const machine = entry(
    { partitions: [partition('/dev/a'), partition('/dev/b')] },
    { blockIo: [{ ...io, bytesByOperation: {} }] },
  );
  const values = (name: string) =>
    lines(name, machine).map((line) => /device="([^"]*)".* (\S+) \d+$/.exec(line)?.slice(1));
  assert.deepEqual(values('container_fs_reads_total'), [
    ['/dev/a', '3'],
    ['/dev/b', '70'],
  ]);
  assert.deepEqual(values('container_fs_reads_bytes_total'), [['/dev/a', '1']]);
  assert.deepEqual(values('container_fs_usage_bytes'), [
    ['/dev/a', '60'],
    ['/dev/b', '60'],
  ]);
  assert.deepEqual(values('container_fs_read_seconds_total')[1], ['/dev/b', '1.5']);
});

test('pressure: seconds of what the kernel counts, 0 where it counts nothing', () => {
  const line = { avg10: 0, avg60: 0, avg300: 0 };
  const one = (some: number, full: number) => ({
    some: { ...line, totalUs: some },
    full: { ...line, totalUs: full },
  });
  const told = entry({}, { pressure: { cpu: one(2_000_000, 1), memory: one(3, 4), io: one(5, 600_000) } });
  const value = (name: string, from: ContainerEntry) => lines(name, from)[0]?.split(' ')[1];
  assert.equal(value('container_pressure_cpu_waiting_seconds_total', told), '2');
  assert.equal(value('container_pressure_cpu_stalled_seconds_total', told), '1e-06');
  assert.equal(value('container_pressure_io_stalled_seconds_total', told), '0.6');
  assert.equal(value('container_pressure_io_stalled_seconds_total', entry()), '0');
});
