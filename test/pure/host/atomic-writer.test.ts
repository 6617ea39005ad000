import assert from 'node:assert/strict';
import { lstat, mkdtemp, readFile, readdir, readlink, rm, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { writeAtomically } from '../../../actors/host/volumes/atomic-writer.ts';

async function withDir(use: (dir: string) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'actorlet-atomic-'));
  try {
    await use(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const files = (record: Record<string, string>, mode = 0o644) =>
  new Map(Object.entries(record).map(([path, content]) => [path, { content, mode }]));

test('lays files out behind ..data and leaves unchanged content alone', async () => {
  await withDir(async (dir) => {
    assert.equal(await writeAtomically(dir, files({ podName: 'web', 'user/labels': 'a="b"' }, 0o440)), true);
    const first = await readlink(join(dir, '..data'));
    assert.match(first, /^\.\.\d{4}(_\d\d){5}\..+$/);
    assert.equal(await readlink(join(dir, 'podName')), '..data/podName');
    assert.equal(await readlink(join(dir, 'user')), '..data/user');
    assert.equal((await stat(join(dir, 'user/labels'))).mode & 0o777, 0o440);
    assert.equal((await stat(join(dir, '..data/'))).mode & 0o777, 0o755);
    assert.equal(await writeAtomically(dir, files({ podName: 'web', 'user/labels': 'a="b"' }, 0o440)), false);
    assert.equal(await readlink(join(dir, '..data')), first);
  });
});

test('replaces content, drops what is gone and keeps one version', async () => {
  await withDir(async (dir) => {
    await writeAtomically(dir, files({ a: '1', 'b/c': '2', 'b/d': '3' }));
    await writeAtomically(dir, files({ a: 'new', 'b/c': '2' }));
    assert.equal(await readFile(join(dir, 'a'), 'utf8'), 'new');
    assert.deepEqual(await readdir(join(dir, 'b/')), ['c']);
    await writeAtomically(dir, files({ x: '9' }));
    const names = await readdir(dir);
    assert.deepEqual(
      names.filter((name) => !name.startsWith('..')),
      ['x'],
    );
    assert.equal(names.filter((name) => /^\.\.\d/.test(name)).length, 1);
  });
});

test('a missing visible link is made again without a new version', async () => {
  await withDir(async (dir) => {
    await writeAtomically(dir, files({ a: '1' }));
    await unlink(join(dir, 'a'));
    assert.equal(await writeAtomically(dir, files({ a: '1' })), false);
    assert.ok((await lstat(join(dir, 'a'))).isSymbolicLink());
  });
});

test('a failure before publishing leaves the old version in place and nothing behind', async () => {
  await withDir(async (dir) => {
    await writeAtomically(dir, files({ a: '1' }));
    const before = await readdir(dir);
    const broken = () => Promise.reject(new Error('no'));
    await assert.rejects(writeAtomically(dir, files({ a: '2' }), broken), /no/);
    assert.deepEqual(await readdir(dir), before);
    assert.equal(await readFile(join(dir, 'a'), 'utf8'), '1');
  });
});

test('refuses paths that leave the volume', async () => {
  await withDir(async (dir) => {
    for (const path of ['/a', '../a', 'a/../../b', '..a', '', './..a', '.', 'x'.repeat(256), 'a/'.repeat(3000)])
      await assert.rejects(writeAtomically(dir, files({ [path]: '' })), { code: 'InvalidPath' }, JSON.stringify(path));
    assert.deepEqual(await readdir(dir), []);
  });
});

test('after any two writes exactly the second set is visible', async () => {
  const set = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd/e', 'd/f', 'g/h/i'), fc.string({ maxLength: 5 }));
  await fc.assert(
    fc.asyncProperty(set, set, async (one, two) => {
      await withDir(async (dir) => {
        await writeAtomically(dir, files(one));
        await writeAtomically(dir, files(two));
        const tops = new Set(Object.keys(two).map((path) => path.split('/')[0]));
        const visible = (await readdir(dir)).filter((name) => !name.startsWith('..'));
        assert.deepEqual(new Set(visible), tops);
        for (const [path, content] of Object.entries(two))
          assert.equal(await readFile(join(dir, path), 'utf8'), content);
      });
    }),
    { numRuns: 40 },
  );
});
