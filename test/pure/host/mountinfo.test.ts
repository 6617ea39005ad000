import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mountAt, mountsBelow, parseMountinfo } from '../../../actors/host/files/mountinfo.ts';

const TEXT = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
40 22 0:35 / /pods/a\\040b rw,nosuid shared:3 master:7 - tmpfs tmpfs rw,size=1024k
41 40 0:36 /sub /pods/a\\040b/deep rw - tmpfs tmp\\134fs rw
42 22 0:37 / /pods/a\\040bc rw - tmpfs tmpfs rw
43 40 0:38 / /pods/a\\040b rw - tmpfs top rw
broken line
`;

test('mountinfo: optional fields, octal escapes and broken lines', () => {
  const mounts = parseMountinfo(TEXT);
  assert.equal(mounts.length, 5);
  assert.deepEqual(mounts[1], {
    id: 40,
    parentId: 22,
    device: '0:35',
    root: '/',
    mountPoint: '/pods/a b',
    options: ['rw', 'nosuid'],
    fsType: 'tmpfs',
    source: 'tmpfs',
    superOptions: ['rw', 'size=1024k'],
    shared: true,
  });
  assert.equal(mounts[2]?.source, 'tmp\\fs');
  assert.equal(mountAt(mounts, '/pods/a b')?.source, 'top');
});

test('mounts below a folder: deepest and newest first, no neighbour with the same prefix', () => {
  const below = mountsBelow(parseMountinfo(TEXT), '/pods/a b');
  assert.deepEqual(
    below.map(({ id }) => id),
    [41, 43, 40],
  );
});

test('no mount comes before one that lies below it', () => {
  const path = fc
    .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 })
    .map((parts) => `/x/${parts.join('/')}`);
  fc.assert(
    fc.property(fc.array(path, { maxLength: 12 }), (paths) => {
      const text = paths.map((mount, i) => `${i} 0 0:1 / ${mount} rw - tmpfs t rw`).join('\n');
      const order = mountsBelow(parseMountinfo(text), '/x').map(({ mountPoint }) => mountPoint);
      assert.equal(order.length, paths.length);
      order.forEach((one, i) => assert.ok(!order.slice(i + 1).some((later) => later.startsWith(`${one}/`))));
    }),
  );
});
