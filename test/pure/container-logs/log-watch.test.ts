import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LogWatch } from '../../../actors/serve/container-logs/log-watch.ts';

test('a FIFO that takes the place of a followed log is not opened; the file that comes after it is', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'actorlet-watch-'));
  const path = join(dir, '0.log');
  writeFileSync(path, 'first');
  const fd = openSync(path, 'r');
  const watch = new LogWatch(path, fd);
  try {
    renameSync(path, `${path}.old`);
    execFileSync('mkfifo', [path]);
    // Would never return.
    watch.look();
    assert.equal(watch.rotated, false);
    writeFileSync(`${path}.new`, 'second');
    renameSync(`${path}.new`, path);
    watch.look();
    const next = watch.next();
    assert.ok(next !== undefined);
    assert.equal(readFileSync(next, 'utf8'), 'second');
    closeSync(next);
  } finally {
    watch.close();
    closeSync(fd);
    await rm(dir, { recursive: true, force: true });
  }
});
