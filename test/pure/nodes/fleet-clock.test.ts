import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodesCommand } from '../../../bin/commands/nodes.ts';
import { lookEach } from '../../../actors/host/time/clock.ts';
import type { Clock } from '../../../actors/host/time/clock.ts';
import { ClockSteps } from '../../../actors/host/time/clock-steps.ts';
import { fleetClock } from '../../../actors/node/fleet/fleet-clock.ts';
import { podOfFleet, statusOfReal } from '../../../actors/node/fleet/real-times.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';

const START = Date.parse('2026-03-01T12:00:00.250Z');
const SPEEDS = [1, 1.5, 2, 7.3, 10, 100];

/** A clock that goes when it is told to. */
function machineOf() {
  const times = { wall: START, steady: 5_000.5 };
  const looks: { ms: number; look: () => void }[] = [];
  const clock: Clock = {
    now: () => times.wall,
    steady: () => times.steady,
    looking: () => times.steady - 1_000,
    lookAfter: (ms, look) => (looks.push({ ms, look }), { cancel: () => undefined }),
  };
  const pass = (ms: number): void => {
    times.wall += ms;
    times.steady += ms;
  };
  return { ...{ times, looks, clock, pass } };
}

test('wall clock, steady clock and looks go on together, so many times as fast', () => {
  for (const speed of SPEEDS) {
    const { clock, pass, looks } = machineOf();
    const fast = fleetClock(speed, clock);
    const before = { now: fast.now(), steady: fast.steady(), looking: fast.looking() };
    assert.equal(before.now, START);
    pass(4_000);
    assert.equal(fast.now() - before.now, 4_000 * speed);
    assert.ok(Math.abs(fast.steady() - before.steady - 4_000 * speed) < 1e-6);
    assert.ok(Math.abs(fast.looking() - before.looking - 4_000 * speed) < 1e-6);
    lookEach(fast, 10_000, () => undefined);
    assert.equal(looks[0]?.ms, 10_000 / speed);
  }
});

test('a timer comes when its deadline has come by the same clock, and not before', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const speed of SPEEDS) {
    const { clock, pass } = machineOf();
    const fast = fleetClock(speed, clock);
    const deadline = fast.now() + 9_999;
    let fired = 0;
    fast.after(9_999, () => fired++);
    fast.after(5_000, () => assert.fail('it was cancelled')).cancel();
    for (let ms = 0; fired === 0; ms++) {
      assert.ok(ms <= 10_000 / speed + 1, `${speed}x: still waiting after ${ms} ms`);
      pass(1);
      t.mock.timers.tick(1);
    }
    assert.ok(fast.now() >= deadline, `${speed}x: ${deadline - fast.now()} ms too early`);
    assert.equal(fired, 1);
  }
});

test('a timer of months is kept', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const month = 31 * 86_400_000;
  let fired = false;
  fleetClock(1, machineOf().clock).after(month, () => (fired = true));
  // Longer than a timer of Node.
  t.mock.timers.tick(2 ** 31 - 1);
  assert.equal(fired, false);
  t.mock.timers.tick(month - 2 ** 31);
  assert.equal(fired, false);
  t.mock.timers.tick(1);
  assert.equal(fired, true);
});

test('a moment of one clock is a moment of the other, and back; what lies before the start is the same', () => {
  for (const speed of SPEEDS) {
    const { clock, times, pass } = machineOf();
    const fast = fleetClock(speed, clock);
    for (let i = 0; i < 2_000; i++) {
      pass(i % 7);
      assert.equal(fast.toReal(fast.now()), times.wall, `${speed}x`);
      assert.equal(fast.ofReal(times.wall), fast.now());
    }
    assert.ok(Number.isInteger(fast.now()), 'timestamps of the runtime are whole milliseconds');
    assert.equal(fast.toReal(START - 3_000), START - 3_000);
    assert.equal(fast.ofReal(START - 3_000), START - 3_000);
  }
});

test('who sets the wall clock is noticed, and time that passes is no step', () => {
  const { clock, times, pass } = machineOf();
  const steps = new ClockSteps(fleetClock(50, clock));
  for (let i = 0; i < 100; i++) {
    pass(997);
    assert.equal(steps.next(), 0);
  }
  times.wall += 60_000;
  assert.equal(steps.next(), 3_000_000);
});

test('what a node tells has the times of the machine; what it reads there is the same when it is told again', () => {
  const { clock, pass } = machineOf();
  const fast = fleetClock(10, clock);
  pass(100_000);
  const later = (ms: number): string => new Date(START + ms).toISOString().replace(/\.\d+Z/, 'Z');
  const status = {
    phase: 'Running',
    startTime: later(100_000),
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: later(250_000) }],
    containerStatuses: [
      { name: 'c', image: 'a', imageID: '', ready: true, restartCount: 1 },
      { name: 'd', state: { terminated: { exitCode: 0, startedAt: later(0), finishedAt: later(500_000) } } },
    ],
  } as unknown as NonNullable<Pod['status']>;
  const told = statusOfReal(status, fast);
  const second = (text = ''): number => (Date.parse(text) - Math.floor(START / 1000) * 1000) / 1000;
  assert.equal(second(told.startTime), 10);
  assert.equal(second(told.conditions?.[0]?.lastTransitionTime), 25);
  assert.equal(second(told.containerStatuses?.[1]?.state?.terminated?.finishedAt), 50);
  assert.equal(told.containerStatuses?.[0], status.containerStatuses?.[0], 'what has no time is not copied');
  for (const speed of SPEEDS) {
    const other = fleetClock(speed, machineOf().clock);
    for (let s = -5; s < 200; s++) {
      const pod = { status: { startTime: later(s * 1000) } } as Pod;
      const again = statusOfReal(podOfFleet(pod, other).status ?? {}, other);
      assert.deepEqual(again, pod.status, `${speed}x, ${s} s`);
    }
  }
  const plain = fleetClock(1, clock);
  assert.equal(statusOfReal(status, plain), status);
});

test('--speed takes a factor from 1 to 100, and says so', async () => {
  const given = (value: string): number => {
    const command = nodesCommand().action(() => undefined);
    command.exitOverride().parse(['node', 'nodes', '--kubeconfig', 'f', '--speed', value]);
    return command.opts<{ speed: number }>().speed;
  };
  assert.deepEqual(['1', '10x', '2.5x', '100'].map(given), [1, 10, 2.5, 100]);
  assert.equal(nodesCommand().opts<{ speed: number }>().speed, 1);
  for (const wrong of ['0', '0.5x', '101x', '-3', 'x', 'fast', '10 x', '1e1', ''])
    assert.throws(
      () => given(wrong),
      (error: Error) =>
        error.message.startsWith(
          `NDS004: --speed is ${wrong}, which is not a factor from 1 to 100, as 10x, 10 or 2.5x.`,
        ),
      wrong,
    );
});
