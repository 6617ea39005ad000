/** Kubelet runs the readiness probe of a container that is not ready at each sync of its pod, not only once in its period. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { ALL_BEHAVIOUR, BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { pod, PodWorld } from './pod-world.ts';

type Probe = NonNullable<NonNullable<Pod['spec']>['containers'][number]['readinessProbe']>;

const LONG_S = 300;

class Probed extends PodWorld {
  code = 1;
  readonly runs: number[] = [];

  constructor(probe: Partial<Probe> = {}, over: Partial<NodeSettings> = {}, before?: PodWorld) {
    const readinessProbe = { exec: { command: ['p'] }, periodSeconds: LONG_S, failureThreshold: 3, ...probe };
    const image = { image: 'img:1', imagePullPolicy: 'IfNotPresent' };
    const containers = [
      { name: 'c', ...image, readinessProbe },
      { name: 'd', ...image },
    ];
    super(pod({ containers }), before?.memory ?? null, before, false, 'file', over);
    this.answers['cri.ExecSync'] = (_, { at }) => {
      this.runs.push(at);
      return { result: { exitCode: this.code, output: '' } };
    };
    this.begin(before?.memory ?? null, before !== undefined);
    this.run(20_000);
  }

  get ready(): boolean | undefined {
    return this.status?.containerStatuses?.find(({ name }) => name === 'c')?.ready;
  }

  sync(): void {
    this.send({ type: 'pod.sync', at: this.at });
  }
}

test('one that became ready is found to be at the next round of its pod, and the period counts from there', () => {
  const world = new Probed();
  world.code = 0;
  const before = world.runs.length;
  world.run(40_000);
  assert.equal(world.ready, false);
  world.sync();
  world.run(100);
  assert.equal(world.ready, true);
  assert.equal(world.runs.length, before + 1);
  const asked = world.runs.at(-1) ?? 0;
  world.sync();
  world.run(LONG_S * 1000);
  assert.equal(world.runs.at(-1), asked + LONG_S * 1000, 'who is ready is asked each period only');
  assert.equal(world.runs.length, before + 2);
});

test('as logs of before have it: each period only', () => {
  const behaviour = ALL_BEHAVIOUR.filter((change) => change !== BEHAVIOUR.unreadyAreProbedAtSyncs);
  const world = new Probed({}, { behaviour });
  world.code = 0;
  world.run(40_000);
  world.sync();
  world.run(40_000);
  assert.equal(world.ready, false);
});

test('what it said for the last time before it is not ready is asked once more, at once', () => {
  const world = new Probed({ periodSeconds: 10, failureThreshold: 2 });
  world.code = 0;
  world.run(20_000);
  assert.equal(world.ready, true);
  world.code = 1;
  const before = world.runs.length;
  world.run(25_000);
  assert.equal(world.ready, false);
  const [, second = 0, third = 0] = world.runs.slice(before);
  assert.ok(third - second < 1_000, 'the failure that counts is followed by another run');
  world.run(100_000);
  const pauses = world.runs.slice(before + 2).map((at, i, all) => (i === 0 ? 10_000 : at - (all[i - 1] ?? 0)));
  assert.deepEqual([...new Set(pauses)], [10_000], 'and then each period');
});

test('the end of another container is heard of, once a second', () => {
  const world = new Probed();
  world.run(30_000);
  const before = world.runs.length;
  world.code = 0;
  world.exit('d', 1);
  world.run(5);
  assert.equal(world.runs.length, before + 1);
  world.run(100);
  assert.equal(world.ready, true);
  const begins = new Probed().runs;
  assert.ok(begins.length <= 2, 'containers that begin one after the other bring about one run');
});

test('the initial delay is waited for', () => {
  const world = new Probed({ initialDelaySeconds: 120 });
  world.run(60_000);
  world.sync();
  world.run(10_000);
  assert.deepEqual(world.runs, []);
});

test('after a restart the first run comes somewhere within the period', () => {
  const world = new Probed();
  const next = new Probed({}, {}, world);
  next.sync();
  next.run(100);
  assert.deepEqual(next.runs, []);
});
