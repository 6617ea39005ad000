/** What is written of the node's object when: the machine alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changesNothing, isQuiet, newObjectState, stepObject } from '../../../machines/node-object/object-machine.ts';
import type { ObjectState } from '../../../machines/node-object/object-machine.ts';
import type { NodeFinding, ObjectMessage, ObjectOrder } from '../../../machines/node-object/object-messages.ts';
import { fuzz } from '../fuzz/support/runs.ts';

const [UPDATE_MS, REPORT_MS] = [10_000, 300_000];
type Told = ObjectMessage extends infer M ? (M extends ObjectMessage ? Omit<M, 'at'> : never) : never;

/** The machine, its clock, and its orders as short words. */
class World {
  state: ObjectState = newObjectState(UPDATE_MS, REPORT_MS);
  at = 1_000_000;

  send(told: Told): string[] {
    const message = { ...told, at: this.at } as ObjectMessage;
    const { state, outputs } = stepObject(this.state, JSON.parse(JSON.stringify(message)) as ObjectMessage);
    this.state = JSON.parse(JSON.stringify(state)) as ObjectState;
    return outputs.map((order: ObjectOrder) => {
      if ('ms' in order) return `${order.type} ${String(order.ms)}`;
      return 'print' in order ? `${order.type} ${order.print}` : order.type;
    });
  }

  due(found: NodeFinding | null, soon = false): string[] {
    return this.send({ type: 'sync.due', soon, found, chance: 0 });
  }

  /** A node that registered with one POST. */
  static registered(): World {
    const world = new World();
    world.send({ type: 'object.start', registers: true });
    world.send({ type: 'register.posted', came: 'made', chance: 0.5 });
    world.send({ type: 'object.changed' });
    world.due(SAME, true);
    return world;
  }
}

const SAME: NodeFinding = { changed: false, patch: { print: 'beats', fields: [] } };
const OTHER: NodeFinding = { changed: true, patch: { print: 'p1', fields: ['conditions.Ready'] } };
const seen = (ready: string | null, unschedulable = false, cidrs = ''): Told => ({
  type: 'object.seen',
  ready,
  unschedulable,
  cidrs,
});

test('a node registers with one POST, and its lease and CSINode begin', () => {
  const world = new World();
  assert.deepEqual(world.send({ type: 'object.start', registers: true }), ['register.post']);
  assert.deepEqual(world.send({ type: 'register.posted', came: 'made', chance: 0.5 }), [
    ...['register.done', 'object.present', 'csi.make', 'object.change'],
  ]);
});

test('an object that is there is adopted; what fails is tried again after 200 ms, then twice as long, 7 s at most', () => {
  const world = new World();
  world.send({ type: 'object.start', registers: true });
  for (const ms of [200, 400, 800, 1_600, 3_200, 6_400, 7_000, 7_000]) {
    const told: Told =
      ms === 400 ? { type: 'register.failed' } : { type: 'register.posted', came: 'failed', chance: 0 };
    assert.deepEqual(world.send(told), [`register.wait ${ms}`]);
    assert.deepEqual(world.send({ type: 'register.due' }), ['register.post']);
  }
  assert.deepEqual(world.send({ type: 'register.posted', came: 'forbidden', chance: 0 }), ['register.adopt']);
  const patch = { print: 'mine', fields: ['labels'] };
  assert.deepEqual(world.send({ type: 'register.found', patch, chance: 0 }), ['register.patch mine']);
  assert.equal(world.send({ type: 'register.patched', chance: 0 })[0], 'register.done');
});

test('who does not register waits for an object that somebody else makes', () => {
  const world = new World();
  assert.deepEqual(world.send({ type: 'object.start', registers: false }), ['object.watch']);
  assert.deepEqual(world.send(seen('True')), ['object.present', 'csi.make', 'object.change', 'lease.retry']);
  assert.deepEqual(world.send(seen('True')), ['lease.retry']);
});

test('a change is written at once, nothing when nothing changed, heartbeats each report period', () => {
  const world = World.registered();
  assert.deepEqual(world.due(SAME), ['sync.wait 10000']);
  assert.deepEqual(world.send({ type: 'object.changed' }), ['sync.soon']);
  assert.deepEqual(world.send({ type: 'object.changed' }), [], 'changes of one turn become one patch');
  assert.deepEqual(world.due(OTHER, true), ['sync.patch p1']);
  assert.deepEqual(world.send({ type: 'object.changed' }), []);
  assert.deepEqual(world.send({ type: 'sync.patched', chance: 0.5, spread: 0.75 }), [
    ...['events.tell', 'sync.wait 10200', 'object.change'],
  ]);
  // A change draws the spread of the report after it: half a period to both sides.
  world.at += REPORT_MS * 1.25 - 1;
  assert.deepEqual(world.due(SAME), ['sync.wait 10000']);
  world.at += 1;
  assert.deepEqual(world.due(SAME), ['sync.patch beats']);
  world.send({ type: 'sync.patched', chance: 0, spread: 0 });
  world.at += REPORT_MS - 1;
  assert.deepEqual(world.due(SAME), ['sync.wait 10000'], 'a heartbeat keeps the period');
  world.at -= 3 * REPORT_MS;
  assert.deepEqual(world.due(SAME), ['sync.patch beats'], 'the clock was set back');
});

test('a patch that fails is tried again with growing pauses, from the newest object when it was refused', () => {
  const world = World.registered();
  world.due(OTHER);
  assert.deepEqual(world.send({ type: 'sync.failed', status: 500 }), ['sync.complain 200', 'sync.wait 200']);
  world.due(OTHER);
  assert.deepEqual(world.send({ type: 'sync.failed', status: 409 }), ['sync.reread']);
  assert.deepEqual(world.send({ type: 'sync.reread' }), ['sync.complain 400', 'sync.wait 400']);
  world.due(OTHER);
  assert.deepEqual(world.send({ type: 'sync.failed', status: 429 }).slice(0, 1), ['sync.complain 800']);
  assert.deepEqual(world.send(seen('True')), ['lease.retry', 'object.change'], 'the server answers again');
});

test('a node that was given up says at once that it is there; cordon, podCIDRs and a missing object are told once', () => {
  const world = World.registered();
  for (const ready of ['Unknown', null]) assert.deepEqual(world.send(seen(ready)), ['lease.retry', 'object.change']);
  assert.deepEqual(world.send(seen('True', true, '10.1.0.0/24')), ['schedulable.tell', 'cidrs.tell', 'lease.retry']);
  assert.deepEqual(world.send(seen('True', true, '10.1.0.0/24')), ['lease.retry']);
  world.send({ type: 'cidrs.refused' });
  assert.deepEqual(world.send(seen('True', true, '10.1.0.0/24')), ['cidrs.tell', 'lease.retry']);
  assert.deepEqual(world.due(null), ['missing.tell', 'sync.wait 10000']);
  assert.deepEqual(world.due(null), ['sync.wait 10000']);
});

test('the CSINode is tried six times', () => {
  const world = World.registered();
  const waits = Array.from({ length: 6 }, () => {
    const [wait] = world.send({ type: 'csi.ended', made: false });
    world.send({ type: 'csi.due' });
    return wait;
  });
  assert.deepEqual(
    waits,
    [30, 240, 1_920, 15_360, 122_880, null].map((ms) => `csi.wait ${ms}`),
  );
});

const chance = fc.double({ min: 0, max: 0.99, noNaN: true });
const told: fc.Arbitrary<Told> = fc.oneof(
  fc.record({ type: fc.constant('object.changed' as const) }),
  fc.record({
    type: fc.constant('object.seen' as const),
    ready: fc.constantFrom('True', 'True', 'Unknown', null),
    unschedulable: fc.boolean(),
    cidrs: fc.constantFrom('', 'a', 'b'),
  }),
  fc.record({
    type: fc.constant('sync.due' as const),
    soon: fc.boolean(),
    found: fc.constantFrom(SAME, OTHER, null, { changed: true, patch: null }),
    chance,
  }),
  fc.record({ type: fc.constant('sync.patched' as const), chance, spread: chance }),
  fc.record({ type: fc.constant('sync.failed' as const), status: fc.constantFrom(0, 403, 409, 429, 500) }),
  fc.record({ type: fc.constant('sync.reread' as const) }),
);

test('whatever comes: one patch at a time, what is left out of the log changes nothing, and a next look is always set', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(told, fc.nat(100_000)), { maxLength: 60 }), (story) => {
      const world = World.registered();
      let writing = false;
      let set = true;
      for (const [message, ms] of story) {
        world.at += ms;
        const answers = ['sync.patched', 'sync.failed', 'sync.reread'].includes(message.type);
        if (answers && !writing) continue;
        const before = world.state;
        const whole = { ...message, at: world.at } as ObjectMessage;
        const leftOut = changesNothing(before, whole) || (whole.type === 'sync.due' && isQuiet(before, whole));
        const orders = world.send(message);
        if (leftOut) assert.deepEqual(world.state, before);
        if (changesNothing(before, whole))
          assert.deepEqual(
            orders.filter((order) => order !== 'lease.retry'),
            [],
          );
        if (orders.some((order) => order.startsWith('sync.patch'))) {
          assert.ok(!writing, 'one at a time');
          [writing, set] = [true, false];
        }
        if (orders.some((order) => order.startsWith('sync.wait'))) [writing, set] = [false, true];
        assert.ok(writing || set, 'somebody looks again');
      }
    }),
    fuzz(500),
  );
});
