import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makePodDirs } from '../../../actors/host/volumes/pod-dirs.ts';
import { POD_DIRS } from '../../../machines/volumes/pod-dirs.ts';

test('the folders of a pod are made, again without harm, and why not is told in the words of kubelet', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'actorlet-pod-dirs-'));
  t.after(() => rm(root, { recursive: true }));
  const dir = join(root, 'pods', 'u');
  await makePodDirs(dir, root);
  await makePodDirs(dir, root);
  for (const part of ['', 'volumes', 'plugins']) assert.equal((await stat(join(dir, part))).mode & 0o777, 0o750);
  await rm(join(dir, 'plugins'), { recursive: true });
  await writeFile(join(root, 'file'), '');
  const under = join(root, 'file', 'u');
  const failure = { name: 'HostFailure', code: POD_DIRS, message: `mkdir ${under}: not a directory` };
  await assert.rejects(makePodDirs(under, root), failure);
});
