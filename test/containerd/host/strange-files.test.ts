import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPartitions } from '../../../actors/resources/cgroup-stats/partitions.ts';
import { sizesOf } from '../../../actors/resources/cgroup-stats/filesystem.ts';
import { diskUsage } from '../../../actors/resources/stats/disk-usage.ts';
import { codeOf } from '../../../actors/host/files/host-failure.ts';
import { hostEffects } from '../../../actors/host/effects/host-effects.ts';
import { StrangeFiles } from '../../../actors/host/strange/strange-files.ts';
import { mountDeadServer } from '../../tools/dead-server.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { OWNER, POD, prepareSub, withRoot } from './with-root.ts';

const skip = process.getuid?.() !== 0 || !existsSync('/dev/fuse');

/** A folder whose file system never answers, until the test is over. */
async function withDeadServer(
  use: (at: { dead: string } & Parameters<Parameters<typeof withRoot>[0]>[0]) => Promise<void>,
) {
  await withRoot(async (at) => {
    const dead = join(at.root, 'dead');
    await mkdir(dead);
    const server = await mountDeadServer(dead);
    try {
      await use({ ...at, dead });
    } finally {
      await server.end();
    }
  });
}

test('calls that hang fail in time, are asked once, and leave room for all others', { skip }, async () => {
  const files = new StrangeFiles(5_000);
  await withDeadServer(async ({ dead, root }) => {
    const ask = (path: string) => files.call({ do: 'hostPath', path, type: 'DirectoryOrCreate' });
    for (let times = 0; times < 3; times++) await assert.rejects(ask(dead), { code: 'HOST015' });
    assert.equal(files.hanging, 1);
    // Any number of paths on the one file system, also at once: only some of them are asked for.
    const many = await Promise.allSettled(Array.from({ length: 100 }, (_, n) => ask(join(dead, String(n)))));
    for (const one of many) assert.equal(one.status === 'rejected' && codeOf(one.reason), 'HOST015');
    assert.equal(files.hanging, 4);
    await Promise.all(Array.from({ length: 30 }, (_, n) => ask(join(root, `other-${n}`))));
    assert.ok(existsSync(join(root, 'other-29')));
  });
  // The server is gone for good: the kernel ends what waited for it.
  await waitFor('the calls to come back', () => Promise.resolve(files.hanging === 0 ? true : undefined));
});

test('with eight hostPaths on a dead server names and files of other pods go on', { skip }, async () => {
  await withDeadServer(async ({ dead, settings }) => {
    const hanging = Array.from({ length: 8 }, (_, n) =>
      hostEffects['host.SetUpVolumes'](
        {
          podUid: `hangs-${n}`,
          owner: OWNER,
          volumes: [{ name: 'data', kind: 'hostPath', path: join(dead, String(n)), type: 'Directory' }],
        },
        settings,
      ).then(
        () => 'set up',
        () => 'failed',
      ),
    );
    const files = [{ path: 'a', content: 'b', mode: 0o644 }];
    const { paths } = await hostEffects['host.SetUpVolumes'](
      { podUid: POD, owner: OWNER, volumes: [{ name: 'info', kind: 'downwardAPI', files }] },
      settings,
    );
    assert.equal(await readFile(join(paths['info'] ?? '', 'a'), 'utf8'), 'b');
    // None of them holds up its pod's end.
    for (let n = 0; n < 8; n++) await hostEffects['host.TearDownPod']({ podUid: `hangs-${n}` }, settings);
    assert.deepEqual(
      await Promise.all(hanging),
      Array.from({ length: 8 }, () => 'failed'),
    );
  });
});

test('a subPath of a hostPath is walked and opened elsewhere, and bound here', { skip }, async () => {
  await withRoot(async ({ settings, root, pod }) => {
    const data = join(root, 'data');
    await mkdir(join(data, 'a'), { recursive: true });
    await writeFile(join(data, 'a/file'), 'x');
    const prepare = (volumePath: string, subPath: string, key: string) =>
      prepareSub(settings, root, { key, volumePath, subPath, readOnly: false });
    const target = await prepare(data, 'a', 'data/app/0');
    assert.equal(await readFile(join(target, 'file'), 'utf8'), 'x');
    assert.equal(await prepare(data, 'a', 'data/app/0'), target);
    assert.equal(await readFile(await prepare(data, 'a/file', 'data/app/1'), 'utf8'), 'x');
    // What is mounted there comes from elsewhere too, and a message may be read through it.
    assert.deepEqual(
      await hostEffects['host.ReadTerminationMessage'](
        { path: join(pod, 'volume-subpaths/data/app/1'), maxBytes: 4096, maxLines: 80 },
        settings,
      ),
      { message: 'x' },
    );
    await prepare(data, 'made/deep', 'data/app/0');
    assert.ok(existsSync(join(data, 'made/deep')));
    await assert.rejects(prepare(data, '../..', 'data/app/2'), { code: 'SubPath' });
    await hostEffects['host.TearDownPod']({ podUid: POD }, settings);
    assert.equal(await readFile(join(data, 'a/file'), 'utf8'), 'x');
  });
});

test('sizes of partitions and volumes: a dead one is left out, the others are told', { skip }, async () => {
  await withDeadServer(async ({ dead, root }) => {
    const at = (device: string, mountPoint: string) => ({ device, mountPoint, major: 0, minor: 0 });
    const told = await readPartitions([at('a', '/'), at('dead', dead), at('b', '/dev')]);
    assert.deepEqual(
      told.map(({ device }) => device),
      ['a', 'b'],
    );
    assert.equal(await sizesOf(dead), null);
    assert.notEqual(await sizesOf(root), null);
    // Something is mounted so in an emptyDir by a container with Bidirectional propagation.
    assert.ok((await diskUsage(root)).inodes >= 1);
  });
});

test('a process with calls that hang ends when it wants to', { skip }, async () => {
  await withDeadServer(({ dead }) => {
    const program = `
      const { StrangeFiles } = await import(${JSON.stringify(new URL('../../../actors/host/strange/strange-files.ts', import.meta.url).href)});
      await new StrangeFiles(200).call({ do: 'statfs', path: ${JSON.stringify(dead)} }).catch((error) => console.log(error.code));`;
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
    });
    assert.deepEqual({ stdout, status }, { stdout: 'HOST015\n', status: 0 });
    return Promise.resolve();
  });
});
