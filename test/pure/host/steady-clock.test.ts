import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { WatchedFile } from '../../../actors/cluster/api/watched-file.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { spanClock } from '../../../actors/host/time/span-clock.ts';
import { Resync } from '../../../actors/node/resync.ts';
import { NO_PAUSE, longerPause } from '../../../machines/status-manager/server-pause.ts';
import type { Supervisor } from '../../../actors/pods/supervisor/supervisor.ts';

const HOUR = 3_600_000;

/** From now on the wall clock is an hour late. */
function setBack(t: TestContext): void {
  const { now } = Date;
  t.mock.method(Date, 'now', () => now() - HOUR);
}

test('a file that is looked at each time is read anew after the clock was set back', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'watched-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'f');
  writeFileSync(path, 'one');
  const file = new WatchedFile(path, 0);
  assert.equal(file.read(), 'one');
  setBack(t);
  writeFileSync(path, 'another');
  assert.equal(file.read(), 'another');
});

test('a pod is looked at in its sync period, whatever becomes of the clock', () => {
  const times = { now: 1_000_000_000, steady: 5_000 };
  let look = (): void => undefined;
  const told: number[] = [];
  const supervisor = {
    started: () => [{ uid: 'u', shard: 0 }],
    tell: (...[, { at }]: [string, { at: number }]) => told.push(at),
  } as unknown as Supervisor;
  const clock = {
    ...machineClock,
    now: () => times.now,
    steady: () => times.steady,
    lookAfter: (...[, next]: [number, () => void]) => {
      look = next;
      return { cancel: () => undefined };
    },
  };
  const synced: string[] = [];
  new Resync({
    ...{ supervisor, periodMs: 60_000, clock, heldUp: () => false },
    synced: (uid) => synced.push(uid),
  }).start();
  const pass = (ms: number): void => {
    times.now += ms;
    times.steady += ms;
    look();
  };
  pass(1_000);
  times.now -= HOUR;
  pass(30_000);
  assert.deepEqual(told, []);
  pass(60_000);
  assert.deepEqual(told, [times.now]);
  assert.deepEqual(synced, ['u']);
  // Set forward: nothing is due for that.
  times.now += 2 * HOUR;
  pass(1_000);
  assert.equal(told.length, 1);
});

test('times of machines that measure by them go on as time does, whatever becomes of the clock', () => {
  const times = { now: 1_000_000_000, steady: 5_000 };
  const at = spanClock({ now: () => times.now, steady: () => times.steady });
  assert.equal(at(), times.now);
  times.now -= HOUR;
  times.steady += 10;
  assert.equal(at(), 1_000_000_010);
  times.now += 2 * HOUR;
  assert.equal(at(), 1_000_000_010);
});

test('requests that fail together are one failure', () => {
  const first = longerPause(NO_PAUSE, 10, 0, 0.5);
  assert.ok(first.until > 10);
  assert.equal(longerPause(first, 11, 0, 0.5), first);
  assert.ok(longerPause(first, first.until, 0, 0.5).until > first.until);
});
