import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { hostEffects } from '../../../actors/host/effects/host-effects.ts';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';
import { startLogRotation } from '../../../actors/host/logs/log-rotation.ts';
import type { LogRotation, LogRotationOptions } from '../../../actors/host/logs/log-rotation.ts';

const log = pino({ level: 'silent' });

async function withRotation(
  change: Partial<LogRotationOptions>,
  use: (at: {
    dir: string;
    path: string;
    rotation: LogRotation;
    reopened: string[];
    tick: () => void;
  }) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'actorlet-rotate-'));
  const path = join(dir, '0.log');
  const reopened: string[] = [];
  let second = 0;
  const rotation = startLogRotation({
    listContainers: () => Promise.resolve([{ id: 'c1', logPath: path, state: 'running' }]),
    reopen: async (id) => {
      reopened.push(id);
      await writeFile(path, '', { flag: 'a' });
    },
    maxSizeBytes: 10,
    maxFiles: 4,
    intervalMs: 3_600_000,
    workers: 2,
    log,
    now: () => new Date(2024, 4, 6, 7, 8, second),
    ...change,
  });
  try {
    await use({ dir, path, rotation, reopened, tick: () => second++ });
  } finally {
    await rotation.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

test('rotates what is big, compresses the older ones, keeps maxFiles', async () => {
  await withRotation({}, async ({ dir, path, rotation, reopened, tick }) => {
    await writeFile(path, 'small');
    await rotation.runOnce();
    assert.deepEqual(await readdir(dir), ['0.log']);
    for (let i = 0; i < 5; i++) {
      await writeFile(path, `content number ${i}`);
      await rotation.runOnce();
      tick();
    }
    assert.deepEqual((await readdir(dir)).sort(), [
      '0.log',
      '0.log.20240506-070802.gz',
      '0.log.20240506-070803.gz',
      '0.log.20240506-070804',
    ]);
    assert.equal(gunzipSync(await readFile(`${path}.20240506-070803.gz`)).toString(), 'content number 3');
    assert.equal(await readFile(`${path}.20240506-070804`, 'utf8'), 'content number 4');
    assert.equal(reopened.length, 5);
  });
});

test('leftovers of a broken round go', async () => {
  await withRotation({}, async ({ dir, path, rotation }) => {
    for (const name of ['0.log.1.tmp', '0.log.2', '0.log.2.gz', '0.log.3']) await writeFile(join(dir, name), 'x');
    await writeFile(path, 'more than ten bytes');
    await rotation.runOnce();
    assert.deepEqual((await readdir(dir)).sort(), ['0.log', '0.log.2.gz', '0.log.20240506-070800', '0.log.3.gz']);
  });
});

test('when the runtime cannot reopen, the log has its name back', async () => {
  const reopen = () => Promise.reject(new Error('runtime is down'));
  await withRotation({ reopen }, async ({ dir, path, rotation }) => {
    await writeFile(path, 'more than ten bytes');
    await rotation.runOnce();
    assert.deepEqual(await readdir(dir), ['0.log']);
    assert.equal(await readFile(path, 'utf8'), 'more than ten bytes');
  });
});

test('a log that was taken away is reopened; containers that do not run and negative size are left alone', async () => {
  await withRotation({}, async ({ dir, rotation, reopened }) => {
    await rotation.runOnce();
    assert.deepEqual(reopened, ['c1']);
    assert.deepEqual(await readdir(dir), ['0.log']);
  });
  for (const change of [{ maxSizeBytes: -1 }, { listContainers: () => Promise.resolve([]) }]) {
    await withRotation(change, async ({ dir, path, rotation }) => {
      await writeFile(path, 'more than ten bytes');
      await rotation.runOnce();
      assert.deepEqual(await readdir(dir), ['0.log']);
    });
  }
});

async function withSettings(use: (settings: HostSettings, podLogs: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'actorlet-links-'));
  const podLogsDir = join(root, 'pods');
  const containerLogsDir = join(root, 'containers');
  const podLogs = join(podLogsDir, 'ns_web_uid1');
  await mkdir(join(podLogs, 'app'), { recursive: true });
  const settings = {
    rootDir: root,
    podLogsDir,
    containerLogsDir,
    cgroupVersion: 1,
    cgroupDriver: 'cgroupfs',
    log,
  } as const;
  try {
    await use(settings, podLogs);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

test('log links: made, made again, replaced; gone with the pod, but not those of the next pod of that name', async () => {
  await withSettings(async (settings, podLogs) => {
    const { containerLogsDir, podLogsDir } = settings;
    const logPath = join(podLogs, 'app/0.log');
    await writeFile(logPath, 'x');
    const linkName = 'web_ns_app-0123.log';
    for (const target of [logPath, logPath, join(podLogs, 'app/1.log')]) {
      await hostEffects['host.LinkLog']({ logPath: target, linkName }, settings);
      assert.equal(await readlink(join(containerLogsDir, linkName)), target);
    }
    const next = join(podLogsDir, 'ns_web_uid2/app/0.log');
    await hostEffects['host.LinkLog']({ logPath: next, linkName: 'web_ns_app-4567.log' }, settings);
    const long = `web_ns_${'x'.repeat(260)}-1.log`;
    await hostEffects['host.LinkLog']({ logPath, linkName: long }, settings);
    assert.ok((await readdir(containerLogsDir)).some((name) => name.length === 255 && name.endsWith('x.log')));
    const removal = { logDirectory: podLogs, linkPrefix: 'web_ns_' };
    await hostEffects['host.RemovePodLogs'](removal, settings);
    await hostEffects['host.RemovePodLogs'](removal, settings);
    assert.deepEqual(await readdir(containerLogsDir), ['web_ns_app-4567.log']);
    await assert.rejects(readdir(podLogs), { code: 'ENOENT' });
    for (const logDirectory of [podLogsDir, '/etc', join(podLogsDir, 'a/b')])
      await assert.rejects(hostEffects['host.RemovePodLogs']({ logDirectory, linkPrefix: 'web_ns_' }, settings), {
        code: 'HOST010',
      });
  });
});

test('LinkLog tolerates a folder that cannot be made', async () => {
  await withSettings(async (settings, podLogs) => {
    await writeFile(settings.containerLogsDir, 'a file');
    await hostEffects['host.LinkLog']({ logPath: podLogs, linkName: 'a_b_c-1.log' }, settings);
  });
});

test("a dead container's log goes with its rotated parts and its link", async () => {
  await withSettings(async (settings, podLogs) => {
    const logPath = join(podLogs, 'app/0.log');
    for (const name of ['0.log', '0.log.1.gz', '0.log.2', '1.log', '10.log'])
      await writeFile(join(podLogs, 'app', name), '');
    const params = { logPath, linkName: 'web_ns_app-0123.log' };
    await hostEffects['host.LinkLog'](params, settings);
    await hostEffects['host.RemoveContainerLog'](params, settings);
    await hostEffects['host.RemoveContainerLog'](params, settings);
    assert.deepEqual((await readdir(join(podLogs, 'app'))).sort(), ['1.log', '10.log']);
    assert.deepEqual(await readdir(settings.containerLogsDir), []);
  });
});

test('a FIFO among the rotated logs, or where a compressed one is written, holds up nothing', async () => {
  await withRotation({}, async ({ dir, path, rotation }) => {
    await writeFile(path, 'content of the log');
    execFileSync('mkfifo', [`${path}.20240101-000000`]);
    await rotation.runOnce();
    await writeFile(`${path}.20240101-000001`, 'old');
    await rm(`${path}.20240101-000000`);
    // A leftover that a pod makes again when it was removed: the name is in the way when the file is to be written.
    execFileSync('mkfifo', [`${path}.20240101-000001.tmp`]);
    await rotation.runOnce();
    assert.ok(!(await readdir(dir)).some((name) => name.endsWith('.tmp')));
  });
});
