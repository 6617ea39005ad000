import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withDefaultTag } from '../../../machines/container/image-name.ts';

const SUM = 'ab'.repeat(32);

test('an image without tag and digest is its latest', () => {
  for (const [image, wanted] of [
    ['nginx', 'nginx:latest'],
    ['nginx:1', 'nginx:1'],
    ['UPPER/x', 'UPPER/x:latest'],
    ['localhost:5000/a/b', 'localhost:5000/a/b:latest'],
    ['[::1]:5000/a', '[::1]:5000/a:latest'],
    [`reg.io/a@sha256:${SUM}`, `reg.io/a@sha256:${SUM}`],
    [`reg.io/a:1@sha256:${SUM}`, `reg.io/a:1@sha256:${SUM}`],
  ] as const) {
    assert.deepEqual(withDefaultTag(image), { image: wanted });
  }
});

test('a name that is none says why in the words of the reference grammar', () => {
  for (const [image, why] of [
    ['Nginx', 'invalid reference format: repository name (library/Nginx) must be lowercase'],
    ['Not/A:name:', 'invalid reference format: repository name (A) must be lowercase'],
    ['a/B/c:1', 'invalid reference format: repository name (a/B/c) must be lowercase'],
    ['docker.io/Up', 'invalid reference format: repository name (library/Up) must be lowercase'],
    ['not a name', 'invalid reference format'],
    ['a::b', 'invalid reference format'],
    [SUM, `invalid repository name (${SUM}), cannot specify 64-byte hexadecimal strings`],
    [`reg.io/${'a'.repeat(256)}`, 'repository name must not be more than 255 characters'],
    [`a@sha257:${SUM}`, 'unsupported digest algorithm'],
    [`a@sha256:${SUM}00`, 'invalid checksum digest length'],
    [`a@sha256:${SUM.toUpperCase()}`, 'invalid checksum digest format'],
  ] as const) {
    assert.deepEqual(withDefaultTag(image), { error: `couldn't parse image name "${image}": ${why}` });
  }
});
