import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imagesInUse } from '../../../actors/runtime/images/images-in-use.ts';

/** One image that was pulled for two handlers; a container of one of them uses it. */
const cri = {
  image: {
    listImages: () =>
      Promise.resolve({
        images: ['', 'kata'].map((runtimeHandler) => ({
          ...{ id: 'sha256:1', repoTags: [], repoDigests: [], size: '7', pinned: true },
          spec: { image: 'sha256:1', runtimeHandler },
        })),
      }),
  },
  runtime: {
    listContainers: () =>
      Promise.resolve({
        containers: [{ id: 'c', imageId: 'sha256:1', imageRef: '', image: { runtimeHandler: 'kata' }, labels: {} }],
      }),
  },
} as unknown as Parameters<typeof imagesInUse>[0];

test('with RuntimeClassInImageCriApi an image is another one for each handler, without it the same', async () => {
  const seen = async (byHandler: boolean) => {
    const { images, inUse } = await imagesInUse(cri, () => false, byHandler);
    return [images.map(({ handler }) => handler), inUse];
  };
  assert.deepEqual(await seen(true), [['', 'kata'], ['sha256:1,kata']]);
  assert.deepEqual(await seen(false), [['', ''], ['sha256:1']]);
});
