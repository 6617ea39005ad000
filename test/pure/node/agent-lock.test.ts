/** One agent of a machine: who comes second waits, and who is first may go when somebody does. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { takeAgentLock } from '../../../actors/node/agent-lock.ts';
import { waitsForLock } from '../../../machines/values/lock-table.ts';
import { waitFor } from '../../tools/wait-for.ts';

const folder = mkdtempSync(join(tmpdir(), 'lock-'));
after(() => rmSync(folder, { recursive: true }));
const log = pino({ level: 'silent' });
/** In another process id namespace the kernel does not tell of a holder that is gone. */
const tells = (path: string) => readFileSync('/proc/locks', 'latin1').includes(`:${statSync(path).ino} `);

test('none is asked for, or cannot be had', async () => {
  assert.equal(await takeAgentLock({ path: '', exitOnContention: false, log }), null);
  await assert.rejects(takeAgentLock({ path: '', exitOnContention: true, log }), {
    code: 'CFG043',
    message: /cannot exit on lock file contention: no lock file specified/,
  });
  const path = join(folder, 'no/such/folder');
  await assert.rejects(takeAgentLock({ path, exitOnContention: false, log }), {
    code: 'CFG044',
    message: /unable to acquire file lock on ".*folder": ENOENT/,
  });
});

test('another process waits until it is let go; the first hears of it when it wants to', async (t) => {
  const path = join(folder, 'lock');
  const lock = await takeAgentLock({ path, exitOnContention: true, log });
  assert.ok(lock);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  let wanted = false;
  void lock.wanted.then(() => (wanted = true));

  const tries = spawn('flock', ['--nonblock', path, 'true']);
  assert.deepEqual(await once(tries, 'exit'), [1, null], 'it is locked');
  const waits = spawn('flock', [path, 'true'], { stdio: 'ignore' });
  const ended = once(waits, 'exit');
  if (tells(path)) {
    await lock.wanted;
    assert.ok(wanted);
  } else t.diagnostic('the kernel does not tell who waits');
  assert.equal(waits.exitCode, null, 'it still waits');
  lock.release();
  assert.deepEqual(await ended, [0, null]);
});

test('who only takes the lock waits for it, and is not told of others', async () => {
  const path = join(folder, 'other');
  const first = await takeAgentLock({ path, exitOnContention: false, log });
  let second = false;
  const coming = takeAgentLock({ path, exitOnContention: false, log }).then((lock) => ((second = true), lock));
  if (tells(path))
    await waitFor('the second waits', () => readFileSync('/proc/locks', 'latin1').includes('-> FLOCK') || undefined);
  assert.equal(second, false);
  first?.release();
  (await coming)?.release();
  assert.ok(second);
});

test('the kernel’s table of locks', () => {
  const table = `1: POSIX  ADVISORY  WRITE 500 fe:00:77 0 EOF
2: FLOCK  ADVISORY  WRITE 400 fe:00:1077 0 EOF
2: -> FLOCK  ADVISORY  WRITE 900 fe:00:1077 0 EOF
3: FLOCK  ADVISORY  WRITE 400 fe:00:77 0 EOF
4: FLOCK  ADVISORY  WRITE 401 fe:00:99 0 EOF
4: -> FLOCK  ADVISORY  WRITE 901 fe:00:99 0 EOF
`;
  assert.equal(waitsForLock(table, { holder: 400, inode: '1077' }), true);
  assert.equal(waitsForLock(table, { holder: 400, inode: '77' }), false);
  assert.equal(waitsForLock(table, { holder: 401, inode: '99' }), true);
  assert.equal(waitsForLock(table, { holder: 500, inode: '77' }), false, 'no lock of flock');
  assert.equal(waitsForLock('', { holder: 1, inode: '1' }), false);
});
