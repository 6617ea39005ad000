/** Housekeeping: its log replays, what was changed in it is found, and rounds of which nothing follows are not in it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { OrphanRounds } from '../../../actors/host/housekeeping/orphans.ts';
import { folder, memoryLog, replayed } from './journal-fixture.ts';

test('what is removed when is decided by a machine, and all of it replays', async (t) => {
  const dir = folder(t);
  let now = 0;
  const told: string[] = [];
  const journal = { dir, agent: 'v', maxBytes: 1 << 20, log: memoryLog().log };
  const alive = new Set(['live', 'back']);
  const clock = { now: () => 1_000 + now, steady: () => now };
  const rounds = new OrphanRounds({ clock, alive: (uid) => alive.has(uid), journal });
  const busy = new Set(['busy']);
  const removed: string[] = [];
  const round = () =>
    rounds.round(
      'folder',
      ['live', 'gone', 'back', 'busy'].filter((uid) => !removed.includes(uid)),
      (uid) => {
        // While the first is removed another one comes back.
        alive.add('back');
        if (busy.has(uid)) return Promise.resolve({ text: 'EBUSY', tell: () => told.push(uid) });
        removed.push(uid);
        return Promise.resolve(null);
      },
    );
  alive.delete('back');
  assert.deepEqual(await round(), { found: 3, left: 1 });
  assert.deepEqual([removed, told], [['gone'], ['busy']]);
  for (; now < 1_900; now += 100) assert.deepEqual(await round(), { found: 1, left: 1 });
  now = 2_000;
  await round();
  assert.deepEqual(told, ['busy'], 'the same once more is no news');
  busy.clear();
  now = 6_000;
  await round();
  assert.deepEqual(await round(), { found: 0, left: 0 });
  rounds.close();
  const { messages, machines, difference, unanswered } = await replayed(dir);
  assert.deepEqual([messages, machines, difference, unanswered], [6, ['housekeeping'], null, 0]);

  const path = join(dir, 'housekeeping', 'housekeeping-00000001.jsonl');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('"steady":6000', '"steady":5999'));
  assert.deepEqual((await replayed(dir)).difference?.what, 'order 1 of 1', 'not before its time');
});
