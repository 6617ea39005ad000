import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { ImageSpec } from '../../../cri/generated/runtime/v1/api.ts';
import { bench, call } from './sim-client.ts';

const spec = (image: string): ImageSpec => ImageSpec.fromPartial({ image });

test('an image is absent, pulled, found by each of its names, listed, removed', async (t) => {
  const b = await bench(t, { images: [] });
  const find = async (name: string) =>
    (await call(b.images, b.images.imageStatus, { image: spec(name), verbose: false })).image;
  assert.equal(await find('busybox'), undefined);
  const { imageRef } = await call(b.images, b.images.pullImage, { image: spec('busybox') });
  assert.match(imageRef, /^sha256:[0-9a-f]{64}$/);
  const image = await find('docker.io/library/busybox:latest');
  assert.equal(image?.id, imageRef);
  assert.deepEqual(image?.repoTags, ['docker.io/library/busybox:latest']);
  assert.ok(Number(image?.size) > 0);
  for (const name of [imageRef, imageRef.slice(7), 'busybox:latest', image?.repoDigests[0] ?? '']) {
    assert.equal((await find(name))?.id, imageRef, name);
  }
  assert.equal((await call(b.images, b.images.pullImage, { image: spec('busybox') })).imageRef, imageRef);
  await call(b.images, b.images.pullImage, { image: spec('registry.example:5000/a/b:v1') });
  assert.equal((await call(b.images, b.images.listImages, {})).images.length, 2);
  const one = await call(b.images, b.images.listImages, { filter: { image: spec('busybox') } });
  assert.deepEqual(
    one.images.map((each) => each.id),
    [imageRef],
  );
  for (let i = 0; i < 2; i++) await call(b.images, b.images.removeImage, { image: spec(imageRef) });
  assert.equal(await find('busybox'), undefined);
});

test('images that the script says are present: by name at once, by glob when asked for, until removed', async (t) => {
  const b = await bench(t, {
    images: [
      { image: 'nginx', present: true, sizeBytes: 1000, user: '101:102', pinned: true },
      { image: 'quay.io/*', present: true, user: 'app' },
    ],
  });
  const list = async () => (await call(b.images, b.images.listImages, {})).images;
  assert.deepEqual(
    (await list()).map((each) => [each.repoTags, each.size, each.uid, each.pinned]),
    [[['docker.io/library/nginx:latest'], '1000', { value: '101' }, true]],
  );
  const found = await call(b.images, b.images.imageStatus, { image: spec('quay.io/a/b'), verbose: true });
  assert.equal(found.image?.username, 'app');
  assert.equal(found.image?.uid, undefined);
  assert.match(found.info['info'] ?? '', /"User":"app"/);
  await call(b.images, b.images.removeImage, { image: spec('quay.io/a/b') });
  const gone = await call(b.images, b.images.imageStatus, { image: spec('quay.io/a/b'), verbose: false });
  assert.equal(gone.image, undefined);
  const { imageFilesystems } = await call(b.images, b.images.imageFsInfo, {});
  assert.equal(imageFilesystems[0]?.usedBytes?.value, '1000');
});

test('pulls fail as often as the script says, and a name that is none is refused', async (t) => {
  const b = await bench(t, {
    images: [
      { image: 'flaky', pull: { takes: [1, 5], fail: { code: 'NotFound', message: 'no such image' }, times: 2 } },
    ],
  });
  const pull = (name: string) => call(b.images, b.images.pullImage, { image: spec(name) });
  for (let i = 0; i < 2; i++) {
    await assert.rejects(pull('flaky'), { code: status.NOT_FOUND, details: 'no such image' });
  }
  await pull('flaky');
  await assert.rejects(pull('UPPER'), /failed to parse image reference "UPPER": invalid reference format/);
  await assert.rejects(pull(''), { code: status.INVALID_ARGUMENT });
});
