import assert from 'node:assert/strict';
import { mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import {
  mappedWords,
  nameBlockVolume,
  unmapBlockVolume,
  unnameBlockVolume,
} from '../../../actors/resources/volumes/block-map.ts';
import { volumeFolder } from '../../../actors/resources/volumes/volume-folders.ts';

test("a pod's folder names a block volume before there is a device, and until nothing of it is left", async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'block-map-'));
  t.after(() => rm(root, { recursive: true }));
  const map = {
    podUid: 'a',
    globalPath: join(root, 'dev'),
    linkPath: volumeFolder(root, 'a', 'test/p', 'pv-1', 'Block'),
  };
  const found = () => readdir(dirname(map.linkPath));

  assert.equal(await nameBlockVolume(map), true);
  assert.equal(await readlink(map.linkPath), join(root, 'dev/a'), 'it leads nowhere yet');
  assert.deepEqual(await found(), ['pv-1']);
  assert.equal(await nameBlockVolume(map), false, 'what names it stays as it is');

  await unmapBlockVolume(map);
  assert.deepEqual(await found(), ['pv-1'], 'its plugin may still fail to take it back');

  const other = join(dirname(map.linkPath), 'pv-2');
  await symlink('/nowhere', other);
  await unnameBlockVolume(map.linkPath);
  assert.deepEqual(await found(), ['pv-2']);
  await unnameBlockVolume(other);
  await unnameBlockVolume(other);
  assert.deepEqual(await readdir(join(root, 'pods/a')), [], 'folders that are empty go as well');
});

test("a block volume that is there is told of in kubelet's words", () => {
  const map = { podUid: 'u', globalPath: '/g/"dev"', linkPath: '/pods/u/volumeDevices/p/pv' };
  assert.deepEqual(mappedWords('pv', map), [
    String.raw`MapVolume.MapPodDevice succeeded for volume "pv" globalMapPath "/g/\"dev\""`,
    'MapVolume.MapPodDevice succeeded for volume "pv" volumeMapPath "/pods/u/volumeDevices/p"',
  ]);
});
