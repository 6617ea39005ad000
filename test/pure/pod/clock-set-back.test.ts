import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextDeadline } from '../../../machines/pod/pod-step.ts';
import { PodWorld, pod } from './pod-world.ts';

const HOUR = 3_600_000;
const START = 10 * HOUR;

/** A world at ten o'clock. */
function world(definition: ReturnType<typeof pod>): PodWorld {
  const w = new PodWorld(definition, null, undefined, false);
  w.at = START;
  w.begin(null, false);
  return w;
}

/** The node's clock, and the runtime's, go back by an hour. */
function setBack(w: PodWorld): void {
  w.at -= HOUR;
  w.send({ type: 'clock.steppedBack', at: w.at, byMs: HOUR });
}

test('a container that ends after the clock was set back is seen and restarted, and its number goes on', () => {
  const w = world(pod({}));
  w.run(5_000);
  w.pleg();
  assert.equal(w.state, 'syncing.running');
  setBack(w);
  for (const c of w.containers)
    if (c.state === 'running') Object.assign(c, { state: 'exited', exitCode: 1, finishedAt: w.at });
  w.pleg();
  w.run(3_000);
  w.pleg();
  w.run(1_000);
  assert.equal(w.state, 'syncing.running');
  assert.equal(w.status?.containerStatuses?.[0]?.restartCount, 1);
  assert.equal(w.containers.filter((c) => c.state === 'running').length, 1);
  // the second end is one of the newer container although the runtime dates it an hour before the first one
  for (const c of w.containers)
    if (c.state === 'running') Object.assign(c, { state: 'exited', exitCode: 1, finishedAt: w.at });
  w.pleg();
  w.run(12_000);
  w.pleg();
  w.run(1_000);
  assert.equal(w.status?.containerStatuses?.[0]?.restartCount, 2);
  assert.equal(w.containers.filter((c) => c.state === 'running').length, 1);
});

test('no deadline moves away: probes go on with their period', () => {
  const probe = { exec: { command: ['true'] }, periodSeconds: 7 };
  const w = world(pod({ containers: [{ name: 'c', image: 'img:1', readinessProbe: probe, livenessProbe: probe }] }));
  w.run(30_000);
  w.pleg();
  setBack(w);
  const deadline = nextDeadline(w.snapshot) ?? Infinity;
  assert.ok(deadline <= w.at + 7_000, `${deadline - w.at} ms`);
  const before = w.effects.filter((e) => e.type === 'cri.ExecSync').length;
  w.run(30_000);
  const asked = w.effects.filter((e) => e.type === 'cri.ExecSync').length - before;
  assert.ok(asked >= 8 && asked <= 10, `${asked} probes of two kinds in 30 s`);
});

test('the grace period is what was left of it, not an hour more', () => {
  const hook = { preStop: { exec: { command: ['sleep', '3'] } } };
  const w = world(
    pod({ terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'img:1', lifecycle: hook }] }),
  );
  w.answers['cri.ExecSync'] = () => 'hang';
  w.run(5_000);
  w.pleg();
  w.send({ type: 'pod.terminate', at: w.at, order: { reason: 'Removed', message: '' } });
  w.run(10_000);
  setBack(w);
  w.run(21_000);
  const stops = w.effects.filter((e) => e.type === 'cri.StopContainer');
  assert.equal(stops.length, 1, 'the hook was cut off at the end of the grace period');
  assert.ok(
    stops.every((e) => e.type === 'cri.StopContainer' && e.params.timeoutSeconds <= 3),
    JSON.stringify(stops),
  );
});

test('a look that began before the clock was set back, and is told after, does not make later ones look old', () => {
  const w = world(pod({}));
  w.run(5_000);
  const late = { ...w.observe(), at: w.at };
  setBack(w);
  w.send({ type: 'pod.observed', at: w.at + 100, observed: late });
  w.at += 1_000;
  for (const c of w.containers)
    if (c.state === 'running') Object.assign(c, { state: 'exited', exitCode: 0, finishedAt: w.at });
  w.pleg();
  w.run(2_000);
  w.pleg();
  w.run(1_000);
  assert.equal(w.status?.containerStatuses?.[0]?.restartCount, 1);
});

test('what an agent of before the step remembers does not hold its successor up', () => {
  const probe = { exec: { command: ['true'] }, periodSeconds: 5 };
  const definition = pod({ containers: [{ name: 'c', image: 'img:1', livenessProbe: probe }] });
  const first = world(definition);
  first.run(20_000);
  first.pleg();
  const { memory } = first;
  assert.ok(memory !== null);
  const second = new PodWorld(definition, null, first, false);
  second.at = first.at - HOUR;
  second.begin(memory, true);
  assert.ok((nextDeadline(second.snapshot) ?? Infinity) <= second.at + 5_000);
});
