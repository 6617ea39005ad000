/** The node's heartbeat: what is asked of the API server, and when. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { maySkipPause, newLeaseState, stepLease } from '../../../machines/node-object/lease-machine.ts';
import type { LeaseMessage, LeaseState } from '../../../machines/node-object/lease-machine.ts';
import { fuzz } from '../fuzz/support/runs.ts';

type Came = Extract<LeaseMessage, { type: 'lease.answered' }>['came'];

class World {
  state: LeaseState = newLeaseState(40);

  constructor(fresh: boolean) {
    this.take({ type: 'lease.start', at: 1, fresh });
  }

  take(message: LeaseMessage): string[] {
    const { state, outputs } = stepLease(this.state, message);
    this.state = JSON.parse(JSON.stringify(state)) as LeaseState;
    return outputs.map((order) => {
      if (order.type === 'lease.put') return `put ${order.base}`;
      if (order.type === 'lease.complain') return order.changed ? 'complain: changed' : 'complain';
      return 'ms' in order ? `wait ${order.ms}` : order.type;
    });
  }

  due(node = true): string[] {
    return this.take({ type: 'lease.due', at: 1, node, chance: 0.5 });
  }

  came(came: Came): string[] {
    return this.take({ type: 'lease.answered', at: 1, came, chance: 0.5 });
  }
}

const PERIOD = 'wait 10200';

test('a new lease is made with one call, and renewed each quarter of its duration with one call', () => {
  const world = new World(true);
  assert.deepEqual([world.due(), world.came('ok')], [['lease.post'], [PERIOD]]);
  assert.deepEqual([world.due(), world.came('ok')], [['put known'], [PERIOD]]);
});

test('one that may be there is read first, and made when it is not', () => {
  const world = new World(false);
  assert.deepEqual([world.due(), world.came('ok'), world.came('ok')], [['lease.get'], ['put found'], [PERIOD]]);
  const none = new World(false);
  assert.deepEqual([none.due(), none.came('none'), none.came('ok')], [['lease.get'], ['lease.post'], [PERIOD]]);
});

test('one that somebody else wrote, or that went away, is read anew; one found late is renewed if it can be', () => {
  for (const came of ['conflict', 'none'] as const) {
    const world = new World(true);
    world.due();
    world.came('ok');
    world.due();
    assert.deepEqual([world.came(came), world.came('ok')], [['lease.get'], ['put found']]);
    assert.deepEqual(world.came('conflict'), ['complain: changed', 'wait 200']);
  }
  const late = new World(true);
  late.due();
  assert.deepEqual(
    [late.came('exists'), late.came('ok'), late.came('conflict')],
    [['lease.get'], ['put found'], [PERIOD]],
  );
});

test('what fails is tried again after 200 ms, then twice as long; without a node object there is no lease', () => {
  const world = new World(false);
  for (const ms of [200, 400, 800]) {
    world.due();
    assert.deepEqual(world.came('failed'), ['complain', `wait ${ms}`]);
    assert.ok(maySkipPause(world.state));
  }
  assert.deepEqual(world.due(false), [PERIOD]);
  assert.ok(!maySkipPause(world.state));
});

test('whatever is answered, there is one request or one pause, and good answers keep the lease in the end', () => {
  const came = fc.constantFrom<Came>('ok', 'none', 'conflict', 'exists', 'failed');
  fc.assert(
    fc.property(fc.boolean(), fc.array(came, { maxLength: 30 }), (fresh, answers) => {
      const world = new World(fresh);
      for (const answer of [...answers, 'ok', 'ok', 'ok'] as const) {
        if (world.state.asks === null) {
          assert.equal(world.due().length, 1);
          assert.deepEqual(world.due(), [], 'one renewal at a time');
        }
        const orders = world.came(answer).filter((order) => !order.startsWith('complain'));
        assert.equal(orders.length, 1);
        assert.equal(orders[0]?.startsWith('wait'), world.state.asks === null);
      }
      assert.deepEqual([world.state.known, world.state.failures], [true, 0]);
    }),
    fuzz(500),
  );
});
