/** What a probe goes on saying is neither told nor forgotten; after a restart a node's probes do not all run at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import { pod, PodWorld } from './pod-world.ts';

const PERIOD_MS = 10_000;
const readinessProbe = { exec: { command: ['p'] }, periodSeconds: 10, failureThreshold: 3, successThreshold: 1 };
const definition = (uid = 'u1'): Pod =>
  pod({ containers: [{ name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', readinessProbe }] }, uid);

const running = (exitCode: () => number, uid?: string): PodWorld => {
  const world = new PodWorld(definition(uid));
  world.answers['cri.ExecSync'] = () => ({ result: { exitCode: exitCode(), output: '' } });
  world.begin(null, true);
  world.run(PERIOD_MS);
  return world;
};
const of = (effects: readonly Effect[], type: Effect['type']): Effect[] => effects.filter((e) => e.type === type);

test('a probe that says the same again and again is told once', () => {
  const world = running(() => 0);
  assert.equal(world.state, 'syncing.running');
  const before = world.effects.length;
  world.run(10 * PERIOD_MS);
  const since = world.effects.slice(before);
  assert.equal(of(since, 'cri.ExecSync').length, 10);
  assert.deepEqual(of(since, 'status.Publish'), []);
});

test('failures on their way to the threshold are told, so that a new agent goes on counting', () => {
  let exitCode = 0;
  const world = running(() => exitCode);
  exitCode = 1;
  world.run(2 * PERIOD_MS);
  assert.deepEqual(world.memory?.probes['c/readiness'], {
    containerId: world.containers[0]?.id,
    result: 'success',
    run: 2,
    outcome: 'failure',
  });
  const next = new PodWorld(definition(), world.memory, world);
  next.answers['cri.ExecSync'] = () => ({ result: { exitCode, output: '' } });
  next.run(50);
  assert.equal(next.state, 'syncing.running');
  next.run(PERIOD_MS);
  assert.equal(next.state, 'syncing.waitingForReadiness', 'the third failure in a row');
});

test('probes of pods that were taken over begin somewhere within their period', () => {
  const first = [1, 2, 3, 4, 5, 6, 7, 8].map((i) => {
    const world = running(() => 0, `u${i}`);
    const next = new PodWorld(definition(`u${i}`), world.memory, world);
    const began = next.at;
    while (of(next.effects, 'cri.ExecSync').length === 0 && next.at < began + 2 * PERIOD_MS) next.run(100);
    return next.at - began;
  });
  assert.ok(Math.max(...first) <= PERIOD_MS + 100, first.join());
  assert.ok(new Set(first).size >= 6, first.join());
});
