import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { pack } from 'tar-stream';
import { unmountBelow } from '../../../actors/host/files/mounts.ts';
import { imageArchive } from '../../../cri/image-maker/image-archive.ts';
import { BUSYBOX_IMAGE } from '../../../cri/private-containerd/own-images.ts';
import { findRuntimeBinaries } from '../../../cri/private-containerd/binaries.ts';
import { hostFacts } from '../../../cri/private-containerd/host-facts.ts';
import { importImages } from '../../../cri/private-containerd/import-images.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { ENDS_BADLY, podOf, RUNS, runs } from '../agent/support/test-pod.ts';
import { evictingNode } from './support/evicting-node.ts';
import { smallDisk } from './support/small-disk.ts';
import type { SmallDisk } from './support/small-disk.ts';

/** Of the images' disk, how much of it must stay free, what an image takes that nobody uses, and what the one who fills it writes, MiB. */
const [DISK, KEPT, UNUSED, WRITTEN] = [800, 450, 350, 500];
const UNUSED_IMAGE = 'localhost/actorlet/unused:1';
const DATA = { spec: { volumes: [{ name: 'data', emptyDir: {} }] } };

describe('a node whose images have a disk of their own', { concurrency: false }, () => {
  let disk: SmallDisk;
  let agentRoot: string;
  const place = evictingNode(
    async () => {
      disk = await smallDisk({ mebibytes: DISK, inodes: 40_000 });
      agentRoot = await mkdtemp(join(tmpdir(), 'image-disk-'));
      return {
        containerd: { parent: disk.path },
        // The agent's folder is what nodefs is of: another disk.
        flags: ['--root-dir', agentRoot],
        config: {
          ...{ volumeStatsAggPeriod: '2s', evictionPressureTransitionPeriod: '1s', nodeStatusUpdateFrequency: '1s' },
          // Only a shortage has images collected here.
          imageGCHighThresholdPercent: 100,
          imageMinimumGCAge: '1s',
          evictionHard: { 'imagefs.available': `${KEPT}Mi` },
        },
      };
    },
    async () => {
      await disk.remove();
      await unmountBelow(agentRoot);
      await rm(agentRoot, { recursive: true, force: true });
    },
  );

  it('gets it back from images that nobody uses; one that a pod uses stays', async () => {
    const node = place();
    // Nobody can be evicted: an image counts as unused only from the second look that finds it so.
    await node.node.write(
      'critical.json',
      podOf('critical', [runs('c')], { priorityClassName: 'system-node-critical' }, { namespace: 'kube-system' }),
    );
    const before = await waitFor('the critical pod to run', async () => {
      const [id] = Object.values(await node.node.running('critical'));
      return id;
    });
    const images = async (): Promise<string[]> =>
      (await node.node.containerd.cri.images()).flatMap(({ repoTags }) => repoTags);
    await importUnused(node.node.containerd.containerd.layout);
    assert.ok((await images()).includes(UNUSED_IMAGE));
    await node.condition('DiskPressure', 'True');
    await waitFor('the image to be collected', async () =>
      (await images()).includes(UNUSED_IMAGE) ? undefined : true,
    );
    await node.condition('DiskPressure', 'False');
    assert.ok((await images()).includes(BUSYBOX_IMAGE));
    assert.deepEqual(Object.values(await node.node.running('critical')), [before]);
  });

  it('evicts who fills it by its layer, whatever a neighbour has in its volume', async () => {
    const node = place();
    node.put('keeps-data', `dd if=/dev/zero of=/data/file bs=1048576 count=${WRITTEN} 2>/dev/null; ${RUNS}`, DATA);
    await node.running('keeps-data');
    await node.measured('keeps-data');
    node.put('fills-layer', `dd if=/dev/zero of=/file bs=1048576 count=${WRITTEN} 2>/dev/null; ${ENDS_BADLY}`);
    const status = await node.evicted('fills-layer');
    assert.match(
      status.message ?? '',
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: 450Mi, available: /,
    );
    // containerd frees layers some time after it removed the container: until then nobody else goes (on kubelet the neighbour may, kubernetes#127864).
    assert.equal(node.status('keeps-data')?.phase, 'Running');
    await node.condition('DiskPressure', 'False');
    await Promise.all(['keeps-data', 'fills-layer'].map((name) => node.remove(name)));
  });

  async function importUnused({ root, socket, log }: { root: string; socket: string; log: string }): Promise<void> {
    const [{ ctr }, { snapshotter }] = await Promise.all([findRuntimeBinaries(), hostFacts(root)]);
    const folder = await mkdtemp(join(tmpdir(), 'unused-image-'));
    try {
      const archive = join(folder, 'archive.tar');
      await writeFile(
        archive,
        await imageArchive([{ ref: UNUSED_IMAGE, config: { Cmd: ['none'] }, layers: [await zeros(UNUSED)] }]),
      );
      await importImages({ ctr, socket, snapshotter }, archive, [], log);
    } finally {
      await rm(folder, { recursive: true });
    }
  }
});

/** A layer with a file of so many MiB. */
async function zeros(mebibytes: number): Promise<Buffer> {
  const tar = pack();
  const done = buffer(tar);
  tar.entry({ name: 'file', mode: 0o644, mtime: new Date(0) }, Buffer.alloc(mebibytes << 20));
  tar.finalize();
  return done;
}
