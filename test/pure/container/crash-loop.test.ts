import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { containerBackOff } from '../../../actors/node/container-back-off.ts';
import { BACK_OFF_EXPIRES_MS, nextBackOff, waitsUntil } from '../../../machines/container/back-off.ts';
import { settings } from '../pod/pod-world.ts';
import { ContainerBench, reasons } from './container-bench.ts';

/** Runs, lives `lifeMs`, ends; returns the delay until the next start in s. */
function crash(bench: ContainerBench, lifeMs: number): number {
  bench.to('running');
  bench.at += lifeMs;
  bench.ended({ restartCount: bench.context.attempt });
  const from = bench.at;
  bench.tell({ type: 'start' });
  if (bench.state === 'backingOff') {
    assert.equal(bench.context.waiting?.reason, 'CrashLoopBackOff');
    bench.ring();
    assert.equal(bench.state, 'waiting');
    bench.tell({ type: 'start' });
  }
  assert.equal(bench.state, 'starting.checkingImage');
  return (bench.at - from) / 1000;
}

test('delays 0, 10, 20, ... 300 s; a life of more than 600 s starts over', () => {
  const bench = new ContainerBench();
  const delays = [1, 2, 3, 4, 5, 6, 7, 8].map(() => crash(bench, 1_000));
  assert.deepEqual(delays, [0, 10, 20, 40, 80, 160, 300, 300]);
  assert.equal(crash(bench, 599_000), 300);
  assert.deepEqual([crash(bench, 601_000), crash(bench, 1_000)], [0, 10]);
});

test('maxContainerRestartPeriod bounds every delay, and the reset stays at 600 s', () => {
  const bench = new ContainerBench();
  bench.over.settings = { ...settings, maxContainerRestartPeriodMs: 15_000 };
  assert.deepEqual(
    [1, 2, 3, 4].map(() => crash(bench, 1_000)),
    [0, 10, 15, 15],
  );
  assert.equal(crash(bench, 40_000), 15, 'not twice the longest delay, as it is for other back-offs');
  bench.over.settings = { ...settings, maxContainerRestartPeriodMs: 1_000 };
  const quick = new ContainerBench();
  quick.over.settings = bench.over.settings;
  assert.deepEqual(
    [1, 2, 3].map(() => crash(quick, 100)),
    [0, 1, 1],
  );
});

test('ReduceDefaultCrashLoopBackOffDecay: from 1 s on, to 60 s where no configured bound stands', () => {
  const of = (gates: Record<string, boolean>, maxContainerRestartPeriod?: number) =>
    containerBackOff({ crashLoopBackOff: { maxContainerRestartPeriod } }, resolveFeatureGates(gates).gates);
  assert.deepEqual(of({}), { maxContainerRestartPeriodMs: 300_000 });
  const reduced = of({ ReduceDefaultCrashLoopBackOffDecay: true });
  assert.deepEqual(reduced, { maxContainerRestartPeriodMs: 60_000, firstContainerBackOffMs: 1_000 });
  assert.equal(of({ ReduceDefaultCrashLoopBackOffDecay: true }, 300_000).maxContainerRestartPeriodMs, 300_000);
  const bench = new ContainerBench();
  bench.over.settings = { ...settings, ...reduced };
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(() => crash(bench, 1_000));
  assert.deepEqual(delays, [0, 1, 2, 4, 8, 16, 32, 60, 60]);
});

test('a changed definition starts without delay and counts anew', () => {
  const bench = new ContainerBench();
  for (let i = 0; i < 4; i++) crash(bench, 1_000);
  bench.container = { ...bench.container, image: 'img:2' };
  assert.deepEqual([crash(bench, 1_000), crash(bench, 1_000)], [0, 10]);
});

test('each resync repeats the event BackOff; nothing else moves it before its time', () => {
  const bench = new ContainerBench();
  crash(bench, 1);
  bench.to('running').ended({ restartCount: 1 });
  bench.tell({ type: 'start' });
  assert.equal(bench.state, 'backingOff');
  assert.deepEqual(reasons(bench.tell({ type: 'sync' })), ['BackOff']);
  for (const type of ['start', 'observed', 'proceed', 'turn'] as const) bench.tell({ type });
  bench.kill(5);
  assert.equal(bench.state, 'backingOff');
});

test('back-off arithmetic', () => {
  const first = nextBackOff(null, 0, 5, 300_000);
  assert.deepEqual(first, { delayMs: 10_000, since: 5 });
  assert.deepEqual(nextBackOff(first, 6, 7, 300_000), { delayMs: 20_000, since: 7 });
  assert.deepEqual(nextBackOff(first, 5 + BACK_OFF_EXPIRES_MS, 7 + BACK_OFF_EXPIRES_MS, 300_000).delayMs, 20_000);
  assert.deepEqual(nextBackOff(first, 6 + BACK_OFF_EXPIRES_MS, 7 + BACK_OFF_EXPIRES_MS, 300_000).delayMs, 10_000);
  assert.equal(waitsUntil(null, 0, 0), null);
  assert.equal(waitsUntil(first, 100, 101), 10_100);
  assert.equal(waitsUntil(first, 100, 10_100), null);
});

test('an end of before the clock was set back does not hold a container for that long: the last start counts', () => {
  const hour = 3_600_000;
  const entry = { delayMs: 40_000, since: hour };
  // it ended at two o'clock, and now it is one second past one again
  assert.equal(waitsUntil(entry, 2 * hour, hour + 1_000), hour + 40_000);
  assert.equal(waitsUntil(entry, 2 * hour, hour + 40_000), null);
  assert.equal(nextBackOff(entry, 2 * hour, hour + 40_000, 300_000).delayMs, 80_000, 'nor is it forgotten');
  // a runtime that reads the clock a moment later is no such case
  assert.equal(waitsUntil(entry, hour + 2_000, hour + 1_000), hour + 42_000);
});
