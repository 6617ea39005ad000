/** The queue of image pulls: its log replays, what was changed in it is found, and no login is in it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { SharedPulls } from '../../../actors/runtime/images/shared-pulls.ts';
import type { Pull } from '../../../machines/images/pull-queue.ts';
import { folder, memoryLog, replayed } from './journal-fixture.ts';

/** What a pull is made with, as it must not stand on disk. */
const right = (image: string) => JSON.stringify([image, '', '', 'digest-of-a-password']);

/** A queue that pulls one image at a time; its pulls end when they are told to. */
function queueIn(dir: string) {
  const begun: { pull: Pull; signal: AbortSignal; end: (outcome: string | Error) => void }[] = [];
  const heard: string[] = [];
  let at = 1_000;
  const journal = { dir, agent: 'v', maxBytes: 1 << 20, log: memoryLog().log };
  const { log } = journal;
  const pulls = new SharedPulls<string>({ limit: 1, now: () => at++, log, journal }, (pull, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const end = (outcome: string | Error) => (outcome instanceof Error ? reject(outcome) : resolve(outcome));
    begun.push({ pull, signal, end });
    return promise;
  });
  const ask = (asker: string, image: string, { fresh = false, retry = false } = {}) =>
    void pulls
      .ask({ asker, right: right(image), image, fresh, retry }, (place) =>
        heard.push(`${asker} ${place === null ? 'begins' : `waits in place ${place.place}`}`),
      )
      .then(
        (answer) => heard.push(`${asker} has ${answer}`),
        (error: unknown) => heard.push(`${asker} failed: ${(error as Error).message}`),
      );
  const end = async (i: number, outcome: string | Error) => {
    begun[i]?.end(outcome);
    await turn();
  };
  return { pulls, begun, heard, ask, end };
}

/** Two share a pull, one waits, one waits and leaves, the last of a pull takes it along, and a failed one is held before it is tried again. */
async function story(t: TestContext, dir: string) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const queue = queueIn(dir);
  const { pulls, ask, end } = queue;
  ask('a', 'one');
  ask('b', 'one');
  ask('c', 'two');
  ask('d', 'three');
  pulls.leave('d', new Error('gone'));
  await end(0, 'one');
  ask('e', 'four');
  pulls.leave('c', new Error('gone'));
  await end(1, new Error('canceled'));
  await end(2, new Error('no manifest'));
  ask('e2', 'four', { fresh: true, retry: true });
  t.mock.timers.tick(200);
  await end(3, 'four');
  return queue;
}

test('who waits is told so, and hears what his pull came to; all of it replays', async (t) => {
  const dir = folder(t);
  const { pulls, begun, heard, ask } = await story(t, dir);
  assert.deepEqual(heard, [
    'c waits in place 1',
    'd waits in place 2',
    'd failed: gone',
    'c begins',
    'a has one',
    'b has one',
    'e waits in place 1',
    'c failed: gone',
    'e begins',
    'e failed: no manifest',
    'e2 has four',
  ]);
  assert.deepEqual(
    begun.map(({ pull, signal }) => [pull.image, pull.right, signal.aborted]),
    [
      ['one', right('one'), false],
      ['two', right('two'), true],
      ['four', right('four'), false],
      ['four', right('four'), false],
    ],
  );
  const { messages, machines, difference, unanswered } = await replayed(dir);
  assert.deepEqual([messages, machines, difference, unanswered], [13, ['pulls'], null, 0]);
  const path = join(dir, 'pulls', 'pulls-00000001.jsonl');
  const text = readFileSync(path, 'utf8');
  assert.ok(!text.includes('password'), 'what a pull is made with does not stand there');
  pulls.close();
  ask('late', 'five');
  assert.equal(begun.length, 5, 'after the journal was closed pulls go on');
  assert.equal(readFileSync(path, 'utf8'), text);
});

test('a pull that was shared otherwise than recorded is found', async (t) => {
  const dir = folder(t);
  (await story(t, dir)).pulls.close();
  const path = join(dir, 'pulls', 'pulls-00000001.jsonl');
  const text = readFileSync(path, 'utf8');
  // Who shared a pull is said to have asked for it with another login.
  const shared = '"asker":"b","right":"r1"';
  assert.ok(text.includes(shared));
  writeFileSync(path, text.replace(shared, '"asker":"b","right":"r9"'));
  const { difference } = await replayed(dir);
  assert.deepEqual([difference?.pod, difference?.what, difference?.recorded], ['pulls', 'state', 'pulling']);
  writeFileSync(path, text.replace('"id":1,"askers":["a","b"]}', '"id":1,"askers":["a"]}'));
  assert.match((await replayed(dir)).difference?.what ?? '', /^order 1 of \d$/);
});
