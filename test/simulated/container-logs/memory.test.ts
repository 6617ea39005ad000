import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { criLine, startLogServer } from './support/log-server.ts';

const MIB = 1024 * 1024;

test('a file of 200 MB goes through in little memory, however slow the client is', async (t) => {
  const { url, path, openFiles } = await startLogServer(t);
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(3);
  const block = criLine(text).repeat(5000);
  const blocks = Math.ceil((200 * MIB) / block.length);
  const expected = createHash('sha256');
  const fd = openSync(path, 'w');
  const plain = `${text}\n`.repeat(5000);
  for (let index = 0; index < blocks; index++) {
    writeSync(fd, block);
    expected.update(plain);
  }
  closeSync(fd);

  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${url}/containerLogs/n/p/c`, resolve).on('error', reject);
  });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage();
  const found = createHash('sha256');
  let most = 0;
  let pieces = 0;
  for await (const piece of answer) {
    found.update(piece as Buffer);
    // A client that stops at first, and then now and then: what was read ahead must not pile up.
    if (pieces++ % 800 !== 0) continue;
    await sleep(pieces === 1 ? 2000 : 20);
    // What is garbage does not count: the client of this test makes much of it.
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    most = Math.max(most, heapUsed - before.heapUsed + arrayBuffers - before.arrayBuffers);
  }
  assert.equal(found.digest('hex'), expected.digest('hex'));
  assert.equal(most < 64 * MIB, true, `${Math.round(most / MIB)} MiB`);
  assert.deepEqual(openFiles(), []);
});
