import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { waitFor } from '../../tools/wait-for.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { diskUsage, filesUsage } from '../../../actors/resources/stats/disk-usage.ts';
import { VolumeUsage } from '../../../actors/resources/stats/volume-usage.ts';
import type { ClaimedVolume } from '../../../actors/resources/stats/volume-usage.ts';

const MIB = 1024 * 1024;

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'stats-'));
  t.after(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** Bytes and inodes as du counts them. */
function byDu(path: string) {
  const count = (flags: string) => Number.parseInt(execFileSync('du', [flags, path]).toString(), 10);
  return {
    bytes: count('-sk') * 1024,
    inodes: count('-s') && Number.parseInt(execFileSync('du', ['-s', '--inodes', path]).toString(), 10),
  };
}

describe('usage of a folder', () => {
  it('is what du says: many files, folders, sparse files, hard and symbolic links', async (t) => {
    const dir = folder(t);
    for (let i = 0; i < 300; i++) {
      mkdirSync(join(dir, `d${i % 7}`), { recursive: true });
      writeFileSync(join(dir, `d${i % 7}`, `f${i}`), 'x'.repeat(i * 50));
    }
    writeFileSync(join(dir, 'big'), Buffer.alloc(3 * MIB, 1));
    linkSync(join(dir, 'big'), join(dir, 'd1', 'again'));
    symlinkSync('/usr', join(dir, 'usr'));
    execFileSync('truncate', ['-s', '100M', join(dir, 'sparse')]);
    const usage = await diskUsage(dir);
    assert.deepEqual(usage, byDu(dir));
    assert.ok(usage.bytes < 10 * MIB, `${usage.bytes}`);
  });

  it('of a file is that of the file, and fails for what is not there', async (t) => {
    const dir = folder(t);
    writeFileSync(join(dir, 'f'), 'x');
    assert.deepEqual(await diskUsage(join(dir, 'f')), byDu(join(dir, 'f')));
    await assert.rejects(diskUsage(join(dir, 'none')), { code: 'ENOENT' });
  });

  it('does not leave the file system', { skip: process.getuid?.() !== 0 }, async () => {
    const { inodes } = await diskUsage('/dev/shm');
    assert.ok(inodes >= 1);
    const dev = await diskUsage('/dev');
    assert.deepEqual(dev, await diskUsage('/dev'));
    assert.equal(dev.inodes, Number.parseInt(execFileSync('du', ['-sx', '--inodes', '/dev']).toString(), 10));
  });

  it('of files alone leaves folders out; null when there is no such folder', async (t) => {
    const dir = folder(t);
    assert.deepEqual(await filesUsage(dir), { bytes: 0, inodes: 0 });
    mkdirSync(join(dir, 'sub'));
    writeFileSync(join(dir, 'sub', 'f'), 'x');
    writeFileSync(join(dir, '0.log'), 'x'.repeat(5000));
    assert.deepEqual(await filesUsage(dir), { bytes: 8192, inodes: 1 });
    assert.equal(await filesUsage(join(dir, 'none')), null);
  });
});

describe('usage of volumes', () => {
  const sizes = () =>
    Promise.resolve({ capacityBytes: 100, availableBytes: 60, usedBytes: 30, inodes: 10, inodesFree: 4 });
  const pod = (uid: string, ...volumes: object[]): Pod =>
    ({ metadata: { uid, name: 'web', namespace: 'shop' }, spec: { containers: [], volumes } }) as unknown as Pod;
  const make = (t: TestContext, periodMs = 1000, claimed?: (pod: Pod) => ClaimedVolume[]) => {
    const rootDir = folder(t);
    const clock = { now: 5000, steady: 5000 };
    const usage = new VolumeUsage({
      rootDir,
      periodMs,
      sizes,
      now: () => clock.now,
      steady: () => clock.steady,
      claimed,
    });
    const at = (plugin: string, name: string, uid = 'u1') => {
      const path = join(rootDir, 'pods', uid, 'volumes', `kubernetes.io~${plugin}`, name);
      mkdirSync(path, { recursive: true });
      return path;
    };
    return { usage, clock, at };
  };

  it('takes what the file system counts, of pods in a user namespace, and walks where it does not', async (t) => {
    const sources: string[] = [];
    const rootDir = folder(t);
    const path = (uid: string, name: string): string =>
      join(rootDir, 'pods', uid, 'volumes', 'kubernetes.io~empty-dir', name);
    const asked: string[] = [];
    const usage = new VolumeUsage({
      ...{ rootDir, periodMs: 3_600_000, sizes, now: () => 5000 },
      onVolumeCounted: (_seconds, source) => sources.push(source),
      quotas: {
        use: (dir) => {
          asked.push(dir);
          return Promise.resolve(dir.endsWith('counted') ? { bytes: 7, inodes: 3 } : null);
        },
      },
    });
    for (const name of ['counted', 'walked']) mkdirSync(path('u1', name), { recursive: true });
    mkdirSync(path('u2', 'counted'), { recursive: true });
    const inside = pod('u1', { name: 'counted', emptyDir: {} }, { name: 'walked', emptyDir: {} });
    const pods = [
      { ...inside, spec: { ...inside.spec, hostUsers: false } } as Pod,
      pod('u2', { name: 'counted', emptyDir: {} }),
    ];
    const known = await waitFor('both pods', async () => {
      const found = await usage.of(pods);
      return found.size === 2 ? found : undefined;
    });
    const [counted, walked] = known.get('u1')?.ephemeral ?? [];
    assert.deepEqual([counted?.usedBytes, counted?.inodesUsed], [7, 3]);
    assert.deepEqual([walked?.usedBytes, walked?.inodesUsed], Object.values(byDu(path('u1', 'walked'))));
    assert.equal(known.get('u2')?.ephemeral[0]?.inodesUsed, 1);
    assert.deepEqual(asked, [path('u1', 'counted'), path('u1', 'walked')]);
    assert.deepEqual(sources.sort(), ['du', 'du', 'fsquota']);
  });

  it('tells emptyDirs and configMaps apart from others; hostPaths and what is not set up are left out', async (t) => {
    const { usage, at } = make(t);
    writeFileSync(join(at('empty-dir', 'data'), 'f'), Buffer.alloc(MIB, 1));
    for (const [plugin, name] of [
      ['empty-dir', 'mem'],
      ['configmap', 'cm'],
      ['secret', 'sec'],
      ['projected', 'tok'],
      ['downward-api', 'info'],
    ] as const) {
      at(plugin, name);
    }
    const volumes = [
      { name: 'data', emptyDir: {} },
      { name: 'mem', emptyDir: { medium: 'Memory' } },
      { name: 'cm', configMap: { name: 'a' } },
      { name: 'sec', secret: { secretName: 'a' } },
      { name: 'tok', projected: { sources: [] } },
      { name: 'info', downwardAPI: { items: [] } },
      { name: 'hp', hostPath: { path: '/' } },
      { name: 'later', emptyDir: {} },
    ];
    const found = (await usage.of([pod('u1', ...volumes)])).get('u1');
    assert.deepEqual(
      found?.ephemeral.map(({ name }) => name),
      ['data', 'cm'],
    );
    assert.deepEqual(
      found?.others.map(({ name }) => name),
      ['mem', 'sec', 'tok', 'info'],
    );
    assert.deepEqual(found?.ephemeral[0], {
      ...{ time: 5e9, availableBytes: 60, capacityBytes: 100, usedBytes: MIB + 4096, inodesFree: 4, inodes: 10 },
      ...{ inodesUsed: 2, name: 'data' },
    });
  });

  it('counts again after a period, behind the answer; before it after two', async (t) => {
    const { usage, clock, at } = make(t);
    const path = at('empty-dir', 'data');
    const pods = [pod('u1', { name: 'data', emptyDir: {} })];
    const inodes = async () => (await usage.of(pods)).get('u1')?.ephemeral[0]?.inodesUsed;
    assert.equal(await inodes(), 1);
    writeFileSync(join(path, 'a'), '');
    clock.now -= 3_600_000;
    clock.steady += 999;
    assert.equal(await inodes(), 1, 'within the period');
    clock.steady += 1;
    assert.equal(await inodes(), 1, 'counted again for the next one');
    while ((await inodes()) !== 2) await new Promise(setImmediate);
    writeFileSync(join(path, 'b'), '');
    clock.steady += 2000;
    assert.equal(await inodes(), 3);
  });

  it('tells nothing when the period is 0 or less, and forgets pods', async (t) => {
    for (const period of [0, -1]) {
      const { usage, at } = make(t, period);
      at('empty-dir', 'data');
      assert.equal((await usage.of([pod('u1', { name: 'data', emptyDir: {} })])).size, 0);
    }
    const { usage, at } = make(t);
    at('empty-dir', 'data');
    assert.equal((await usage.of([pod('u1', { name: 'data', emptyDir: {} })])).size, 1);
    assert.equal((await usage.of([])).size, 0);
  });

  it('tells the file system of a claim with the claim', async (t) => {
    const { usage } = make(t, 1000, () => [
      { name: 'disk', path: '/x' },
      { name: 'own', path: '/y' },
    ]);
    const one = pod('u1', { name: 'disk', persistentVolumeClaim: { claimName: 'c' } }, { name: 'own', ephemeral: {} });
    const others = (await usage.of([one])).get('u1')?.others;
    assert.deepEqual(
      others?.map(({ pvcRef }) => pvcRef),
      [
        { name: 'c', namespace: 'shop' },
        { name: 'web-own', namespace: 'shop' },
      ],
    );
    assert.equal(others[0]?.usedBytes, 30);
    assert.equal(others[0]?.inodesUsed, 6);
  });

  it('says who has counted volumes of claims, also where the driver fails', async (t) => {
    const sources: string[] = [];
    const fails = () => Promise.reject(new Error('no driver'));
    const usage = new VolumeUsage({
      ...{ rootDir: folder(t), periodMs: 1000, sizes, now: () => 5000 },
      onVolumeCounted: (_seconds, source) => sources.push(source),
      claimed: () => [
        { name: 'disk', path: '/x' },
        { name: 'csi', path: '/y', source: 'csi.example.com', usage: fails },
        { name: 'raw', path: '/z', source: 'block', usage: fails },
        { name: 'flex', path: '/f', source: 'statfs', usage: () => Promise.resolve(null) },
      ],
    });
    await usage.of([pod('u1', { name: 'disk', persistentVolumeClaim: { claimName: 'c' } })]);
    assert.deepEqual(sources, ['statfs', 'csi.example.com', 'block']);
  });

  it('tells of volumes that cannot be counted, which cost neither others of their pod nor other pods', async (t) => {
    let fails = true;
    let steady = 0;
    const told: string[] = [];
    const usage = new VolumeUsage({
      ...{ rootDir: folder(t), periodMs: 1000, now: () => 5000, steady: () => steady },
      sizes: (path) => (path === '/bad' ? Promise.reject(new Error('it hangs')) : sizes()),
      log: {
        info: ({ v, pod: name, volumeName, err }: { v: number; pod: string; volumeName: string; err: Error }) =>
          told.push(`${v} ${name} ${volumeName}: ${err.message}`),
      } as never,
      claimed: ({ metadata }) => {
        if (fails && metadata?.uid === 'u1') throw new Error('a plugin has a fault');
        return [
          { name: 'bad', path: '/bad' },
          { name: 'disk', path: '/x' },
          { name: 'csi', path: '/y', usage: () => Promise.reject(new Error('no driver')) },
        ];
      },
    });
    const pods = ['u1', 'u2', 'u3', 'u4', 'u5'].map((uid) =>
      pod(uid, { name: 'disk', persistentVolumeClaim: { claimName: 'c' } }),
    );
    const counts = async () => [...(await usage.of(pods)).values()].map(({ others }) => others.length);
    assert.deepEqual(await counts(), [0, 1, 1, 1, 1]);
    assert.deepEqual(told.splice(0).sort().slice(0, 3), [
      '4 shop/web : a plugin has a fault',
      '4 shop/web bad: it hangs',
      '4 shop/web bad: it hangs',
    ]);
    [fails, steady] = [false, 2_000];
    assert.deepEqual(await counts(), [1, 1, 1, 1, 1]);
    assert.equal(told.filter((line) => line === '4 shop/web csi: no driver').length, 5);
  });

  it('tells the health that a driver knows of, and an abnormal one each time that it is counted', async (t) => {
    const told: string[] = [];
    const health = { abnormal: true, message: 'it is lost' };
    const none = { capacityBytes: 1, usedBytes: 1, availableBytes: 0, inodes: 0, inodesUsed: 0, inodesFree: 0 };
    const clock = { steady: 0 };
    const usage = new VolumeUsage({
      ...{ rootDir: folder(t), periodMs: 1000, sizes, now: () => 5000, steady: () => clock.steady },
      onAbnormal: ({ metadata }, volume, why) => told.push(`${metadata?.name ?? ''} ${volume}: ${why}`),
      claimed: () => [
        { name: 'bad', path: '/x', source: 'csi', usage: () => Promise.resolve({ ...none, health }) },
        {
          ...{ name: 'good', path: '/x', source: 'csi' },
          usage: () => Promise.resolve({ ...none, health: { ...health, abnormal: false } }),
        },
        { name: 'silent', path: '/x', source: 'csi', usage: () => Promise.resolve(none) },
      ],
    });
    const pods = [pod('u1', { name: 'bad', persistentVolumeClaim: { claimName: 'c' } })];
    const others = (await usage.of(pods)).get('u1')?.others;
    assert.deepEqual(
      others?.map(({ volumeHealthStats }) => volumeHealthStats),
      [{ abnormal: true }, { abnormal: false }, undefined],
    );
    clock.steady = 2_000;
    await usage.of(pods);
    assert.deepEqual(told, ['web bad: it is lost', 'web bad: it is lost']);
  });

  it('does not follow a name out of the folder of the pod', async (t) => {
    const { usage } = make(t);
    const found = await usage.of([
      pod('u1', { name: '../../../..', emptyDir: {} }),
      pod('..', { name: 'a', emptyDir: {} }),
    ]);
    assert.deepEqual(
      [...found.values()].flatMap(({ ephemeral }) => ephemeral),
      [],
    );
  });
});
