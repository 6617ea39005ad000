import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ImageFsInfoResponse } from '../../../cri/generated/runtime/v1/api.ts';
import type { DeepPartial } from '../../../cri/generated/runtime/v1/api.ts';
import { nodeDisks } from '../../../actors/resources/stats/node-disks.ts';
import { MIB, fakeNode, reading } from './support/fake-node.ts';

describe('the node without its pods', () => {
  it('tells what eviction looks at, from two cgroups and one call', async () => {
    const pods = reading(50);
    const memory = pods.memory && { ...pods.memory, limitBytes: 80 * MIB };
    const { stats, calls, reader } = fakeNode({ cgroups: { '/kubepods': { ...pods, ...(memory && { memory }) } } });
    const node = await stats.nodeAlone();
    assert.deepEqual(calls, ['ImageFsInfo']);
    assert.deepEqual(reader.reads.toSorted(), ['/', '/kubepods']);
    assert.equal(reader.trees, 0);
    assert.equal(node.memory?.workingSetBytes, 100 * MIB - 1000);
    const [together] = node.systemContainers ?? [];
    assert.equal(together?.memory?.availableBytes, 30 * MIB + 1000);
    assert.equal(node.fs?.availableBytes, 600);
    assert.equal(node.runtime?.imageFs.capacityBytes, 1000);
  });

  it('fails with the runtime', async () => {
    const { stats } = fakeNode({ failing: 'ImageFsInfo' });
    await assert.rejects(stats.nodeAlone(), /^Error: failed to get imageFs stats: /);
    await assert.rejects(stats.disks(), /^Error: failed to get imageFs stats: /);
  });

  it('leaves what is known of pods’ cgroups as it is', async () => {
    const { stats, reader } = fakeNode();
    await stats.nodeAlone();
    await stats.nodeAlone();
    assert.equal(reader.trees, 0);
  });
});

describe('how the disks lie', () => {
  const devices: Record<string, string> = { '/root': 'a', '/images': 'b', '/layers': 'c', '/beside': 'a' };
  const lie = (images: string[], layers: string[]) => {
    const usage = (mountpoint: string): DeepPartial<ImageFsInfoResponse['imageFilesystems'][number]> => ({
      fsId: { mountpoint },
    });
    const info = { imageFilesystems: images.map(usage), containerFilesystems: layers.map(usage) };
    return nodeDisks(ImageFsInfoResponse.fromPartial(info), '/root', (path) => Promise.resolve(devices[path] ?? null));
  };

  it('one disk, images apart, layers apart from images', async () => {
    assert.deepEqual(await lie(['/beside'], ['/beside']), { imageFs: false, splitFs: false });
    assert.deepEqual(await lie(['/images'], ['/images']), { imageFs: true, splitFs: false });
    assert.deepEqual(await lie(['/images'], []), { imageFs: true, splitFs: false });
    assert.deepEqual(await lie(['/images'], ['/beside']), { imageFs: true, splitFs: true });
    assert.deepEqual(await lie(['/beside'], ['/images']), { imageFs: true, splitFs: true });
  });

  it('images that are not on this machine count as one disk', async () => {
    assert.deepEqual(await lie(['/elsewhere'], []), { imageFs: false, splitFs: false });
    assert.deepEqual(await lie([], []), { imageFs: false, splitFs: false });
  });
});
