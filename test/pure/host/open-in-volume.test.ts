import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { joinInVolume, openRegular } from '../../../actors/host/volumes/open-in-volume.ts';

/** A folder with a volume in it, and a file that lies beside the volume. */
function volume(t: TestContext) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'volume-')));
  t.after(() => rmSync(dir, { recursive: true }));
  const root = join(dir, 'vol');
  mkdirSync(join(root, 'a/b'), { recursive: true });
  writeFileSync(join(root, 'a/b/file'), 'inside');
  writeFileSync(join(dir, 'file'), 'outside');
  return { dir, root, link: (target: string, name: string) => symlinkSync(target, join(root, name)) };
}

/** What a path leads to, and what stands there. */
async function read(root: string, path: string): Promise<[string, string]> {
  const found = await joinInVolume(root, path);
  const handle = await openRegular(root, found);
  try {
    return [found.slice(root.length), await handle.readFile('utf8')];
  } finally {
    await handle.close();
  }
}

test('a path in a volume, however it is written', async (t) => {
  const { root } = volume(t);
  for (const path of ['a/b/file', './a//b/./file', '/a/b/file', 'a/none/../b/file', '../../a/b/file'])
    assert.deepEqual(await read(root, path), ['/a/b/file', 'inside'], path);
});

test('links are followed as if the volume were all there is', async (t) => {
  const { dir, root, link } = volume(t);
  link('a/b', 'short');
  link('/a/b/file', 'absolute');
  link('../../../../a/b/file', 'up');
  link('../../a', 'a/b/back');
  link('short/back/b/file', 'many');
  for (const path of ['short/file', 'absolute', 'up', 'a/b/back/b/file', 'many', 'short/../b/file'])
    assert.deepEqual(await read(root, path), ['/a/b/file', 'inside'], path);
  link(join(dir, 'file'), 'out');
  link('../file', 'beside');
  link('/', 'root');
  assert.equal(await joinInVolume(root, 'out'), join(root, dir, 'file'));
  assert.equal(await joinInVolume(root, 'beside'), join(root, 'file'));
  assert.deepEqual(await read(root, 'root/root/a/b/file'), ['/a/b/file', 'inside']);
  for (const path of ['out', 'beside']) await assert.rejects(read(root, path), { code: 'ENOENT' });
});

test('links that never end, and names that no file has, in Go’s words', async (t) => {
  const { root, link } = volume(t);
  link('loop', 'loop');
  await assert.rejects(joinInVolume(root, 'loop'), {
    message: `SecureJoin ${root}/loop: too many levels of symbolic links`,
  });
  const long = 'x'.repeat(256);
  await assert.rejects(joinInVolume(root, `a/${long}`), { message: `lstat ${root}//a/${long}: file name too long` });
});

test('a link that comes after the path was found is not followed', async (t) => {
  const { dir, root } = volume(t);
  mkdirSync(join(dir, 'b'));
  writeFileSync(join(dir, 'b/file'), 'outside');
  const found = await joinInVolume(root, 'a/b/file');
  renameSync(join(root, 'a/b'), join(root, 'old'));
  symlinkSync(join(dir, 'b'), join(root, 'a/b'));
  await assert.rejects(openRegular(root, found), { code: 'Escape' });
  rmSync(join(root, 'a/b'));
  mkdirSync(join(root, 'a/b'));
  symlinkSync(join(dir, 'b/file'), join(root, 'a/b/file'));
  await assert.rejects(openRegular(root, found), { code: 'Escape' });
});

test('a FIFO, a socket, a device and a folder are not opened, and nobody waits for them', async (t) => {
  const { root } = volume(t);
  execFileSync('mkfifo', [join(root, 'fifo')]);
  const server = createServer().listen(join(root, 'socket'));
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  for (const path of ['fifo', 'socket', 'a', '/']) await assert.rejects(read(root, path), { code: 'NotAFile' }, path);
  await assert.rejects(openRegular('/dev', '/dev/null'), { code: 'NotAFile' });
});

test('a part of the path that is no folder', async (t) => {
  const { root } = volume(t);
  assert.equal(await joinInVolume(root, 'a/b/file/more'), join(root, 'a/b/file/more'));
  await assert.rejects(read(root, 'a/b/file/more'), { code: 'ENOTDIR' });
});
