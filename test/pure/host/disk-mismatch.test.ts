/** A disk that has another file system than the one that is asked for, with programs that only say what they are told to. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { formatAndMount, isFileSystemMismatch } from '../../../actors/host/volumes/disk-commands.ts';
import { folder } from '../journal/journal-fixture.ts';

test('a mount that fails is told apart when the disk has another file system', async (t) => {
  const programs = folder(t);
  const program = (name: string, text: string): void => {
    const file = join(programs, name);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
  };
  program('blkid', 'echo TYPE=xfs');
  program('fsck', 'exit 0');
  program('mount', 'echo wrong fs type >&2; exit 32');
  const { PATH: path } = process.env;
  process.env['PATH'] = `${programs}:${path ?? ''}`;
  t.after(() => (process.env['PATH'] = path));
  const failure = (type: string) =>
    formatAndMount('/dev/none', '/nowhere', type, []).then(
      () => null,
      (error: unknown) => error,
    );
  const other = await failure('ext4');
  assert.match(String(other), /wrong fs type/);
  assert.equal(isFileSystemMismatch(other), true);
  assert.equal(isFileSystemMismatch(new Error('around it', { cause: other })), true);
  assert.equal(isFileSystemMismatch(await failure('xfs')), false);
});
