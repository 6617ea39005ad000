/** What the API is told when: the status machine alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusWorld } from './status-world.ts';

/** A pod that is told, and lacks a patch called `p1`. */
function telling(state = 'syncing.running', urgency: 'now' | 'mayWait' = 'now'): StatusWorld {
  const world = new StatusWorld();
  world.shows('a', 'p1');
  world.tell('a', state, urgency);
  return world;
}

test('what matters is patched in the same turn, and measured from when it was known', () => {
  const world = telling();
  world.turn();
  assert.deepEqual(world.take(), ['patch a p1']);
  world.at += 40;
  world.answer('a');
  assert.deepEqual(world.take(), ['measure 40']);
});

test('what may wait is held 300 ms, the next such one 2 s, an end 2 s; what matters ends a hold', () => {
  const world = telling('syncing.pullingImage', 'mayWait');
  world.turn();
  assert.deepEqual(world.take(), ['wake 300']);
  world.turn(300);
  assert.deepEqual(world.take(), ['patch a p1']);
  world.answer('a');
  world.shows('a', 'p2');
  world.tell('a', 'syncing.startingContainers', 'mayWait');
  world.turn();
  assert.deepEqual(world.take(), ['measure 300', 'wake 2000']);
  world.tell('a', 'syncing.running');
  world.turn();
  assert.deepEqual(world.take(), ['patch a p2']);
  const ending = telling('terminating.stoppingSandbox', 'mayWait');
  ending.turn();
  assert.deepEqual(ending.take(), ['wake 2000']);
});

test('while the way is crowded what may wait does, five seconds at most; what matters goes', () => {
  const world = telling('syncing.pullingImage', 'mayWait');
  world.crowded = true;
  world.turn(400);
  assert.deepEqual(world.take(), ['wake 1000']);
  world.shows('b', 'p2');
  world.tell('b', 'syncing.running');
  world.turn(1_000);
  assert.deepEqual(world.take(), ['patch b p2', 'wake 1000']);
  world.answer('b');
  world.turn(3_600);
  assert.deepEqual(world.take(), ['measure 1000', 'patch a p1'], 'five seconds after it was told');
  const freed = telling('syncing.pullingImage', 'mayWait');
  freed.crowded = true;
  freed.turn(400);
  freed.take();
  freed.crowded = false;
  freed.turn(1_000);
  assert.deepEqual(freed.take(), ['patch a p1'], 'when the way is free');
});

test('a patch that tells only generations waits once while the pod ends', () => {
  const world = telling('terminating.stoppingContainers');
  world.shows('a', 'p1', {}, true);
  world.turn();
  assert.deepEqual(world.take(), ['wake 2000']);
  world.turn(2_000);
  assert.deepEqual(world.take(), ['patch a p1']);
  const running = telling();
  running.shows('a', 'p1', {}, true);
  running.turn();
  assert.deepEqual(running.take(), ['patch a p1'], 'of a pod that goes on at once');
});

test('one request at a time for a pod, sixteen for all; who waited longest is next', () => {
  const world = new StatusWorld();
  for (let i = 0; i < 20; i++) {
    world.shows(`p${i}`, 'x');
    world.tell(`p${i}`, 'syncing.running');
  }
  world.tell('p3', 'syncing.running');
  world.turn();
  assert.deepEqual(
    world.take(),
    Array.from({ length: 16 }, (_, i) => `patch p${i} x`),
  );
  world.tell('p3', 'syncing.running');
  world.turn();
  assert.deepEqual(world.take(), []);
  world.answer('p5');
  world.turn();
  assert.deepEqual(world.take(), ['measure 0', 'patch p16 x']);
});

test('a patch without effect is not sent again, another one is', () => {
  const world = telling();
  world.turn();
  world.answer('a', 'p1');
  world.take();
  world.send({ type: 'status.look', at: world.at, uid: 'a' });
  world.turn();
  assert.deepEqual(world.take(), []);
  world.shows('a', 'p2');
  world.send({ type: 'status.look', at: world.at, uid: 'a' });
  world.turn();
  assert.deepEqual(world.take(), ['patch a p2']);
});

test('a pod is removed when it has left nothing and the API shows its end, with its UID and no grace, once', () => {
  const world = new StatusWorld();
  world.shows('a', 'last', { deleting: true });
  world.tell('a', 'terminated.kept');
  world.turn();
  assert.deepEqual(world.take(), ['patch a last']);
  world.answer('a');
  const end = (api: object) => {
    world.shows('a', '', { deleting: true, ended: true, finalizers: true, ...api });
    world.send({ type: 'status.look', at: world.at, uid: 'a' });
    world.turn();
    return world.take().filter((words) => !words.startsWith('measure'));
  };
  assert.deepEqual(end({ ended: false }), []);
  assert.deepEqual(end({ deleting: false }), []);
  world.tell('a', 'terminated.cleaningUp');
  assert.deepEqual(end({}), [], 'something is left of it');
  world.tell('a', 'terminated.kept');
  world.turn();
  const order = world.orders.find(({ type }) => type === 'pod.delete');
  assert.deepEqual(order, {
    type: 'pod.delete',
    n: 2,
    uid: 'a',
    options: { gracePeriodSeconds: 0, preconditions: { uid: 'a' } },
  });
  world.take();
  world.answer('a');
  assert.deepEqual(end({}), [], 'it was asked for');
});

test('a static pod is never removed from here', () => {
  const world = new StatusWorld();
  world.shows('s', '', { deleting: true, ended: true });
  world.tell('s', 'terminated.kept', 'now', false);
  world.turn();
  assert.deepEqual(world.take(), []);
});

test('a forgotten pod is told on until the API has no object of it', () => {
  const world = new StatusWorld();
  world.shows('a', 'last', { deleting: true, ended: true });
  world.tell('a', 'terminated.finished');
  world.send({ type: 'pod.forget', at: world.at, uid: 'a', shown: true });
  world.turn();
  assert.deepEqual(world.take(), ['patch a last']);
  world.answer('a');
  world.shows('a', '', { deleting: true, ended: true });
  world.send({ type: 'status.look', at: world.at, uid: 'a' });
  world.turn();
  assert.deepEqual(world.take(), ['measure 0', 'pod.delete a']);
  world.answer('a');
  assert.deepEqual(world.take(), ['api.drop', 'status.drop a']);
  world.tell('b', 'terminated.finished');
  world.send({ type: 'pod.forget', at: world.at, uid: 'b', shown: false });
  assert.deepEqual(world.take(), ['status.drop b']);
});

test('what is refused is tried again after 50 ms, then twice as long; the first time is not loud', () => {
  const world = telling();
  world.turn();
  world.take();
  for (const [ms, word] of [
    [50, 'complain'],
    [100, 'complain aloud'],
    [200, 'complain aloud'],
  ] as const) {
    world.fail('a', 'refused');
    world.turn();
    assert.deepEqual(world.take(), [word, `wake ${ms}`]);
    world.turn(ms);
    assert.deepEqual(world.take(), ['patch a p1']);
  }
});

test('while the server is away one request finds out, an outage is told once, and a list ends it', () => {
  const world = new StatusWorld();
  for (const uid of ['a', 'b', 'c']) {
    world.shows(uid, 'x');
    world.tell(uid, 'syncing.running');
  }
  world.turn();
  assert.equal(world.asked.size, 3);
  world.take();
  world.fail('a', 'away');
  world.fail('b', 'away', 9_000);
  world.fail('c', 'away');
  world.turn();
  assert.deepEqual(world.take(), ['complain aloud', 'complain', 'complain', 'wake 200']);
  world.turn(200);
  assert.deepEqual(world.take(), ['patch a x']);
  world.fail('a', 'away', 9_000);
  world.turn();
  assert.deepEqual(world.take(), ['complain', 'wake 9000']);
  world.send({ type: 'api.listed', at: world.at, gone: [] });
  world.turn();
  assert.deepEqual(world.take(), ['patch b x', 'patch c x', 'patch a x']);
});

test('a pod that is gone from the API is not asked for again', () => {
  const world = telling();
  world.turn();
  world.take();
  world.fail('a', 'gone');
  world.turn(60_000);
  assert.deepEqual(world.take(), ['api.drop']);
});

test('an answer to a request of a former life of a pod changes nothing in the new one', () => {
  const world = telling('terminated.finished');
  world.turn();
  world.send({ type: 'pod.forget', at: world.at, uid: 'a', shown: true });
  world.send({ type: 'api.gone', at: world.at, uid: 'a' });
  world.take();
  world.tell('a', 'syncing.running');
  world.shows('a', 'p2');
  world.turn();
  assert.deepEqual(world.take(), ['patch a p2']);
  world.answer('a', 'p2');
  world.take();
  world.send({ type: 'status.look', at: world.at, uid: 'a' });
  world.turn();
  assert.deepEqual(world.take(), [], 'one at a time: the second request is still under way');
  world.answer('a', 'p2');
  world.turn();
  assert.deepEqual(world.take().slice(0, 1), ['measure 0']);
});
