import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { openUnifiedRoot } from '../../../actors/host/cgroups/cgroup-detect.ts';
import { ownedCgroups } from '../../../actors/host/cgroups/cgroups.ts';
import { systemdDriver } from '../../../actors/host/cgroups/systemd-driver.ts';
import type { UnitProperty } from '../../../machines/cgroups/unit-properties.ts';
import { qosCgroups } from '../../../machines/qos/pod-cgroup.ts';

const SLICE = 'kubepods-burstable-poda_1.slice';
const PATH = `/kubepods.slice/kubepods-burstable.slice/${SLICE}`;

/** A made-up v2 tree, and a driver over it whose systemd notes what it is asked. */
async function withDriver(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'actorlet-slices-'));
  t.after(() => rm(root, { recursive: true }));
  await writeFile(join(root, 'cgroup.controllers'), 'cpuset cpu memory hugetlb pids\n');
  const asked: unknown[][] = [];
  const host = openUnifiedRoot(root);
  const noted = (name: string) => (unit: string, properties: readonly UnitProperty[]) => {
    asked.push([name, unit, Object.fromEntries(properties.map(([key, , value]) => [key, value]))]);
    return Promise.resolve();
  };
  const driver = systemdDriver(host, {
    startTransientUnit: noted('start'),
    setUnitProperties: noted('set'),
    stopUnit: (unit) => {
      asked.push(['stop', unit, existsSync(join(root, PATH))]);
      return Promise.resolve();
    },
  });
  return { root, host, driver, asked, read: (file: string) => readFile(join(root, PATH, file), 'utf8') };
}

test('a slice is made by systemd below its parent, then its folder with all controllers above it', async (t) => {
  const { root, driver, asked } = await withDriver(t);
  await driver.create(PATH);
  assert.deepEqual(asked, [
    [
      'start',
      SLICE,
      {
        Description: `Cgroup of pods ${SLICE}`,
        Wants: ['kubepods-burstable.slice'],
        MemoryAccounting: true,
        CPUAccounting: true,
        IOAccounting: true,
        TasksAccounting: true,
        DefaultDependencies: false,
      },
    ],
  ]);
  const enabled = await readFile(join(root, 'kubepods.slice/cgroup.subtree_control'), 'utf8');
  assert.equal(enabled, '+cpuset +cpu +memory +hugetlb +pids');
  assert.ok(existsSync(join(root, PATH)));
});

test('limits go to systemd first, and the same ones to the files, those it does not know among them', async (t) => {
  const { driver, asked, read } = await withDriver(t);
  await driver.create(PATH);
  await driver.set(PATH, {
    ...{ cpuShares: 1024, cpuQuotaUs: 12_345, cpuPeriodUs: 100_000, memoryLimitBytes: 4096, pidsLimit: 7 },
    hugepageLimits: { '2MB': 0 },
  });
  assert.deepEqual(asked[1], [
    'set',
    SLICE,
    {
      MemoryMax: 4096n,
      CPUWeight: 39n,
      CPUQuotaPeriodUSec: 100_000n,
      CPUQuotaPerSecUSec: 130_000n,
      TasksMax: 7n,
    },
  ]);
  // 12.3 hundredths of a processor are 13, for both.
  const files = ['cpu.max', 'cpu.weight', 'memory.max', 'pids.max', 'hugetlb.2MB.max'];
  assert.deepEqual(await Promise.all(files.map(read)), ['13000 100000', '39', '4096', '7', '0']);
});

test('what systemd refuses is not written', async (t) => {
  const { host, root } = await withDriver(t);
  const refused = () => Promise.reject(new Error('no'));
  const driver = systemdDriver(host, {
    startTransientUnit: refused,
    setUnitProperties: refused,
    stopUnit: refused,
  });
  await assert.rejects(driver.create(PATH));
  assert.ok(!existsSync(join(root, 'kubepods.slice')));
});

test('a slice is stopped by systemd, and what is below it goes as well', async (t) => {
  const { root, driver, asked } = await withDriver(t);
  await mkdir(join(root, PATH, 'cri-containerd-x.scope/inner'), { recursive: true });
  await driver.remove(PATH);
  assert.deepEqual(asked, [['stop', SLICE, true]]);
  assert.ok(!existsSync(join(root, PATH)));
  assert.ok(existsSync(join(root, 'kubepods.slice/kubepods-burstable.slice')));
  await driver.remove(PATH);
});

test('slices of pods are found by UID, whoever made them', async (t) => {
  const { root, host } = await withDriver(t);
  const qos = qosCgroups({ cgroupRoot: '/', cgroupsPerQOS: true, cgroupDriver: 'systemd' });
  assert.ok(qos);
  for (const path of [PATH, '/kubepods.slice/kubepods-podb.slice', '/kubepods.slice/kubepods-other.slice'])
    await mkdir(join(root, path), { recursive: true });
  assert.deepEqual([...(await ownedCgroups(host, qos))].sort(), [
    ['a-1', PATH],
    ['b', '/kubepods.slice/kubepods-podb.slice'],
  ]);
});
