import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { importImages } from '../../../cri/private-containerd/import-images.ts';
import { imageArchive, sha256 } from '../../../cri/image-maker/image-archive.ts';
import { ownImageArchive } from '../../../cri/private-containerd/own-images.ts';
import { busyboxLayer, findStaticBusybox, isStatic } from '../../../cri/image-maker/root-filesystem.ts';
import { findRuntimeBinaries } from '../../../cri/private-containerd/binaries.ts';
import { withContainerd } from '../support/with-containerd.ts';

describe('the image maker', () => {
  it('gives the same bytes for the same busybox', async () => {
    const [a, b] = await Promise.all([ownImageArchive(), ownImageArchive()]);
    assert.equal(sha256(a.archive), sha256(b.archive));
  });

  it('takes static programs only', async () => {
    assert.equal(await isStatic(await findStaticBusybox()), true);
    assert.equal(await isStatic('/bin/sh'), false);
    const dir = await mkdtemp(join(tmpdir(), 'image-'));
    try {
      await writeFile(join(dir, 'script'), '#!/bin/sh\n');
      assert.equal(await isStatic(join(dir, 'script')), false);
      await assert.rejects(findStaticBusybox([join(dir, 'none'), '/bin/sh']), /RTM008.*busybox-static/);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

  it('makes images that containerd runs, with files of ours in them', async () => {
    const layer = await busyboxLayer(
      await findStaticBusybox(),
      ['sh', 'cat', 'sleep'],
      [{ path: 'etc/motto', content: 'made here\n', mode: 0o644 }],
    );
    const ref = 'localhost/actorlet/busybox:1';
    const archive = await imageArchive([{ ref, config: { Cmd: ['sh'] }, layers: [layer] }]);
    await withContainerd(async ({ cri, rootDir, containerd }) => {
      const file = join(rootDir, 'more.tar');
      await writeFile(file, archive);
      const { ctr } = await findRuntimeBinaries();
      await importImages({ ctr, socket: containerd.layout.socket, snapshotter: 'overlayfs' }, file, [ref]);
      const sandbox = await cri.runSandbox({ name: 'motto' });
      const id = await cri.runContainer(sandbox, 'c', ['sleep', '1000']);
      assert.equal((await cri.exec(id, ['cat', '/etc/motto'])).out, 'made here\n');
      await writeFile(file, 'no archive');
      await assert.rejects(
        importImages({ ctr, socket: containerd.layout.socket, snapshotter: 'overlayfs' }, file, [ref]),
        /RTM009.*busybox:1/,
      );
    });
  });

  it('names the package of CNI plugins that are missing', async () => {
    await assert.rejects(
      findRuntimeBinaries({ cniBinDirs: ['/nowhere'] }),
      /RTM002.*\/nowhere.*containernetworking-plugins/,
    );
  });
});
