import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { mountOn, mountsRest, unmount } from '../../../actors/host/files/mounts.ts';
import { nfsPlugin } from '../../../actors/resources/volumes/plugins/nfs.ts';

type Publish = Parameters<ReturnType<typeof nfsPlugin>['publish']>[0];

test('--experimental-mounter-path: exports are mounted by that program, and its failure is told with its own words', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'nfs-mounter-'));
  const path = join(dir, 'mounted');
  t.after(async () => {
    await unmount(path).catch(() => undefined);
    await mountsRest();
    rmSync(dir, { recursive: true, force: true });
  });
  const program = (name: string, script: string): string => {
    const file = join(dir, name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const publish = (mounter: string) => {
    const volume = { name: 'v', nfs: { server: 'fd00::1', path: '/export', readOnly: true } };
    const spec = { pv: null, volume, readOnly: true, mode: 'Filesystem' };
    return nfsPlugin(mounter).publish({ spec, path } as unknown as Publish);
  };

  const wrong = program('wrong', 'echo "$@ is not for me"; exit 3');
  await assert.rejects(publish(wrong), {
    message:
      `mount failed: exit status 3\nMounting command: ${wrong}\n` +
      `Mounting arguments: mount -t nfs -o ro [fd00::1]:/export ${path}\n` +
      `Output: mount -t nfs -o ro [fd00::1]:/export ${path} is not for me\n`,
  });

  // mount.nfs is of a container there; here a file system in memory is as good
  const right = program('right', `echo "$1 $3" > ${dir}/asked; shift 6; mount -t tmpfs none "$1"`);
  assert.equal(await publish(right), path);
  assert.equal(readFileSync(join(dir, 'asked'), 'utf8'), 'mount nfs\n');
  assert.equal((await mountOn(path))?.fsType, 'tmpfs');
});
