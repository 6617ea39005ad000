import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wantsFreshPull } from '../../../machines/images/pull-policy.ts';
import type { PullPlace } from '../../../machines/protocol/pull-place.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import { box, told } from '../explain/told-world.ts';
import type { ToldWorld } from '../explain/told-world.ts';
import { pod } from './pod-world.ts';

const FAR = 'far:1';
const PLACE: PullPlace = { place: 6, underWay: ['a:1', 'b:1'], before: ['c:1', 'd:1', 'e:1'], more: 2 };
const AHEAD = 'a:1 and b:1 were being pulled, c:1, d:1 and e:1 came before it, 2 more were ahead';

/** A pod whose pulls hang, and that has asked for them. */
function pulling(definition: Pod): ToldWorld {
  const world = told(definition, (w) => (w.answers['image.Pull'] = () => 'hang'));
  world.run(1_000);
  return world;
}

const pulls = (world: ToldWorld) => world.effects.flatMap((effect) => (effect.type === 'image.Pull' ? [effect] : []));
const whyOf = (world: ToldWorld) => world.snapshot.context.why;
const at = (time: number) => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');

/** The pull's outcome. */
function come(world: ToldWorld, { key }: Extract<Effect, { type: 'image.Pull' }>): void {
  world.send({
    ...{ type: 'effect.done', at: world.at, effect: 'image.Pull', key },
    result: { imageRef: FAR, uid: null, username: '', ms: 1, waitedMs: 2, sizeBytes: 3 },
  });
}

test('what the queue of pulls told is what the pod waits for, until its pull begins and ends', () => {
  const world = pulling(pod({ containers: [box('c', { image: FAR })] }));
  const [pull] = pulls(world);
  assert.ok(pull !== undefined);
  assert.equal(whyOf(world), 'c: image far:1 is being pulled');
  world.send({ type: 'pull.turn', at: world.at, key: pull.key, place: PLACE });
  const since = world.at;
  const waits = `c: image far:1 waits to be pulled since ${at(since)}, at first in place 6 of the queue: ${AHEAD}`;
  assert.equal(whyOf(world), waits);
  assert.deepEqual(world.explain().causes[0], { at: since, text: waits, kind: 'image' });
  world.run(5_000);
  assert.equal(whyOf(world), waits, 'it is told once, and nothing of it moves with the clock');
  world.send({ type: 'pull.turn', at: world.at, key: pull.key, place: null });
  const begins = `c: image far:1 is being pulled since ${at(world.at)}, after 5 s in the queue`;
  assert.equal(whyOf(world), begins);
  assert.deepEqual(world.explain().causes[0], { at: world.at, text: begins, kind: 'image' });
  come(world, pull);
  assert.equal(world.snapshot.context.pullTurns, undefined, 'nothing of it is left');
  world.run(2_000);
  assert.deepEqual(world.running(), ['c']);
});

test('a turn of a pull that nobody waits for says nothing of the one that is waited for', () => {
  const world = pulling(pod({ containers: [box('c', { image: FAR })] }));
  world.send({ type: 'pull.turn', at: world.at, key: 'container/c/77', place: PLACE });
  assert.equal(whyOf(world), 'c: image far:1 is being pulled');
  world.send({ type: 'pull.turn', at: world.at, key: 'container/c/78', place: null });
  assert.deepEqual(Object.keys(world.snapshot.context.pullTurns ?? {}), ['container/c/77']);
});

test('an image volume that waits for its pull says so, in the same words in both places', () => {
  const world = pulling(
    pod({
      volumes: [{ name: 'model', image: { reference: FAR, pullPolicy: 'Always' } }],
      containers: [box('c', { volumeMounts: [{ name: 'model', mountPath: '/model' }] })],
    }),
  );
  const pull = pulls(world).find(({ params }) => params.image === FAR);
  assert.ok(pull !== undefined);
  assert.equal(world.state, 'syncing.pullingImage');
  assert.equal(whyOf(world), 'c: volume model: image far:1 is being pulled');
  world.send({
    type: 'pull.turn',
    at: world.at,
    key: pull.key,
    place: { ...PLACE, underWay: ['a:1'], before: [], more: 1 },
  });
  const waits = `c: volume model: image far:1 waits to be pulled since ${at(world.at)}, at first in place 6 of the queue: a:1 was being pulled, 1 more was ahead`;
  assert.equal(whyOf(world), waits);
  assert.equal(world.explain().causes[0]?.text, waits);
});

test('only policy Always asks for a pull that begins from now on; a node that began before knows no such wish', () => {
  const containers = [
    box('always', { image: 'a:1', imagePullPolicy: 'Always' }),
    box('absent', { image: 'b:1', imagePullPolicy: 'IfNotPresent' }),
  ];
  const world = pulling(pod({ containers }));
  assert.deepEqual(
    pulls(world).map(({ params }) => [params.image, params.fresh]),
    [
      ['a:1', true],
      ['b:1', undefined],
    ],
  );
  assert.equal(wantsFreshPull('Always', { behaviour: [] }), false);
});

test('a clock that is set back moves the beginning of the wait along', () => {
  const world = pulling(pod({ containers: [box('c', { image: FAR })] }));
  const [pull] = pulls(world);
  assert.ok(pull !== undefined);
  world.send({ type: 'pull.turn', at: world.at, key: pull.key, place: PLACE });
  const told = world.snapshot.context.pullTurns?.[pull.key];
  world.at -= 3_600_000;
  world.send({ type: 'clock.steppedBack', at: world.at, byMs: 3_600_000 });
  assert.equal(world.snapshot.context.pullTurns?.[pull.key]?.since, (told?.since ?? 0) - 3_600_000);
});
