/** What becomes of a CSI driver that registers, fails, goes, and comes back meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeDriver, NO_DRIVERS, stepDrivers, usableDriver } from '../../../machines/csi/driver-machine.ts';
import type { DriverMessage, DriverOrder } from '../../../machines/csi/driver-messages.ts';

type WithoutTime<M> = M extends unknown ? Omit<M, 'at'> : never;

const name = 'd';
const info = { nodeId: 'n', maxVolumes: '0', topology: {} };
const came = { type: 'driver.came' as const, name, endpoint: '/a', versions: ['1.0.0'] };

/** A life of the machine: each message gives the orders that came of it. */
function life() {
  let state = NO_DRIVERS;
  return {
    take(message: WithoutTime<DriverMessage>): DriverOrder[] {
      const step = stepDrivers(state, { ...message, at: 1 });
      state = step.state;
      return step.outputs;
    },
    get state() {
      return state;
    },
    turn: () => state.drivers[name]?.turn ?? 0,
  };
}
const types = (orders: readonly DriverOrder[]) => orders.map(({ type }) => type);

function registered() {
  const it = life();
  assert.deepEqual(it.take(came), [{ type: 'driver.ask', name, turn: 1, endpoint: '/a' }]);
  assert.deepEqual(types(it.take({ type: 'driver.told', name, turn: 1, info })), ['node.mark']);
  assert.deepEqual(types(it.take({ type: 'driver.written', name, turn: 1 })), ['csiNode.list']);
  assert.deepEqual(it.take({ type: 'driver.written', name, turn: 1 }), [{ type: 'driver.taken', name, turn: 1 }]);
  return it;
}

test('it can be used from the moment it registers until its socket goes', () => {
  const it = registered();
  assert.equal(usableDriver(it.state, name)?.endpoint, '/a');
  assert.deepEqual(it.take({ type: 'driver.went', name, endpoint: '/other' }), []);
  assert.deepEqual(types(it.take({ type: 'driver.went', name, endpoint: '/a' })), ['csiNode.unlist']);
  assert.equal(usableDriver(it.state, name), null);
  assert.deepEqual(types(it.take({ type: 'driver.written', name, turn: it.turn() })), ['node.unmark']);
  assert.deepEqual(it.take({ type: 'driver.written', name, turn: it.turn() }), []);
  assert.deepEqual(it.state.drivers, {});
});

test('one that comes back while it is taken out is taken in, and what was under way counts no more', () => {
  const it = registered();
  it.take({ type: 'driver.went', name, endpoint: '/a' });
  const left = it.turn();
  assert.deepEqual(types(it.take({ ...came, endpoint: '/b' })), ['driver.ask']);
  assert.deepEqual(it.take({ type: 'driver.written', name, turn: left }), []);
  assert.deepEqual(types(it.take({ type: 'driver.told', name, turn: it.turn(), info })), ['node.mark']);
  assert.equal(usableDriver(it.state, name)?.endpoint, '/b');
});

test('an object is tried four times, then the driver is refused and taken out', () => {
  const it = life();
  it.take(came);
  it.take({ type: 'driver.told', name, turn: 1, info });
  const waits = [10, 50, 250].map((ms) => {
    assert.deepEqual(it.take({ type: 'driver.failed', name, turn: 1, problem: 'no' }), [
      { type: 'driver.wait', name, turn: 1, ms },
    ]);
    return types(it.take({ type: 'driver.due', name, turn: 1 }));
  });
  assert.deepEqual(waits.flat(), ['node.mark', 'node.mark', 'node.mark']);
  assert.deepEqual(types(it.take({ type: 'driver.failed', name, turn: 1, problem: 'never' })), ['csiNode.unlist']);
  it.take({ type: 'driver.written', name, turn: 2 });
  const problem =
    'error updating Node object with CSI driver node info: error updating node: timed out waiting for the condition; caused by: [no, never]';
  assert.deepEqual(it.take({ type: 'driver.written', name, turn: 2 }), [
    { type: 'driver.refused', name, turn: 1, problem },
  ]);
  assert.deepEqual(it.state.drivers, {});
});

test('who waits is told when the socket goes meanwhile; one that says nothing of its node is refused', () => {
  const it = life();
  it.take(came);
  assert.deepEqual(types(it.take({ type: 'driver.went', name, endpoint: '/a' })), ['driver.refused', 'csiNode.unlist']);
  const other = life();
  other.take(came);
  other.take({ type: 'driver.failed', name, turn: 1, problem: 'rpc error' });
  other.take({ type: 'driver.written', name, turn: 2 });
  assert.deepEqual(other.take({ type: 'driver.written', name, turn: 2 }), [
    { type: 'driver.refused', name, turn: 1, problem: 'rpc error' },
  ]);
});

test('what it says of its node later is listed; a failure of that leaves it registered', () => {
  const it = registered();
  assert.deepEqual(types(it.take({ type: 'driver.stale', name })), ['driver.ask']);
  assert.deepEqual(it.take({ type: 'driver.stale', name }), []);
  const more = { ...info, maxVolumes: '9' };
  assert.deepEqual(types(it.take({ type: 'driver.told', name, turn: 1, info: more })), ['csiNode.list']);
  assert.deepEqual(it.take({ type: 'driver.written', name, turn: 1 }), []);
  it.take({ type: 'driver.stale', name });
  assert.deepEqual(types(it.take({ type: 'driver.failed', name, turn: 1, problem: 'no' })), ['driver.left']);
  assert.equal(it.state.drivers[name]?.stage, 'ready');
});

test('another one of the same name must speak a higher version', () => {
  const it = registered();
  const again = () => judgeDriver(it.state, 'ValidatePlugin', name, ['1.0.0']);
  assert.throws(again, {
    message:
      'kubernetes.io/csi: ValidatePlugin for CSI driver "d" failed. Another driver with the same name is already registered with a higher supported version: "1.0.0"',
  });
  assert.deepEqual(types(it.take({ ...came, endpoint: '/b' })), ['driver.refused']);
  assert.deepEqual(types(it.take({ ...came, endpoint: '/b', versions: ['1.1.0'] })), ['driver.ask']);
});
