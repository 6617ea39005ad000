import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { detectCgroups } from '../../../actors/host/cgroups/cgroup-detect.ts';
import type { CgroupHost } from '../../../actors/host/files/cgroup-host.ts';
import { cgroupDirs } from '../../../actors/host/cgroups/cgroup-files.ts';
import { cgroupDriver } from '../../../actors/host/cgroups/cgroup-driver.ts';
import { ownedCgroups, setBurstableShares } from '../../../actors/host/cgroups/cgroups.ts';
import { NodeCgroups } from '../../../actors/host/cgroups/node-cgroups.ts';
import { hostEffects } from '../../../actors/host/effects/host-effects.ts';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';

const qosOf = (kubepods: string) => ({
  kubepods,
  burstable: `${kubepods}/burstable`,
  bestEffort: `${kubepods}/besteffort`,
});
const v1 = !existsSync('/sys/fs/cgroup/cgroup.controllers') && process.getuid?.() === 0;

/** A `kubepods` of our own, gone afterwards from every hierarchy. */
async function withKubepods(use: (kubepods: string, host: CgroupHost, settings: HostSettings) => Promise<void>) {
  const host = detectCgroups();
  const kubepods = `/actorlet-test-${process.pid}`;
  const settings: HostSettings = {
    rootDir: '/nowhere',
    podLogsDir: '/nowhere',
    containerLogsDir: '/nowhere',
    cgroupVersion: 1,
    cgroupDriver: 'cgroupfs',
    cgroups: host,
    log: pino({ level: 'silent' }),
  };
  try {
    await use(kubepods, host, settings);
  } finally {
    for (const path of (await ownedCgroups(host, qosOf(kubepods))).values())
      await hostEffects['host.RemovePodCgroup']({ path }, settings);
    for (const part of ['burstable', 'besteffort', ''])
      for (const dir of cgroupDirs(host, join(kubepods, part))) if (existsSync(dir)) await rmdir(dir);
  }
}

test('v1: a pod cgroup in every hierarchy with its limits, adjusted, found and removed', { skip: !v1 }, async () => {
  await withKubepods(async (kubepods, host, settings) => {
    const [driver, qos] = [cgroupDriver(settings), qosOf(kubepods)];
    const node = new NodeCgroups({
      ...{ driver, host, qos, limits: { cpuShares: 1024 }, tier: {}, reserved: [], log: settings.log },
    });
    await node.make();
    await node.make();
    await setBurstableShares(driver, qos, 300);
    const path = `${kubepods}/burstable/podaaaa-1`;
    const read = (controller: string, cgroup: string, file: string) =>
      readFileSync(join(host.mounts[controller] ?? '', cgroup, file), 'utf8').trim();
    const cgroup = {
      path,
      cpuShares: 102,
      cpuQuotaUs: 20000,
      cpuPeriodUs: 100000,
      memoryLimitBytes: 64 << 20,
      pidsLimit: 50,
    };
    await hostEffects['host.EnsurePodCgroup']({ cgroup }, settings);
    for (const dir of cgroupDirs(host, path)) assert.ok(existsSync(dir), dir);
    assert.equal(read('cpu', kubepods, 'cpu.shares'), '1024');
    assert.equal(read('cpu', `${kubepods}/besteffort`, 'cpu.shares'), '2');
    assert.equal(read('cpu', `${kubepods}/burstable`, 'cpu.shares'), '300');
    assert.equal(read('cpu', path, 'cpu.shares'), '102');
    assert.equal(read('cpu', path, 'cpu.cfs_quota_us'), '20000');
    assert.equal(read('memory', path, 'memory.limit_in_bytes'), String(64 << 20));
    assert.equal(read('pids', path, 'pids.max'), '50');
    assert.equal(read('cpuset', path, 'cpuset.cpus'), read('cpuset', '/', 'cpuset.cpus'));
    assert.equal(read('cpuset', path, 'cpuset.mems'), read('cpuset', '/', 'cpuset.mems'));
    await hostEffects['host.EnsurePodCgroup'](
      { cgroup: { path, cpuShares: 51, cpuQuotaUs: -1, memoryLimitBytes: -1 } },
      settings,
    );
    assert.equal(read('cpu', path, 'cpu.shares'), '51');
    assert.equal(read('cpu', path, 'cpu.cfs_quota_us'), '-1');
    assert.equal(read('pids', path, 'pids.max'), '50');
    assert.ok(Number(read('memory', path, 'memory.limit_in_bytes')) > 2 ** 50);
    assert.deepEqual([...(await ownedCgroups(host, qosOf(kubepods)))], [['aaaa-1', path]]);
    await hostEffects['host.RemovePodCgroup']({ path }, settings);
    for (const dir of cgroupDirs(host, path)) assert.ok(!existsSync(dir), dir);
    await hostEffects['host.RemovePodCgroup']({ path }, settings);
  });
});

test('v1: what still runs in a pod is killed and its nested cgroups go', { skip: !v1 }, async () => {
  await withKubepods(async (kubepods, host, settings) => {
    const path = `${kubepods}/podbbbb`;
    await hostEffects['host.EnsurePodCgroup']({ cgroup: { path, cpuShares: 2 } }, settings);
    const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
    try {
      const ended = once(child, 'exit');
      const inner = join(host.mounts['memory'] ?? '', path, 'container/inner');
      await mkdir(inner, { recursive: true });
      writeFileSync(join(inner, 'cgroup.procs'), String(child.pid));
      writeFileSync(join(host.mounts['pids'] ?? '', path, 'cgroup.procs'), String(child.pid));
      await hostEffects['host.RemovePodCgroup']({ path }, settings);
      assert.deepEqual(await ended, [null, 'SIGKILL']);
      for (const dir of cgroupDirs(host, path)) assert.ok(!existsSync(dir), dir);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

test('v1: many pods at once, made twice at a time', { skip: !v1 }, async () => {
  await withKubepods(async (kubepods, host, settings) => {
    const paths = Array.from({ length: 10 }, (_, i) => `${kubepods}/burstable/podmany-${i}`);
    const make = (path: string) => hostEffects['host.EnsurePodCgroup']({ cgroup: { path, cpuShares: 2 } }, settings);
    await Promise.all([...paths, ...paths].map(make));
    assert.equal((await ownedCgroups(host, qosOf(kubepods))).size, paths.length);
    for (const path of paths)
      assert.notEqual(readFileSync(join(host.mounts['cpuset'] ?? '', path, 'cpuset.cpus'), 'utf8').trim(), '');
    await Promise.all(paths.map((path) => hostEffects['host.RemovePodCgroup']({ path }, settings)));
    assert.equal((await ownedCgroups(host, qosOf(kubepods))).size, 0);
  });
});

test('v1: a value the kernel refuses names the file', { skip: !v1 }, async () => {
  await withKubepods(async (kubepods, _host, settings) => {
    await assert.rejects(
      hostEffects['host.EnsurePodCgroup'](
        { cgroup: { path: `${kubepods}/podcccc`, cpuShares: 2, cpuQuotaUs: 1 } },
        settings,
      ),
      { code: 'HOST005', message: /cannot write 1 to .*podcccc\/cpu\.cfs_quota_us: EINVAL/i },
    );
  });
});
