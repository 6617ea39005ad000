import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { makeNodeFolders } from '../../../actors/node/node-folders.ts';

test('a node has its folders with the modes of kubelet before anything runs on it', async (t) => {
  const base = await mkdtemp(join(tmpdir(), 'actorlet-folders-'));
  const before = process.umask(0o022);
  t.after(async () => {
    process.umask(before);
    await rm(base, { recursive: true, force: true });
  });
  const places = {
    rootDir: join(base, 'kubelet'),
    devicePluginsDir: join(base, 'kubelet/device-plugins'),
    podLogsDir: join(base, 'pods'),
    containerLogsDir: join(base, 'containers'),
  };
  const rest = { selinux: false, log: pino({ enabled: false }) };
  const modes = async (...paths: string[]) =>
    Promise.all(paths.map(async (path) => ((await stat(join(base, path))).mode & 0o777).toString(8)));
  await makeNodeFolders({ ...places, checkpoints: false, ...rest });
  await assert.rejects(stat(join(base, 'kubelet/checkpoints')), { code: 'ENOENT' });
  const closed = ['pods', 'plugins', 'plugins_registry', 'device-plugins', 'pod-resources'].map(
    (name) => `kubelet/${name}`,
  );
  assert.deepEqual([...new Set(await modes('pods', ...closed))], ['750']);
  assert.deepEqual(await modes('containers'), ['755']);
  await makeNodeFolders({ ...places, checkpoints: true, ...rest });
  assert.deepEqual(await modes('kubelet/checkpoints'), ['700']);
});
