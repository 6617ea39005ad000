import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { detectCgroups, openUnifiedRoot } from '../../../actors/host/cgroups/cgroup-detect.ts';
import { cgroupDriver } from '../../../actors/host/cgroups/cgroup-driver.ts';
import { ownedCgroups, setBurstableShares } from '../../../actors/host/cgroups/cgroups.ts';
import { NodeCgroups } from '../../../actors/host/cgroups/node-cgroups.ts';
import { hostEffects } from '../../../actors/host/effects/host-effects.ts';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';
import { cpuWeightFromShares } from '../../../machines/cgroups/cpu-weight.ts';
import { qosCgroups } from '../../../machines/qos/pod-cgroup.ts';

/** A made-up v2 tree: plain files stand for the kernel's. */
async function withTree(use: (root: string, settings: HostSettings) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'actorlet-cgroup2-'));
  try {
    await writeFile(join(root, 'cgroup.controllers'), 'cpuset cpu io memory pids\n');
    const settings: HostSettings = {
      rootDir: root,
      podLogsDir: root,
      containerLogsDir: root,
      cgroupVersion: 2,
      cgroupDriver: 'cgroupfs',
      cgroups: openUnifiedRoot(root),
      log: pino({ level: 'silent' }),
    };
    await use(root, settings);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const QOS = qosCgroups({ cgroupRoot: '/', cgroupsPerQOS: true, cgroupDriver: 'cgroupfs' });
assert.ok(QOS);
const qos = QOS;

const V1_LINE = (name: string, id: number) => `${id} 31 0:${id} / /sys/fs/cgroup/${name} rw - cgroup cgroup rw,${name}`;

test('v2: QoS parents and a pod, controllers enabled in every ancestor only', async () => {
  await withTree(async (root, settings) => {
    const host = openUnifiedRoot(root);
    const driver = cgroupDriver(settings);
    await new NodeCgroups({
      ...{ driver, host, qos, limits: { cpuShares: 2048 }, tier: {}, reserved: [], log: settings.log },
    }).make();
    await setBurstableShares(driver, qos, 0);
    await hostEffects['host.EnsurePodCgroup'](
      {
        cgroup: {
          path: '/kubepods/burstable/poduid-1',
          cpuShares: 512,
          cpuQuotaUs: 50000,
          memoryLimitBytes: 64 << 20,
          pidsLimit: 100,
        },
      },
      settings,
    );
    const read = (file: string) => readFile(join(root, 'kubepods', file), 'utf8');
    const enabled = '+cpuset +cpu +io +memory +pids';
    assert.equal(await readFile(join(root, 'cgroup.subtree_control'), 'utf8'), enabled);
    assert.equal(await read('cgroup.subtree_control'), enabled);
    assert.equal(await read('burstable/cgroup.subtree_control'), enabled);
    await assert.rejects(read('burstable/poduid-1/cgroup.subtree_control'), { code: 'ENOENT' });
    assert.equal(await read('cpu.weight'), String(cpuWeightFromShares(2048)));
    assert.equal(await read('besteffort/cpu.weight'), '1');
    assert.equal(await read('burstable/cpu.weight'), '1');
    assert.equal(await read('burstable/poduid-1/cpu.weight'), '20');
    assert.equal(await read('burstable/poduid-1/cpu.max'), '50000 100000');
    assert.equal(await read('burstable/poduid-1/memory.max'), String(64 << 20));
    assert.equal(await read('burstable/poduid-1/pids.max'), '100');
    await mkdir(join(root, 'kubepods/podg'), { recursive: true });
    assert.deepEqual([...(await ownedCgroups(host, qos))].sort(), [
      ['g', '/kubepods/podg'],
      ['uid-1', '/kubepods/burstable/poduid-1'],
    ]);
  });
});

test('v2: -1 takes a limit away, undefined leaves it alone', async () => {
  await withTree(async (root, settings) => {
    const ensure = (limits: object) =>
      hostEffects['host.EnsurePodCgroup']({ cgroup: { path: '/kubepods/podx', cpuShares: 2, ...limits } }, settings);
    await ensure({ memoryLimitBytes: 4096, pidsLimit: 5, cpuQuotaUs: 1000, cpuPeriodUs: 2000 });
    await ensure({});
    const read = (file: string) => readFile(join(root, 'kubepods/podx', file), 'utf8');
    assert.equal(await read('memory.max'), '4096');
    await ensure({ memoryLimitBytes: -1, pidsLimit: -1, cpuQuotaUs: -1, cpuPeriodUs: 2000 });
    assert.deepEqual(await Promise.all(['memory.max', 'pids.max', 'cpu.max'].map(read)), ['max', 'max', 'max 2000']);
  });
});

test('v2: a cgroup in an invalid state gives HOST006', async () => {
  await withTree(async (root, settings) => {
    await mkdir(join(root, 'kubepods'));
    await writeFile(join(root, 'kubepods/cgroup.type'), 'domain invalid\n');
    await assert.rejects(
      hostEffects['host.EnsurePodCgroup']({ cgroup: { path: '/kubepods/podx', cpuShares: 2 } }, settings),
      { code: 'HOST006' },
    );
  });
});

test('only pod cgroups are ever removed', async () => {
  await withTree(async (_root, settings) => {
    const slices = [
      '/kubepods.slice',
      '/kubepods.slice/kubepods-burstable.slice',
      '/kubepods.slice/kubepods-pod.slice',
      '/podman.slice',
    ];
    for (const path of ['/', '/kubepods', '/kubepods/burstable', '/kubepods/pod', '/kubepods/../podx', ...slices])
      await assert.rejects(hostEffects['host.RemovePodCgroup']({ path }, settings), { code: 'HOST003' }, path);
    await hostEffects['host.RemovePodCgroup']({ path: '/kubepods/podgone' }, settings);
  });
});

test('detection: v1 with co-mounted controllers, hybrid, missing controllers, nothing', () => {
  const plain = ['cpuset', 'memory', 'pids', 'devices', 'name=systemd'].map((name, i) => V1_LINE(name, 40 + i));
  const joint = '50 31 0:50 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpuacct,cpu';
  const unified = '51 31 0:51 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw';
  const host = detectCgroups({ mountinfo: [...plain, joint, unified].join('\n') });
  assert.equal(host.version, 1);
  assert.equal(host.mounts['cpu'], '/sys/fs/cgroup/cpu,cpuacct');
  assert.equal(host.mounts['cpuacct'], '/sys/fs/cgroup/cpu,cpuacct');
  assert.equal(host.mounts['name=systemd'], '/sys/fs/cgroup/name=systemd');
  assert.equal(host.mounts[''], '/sys/fs/cgroup/unified');
  assert.deepEqual([...host.controllers].sort(), ['cpu', 'cpuacct', 'cpuset', 'devices', 'memory', 'pids']);
  assert.throws(() => detectCgroups({ mountinfo: plain.join('\n') }), { code: 'HOST002', message: /cpu, cpuacct/ });
  assert.throws(() => detectCgroups({ mountinfo: unified }), { code: 'HOST001' });
});

test('detection: pure v2 at the root', async () => {
  await withTree(async (root) => {
    const host = detectCgroups({ root, mountinfo: `51 31 0:51 / ${root} rw - cgroup2 cgroup2 rw` });
    assert.deepEqual(host, {
      version: 2,
      controllers: ['cpuset', 'cpu', 'io', 'memory', 'pids'],
      mounts: { '': root },
    });
  });
});

test('shares to weight keeps the order and the bounds', () => {
  assert.deepEqual([2, 1024, 262144, 300000].map(cpuWeightFromShares), [1, 39, 10000, 10000]);
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 262144 }), fc.integer({ min: 2, max: 262144 }), (a, b) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)].map(cpuWeightFromShares) as [number, number];
      assert.ok(low >= 1 && high <= 10000 && low <= high);
    }),
  );
});
