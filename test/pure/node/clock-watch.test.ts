import assert from 'node:assert/strict';
import { test } from 'node:test';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { ClockWatch } from '../../../actors/node/clock-watch.ts';
import { memoryLog } from '../journal/journal-fixture.ts';

test('a step back is told once with its length, a step forward is only logged, small ones add up', () => {
  let steady = 1_000;
  let now = 50_000_000;
  const pass = (ms: number, clock = ms) => {
    steady += ms;
    now += clock;
  };
  const told: number[] = [];
  const { log, lines } = memoryLog();
  const clock = { ...machineClock, now: () => now, steady: () => steady };
  const watch = new ClockWatch({ log, clock, onSetBack: (by) => told.push(by) });
  pass(500);
  watch.look();
  // a suspended process is no step
  pass(60_000);
  watch.look();
  assert.deepEqual([told, lines.length], [[], 0]);
  pass(500, 500 - 3_600_000);
  watch.look();
  pass(500);
  watch.look();
  assert.deepEqual(told, [3_600_000]);
  assert.match(lines.join(''), /"seconds":-3600.*The clock was set back/);
  pass(500, 7_200_500);
  watch.look();
  assert.deepEqual(told, [3_600_000]);
  assert.match(lines.at(-1) ?? '', /The clock was set forward/);
  for (let i = 0; i < 5; i++) {
    pass(500, 0);
    watch.look();
  }
  assert.deepEqual(told, [3_600_000, 2_000]);
});
