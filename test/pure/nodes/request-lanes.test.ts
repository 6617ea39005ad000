import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestLanes } from '../../../actors/node/fleet/request-lanes.ts';

const NEVER = new AbortController().signal;
const patch = { method: 'PATCH', on: { group: '', version: 'v1', resource: 'pods' } } as const;
const event = { method: 'POST', on: { group: '', version: 'v1', resource: 'events' } } as const;
const lease = { method: 'PUT', on: { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' } } as const;

/** All that have come so far have their turn. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('so many requests at once, first come, first served; who leaves hands its place on', async () => {
  const lanes = new RequestLanes();
  const entered: number[] = [];
  const leaves: (() => void)[] = [];
  for (let i = 0; i < 40; i++)
    void lanes.enter(patch, NEVER).then((leave) => {
      entered.push(i);
      leaves.push(leave);
    });
  await settled();
  assert.equal(entered.length, 32);
  assert.ok(lanes.isCrowded());
  for (const leave of leaves.splice(0, 3)) leave();
  await settled();
  assert.deepEqual(entered.slice(-3), [32, 33, 34]);
  for (let left = 0; left < 37; left++) {
    leaves.shift()?.();
    await settled();
  }
  assert.equal(entered.length, 40);
  assert.equal(lanes.isCrowded(), false);
});

test('leases wait for nobody, and events crowd nobody', async () => {
  const lanes = new RequestLanes();
  let events = 0;
  for (let i = 0; i < 40; i++) void lanes.enter(event, NEVER).then(() => events++);
  await settled();
  assert.equal(events, 4);
  assert.equal(lanes.isCrowded(), false);
  for (let i = 0; i < 40; i++) void lanes.enter(patch, NEVER);
  await lanes.enter(lease, NEVER);
});

test('who gives up waiting takes no place', async () => {
  const lanes = new RequestLanes();
  const leaves = await Promise.all(Array.from({ length: 32 }, () => lanes.enter(patch, NEVER)));
  const gaveUp = new AbortController();
  const waits = lanes.enter(patch, gaveUp.signal);
  const next = lanes.enter(patch, NEVER);
  gaveUp.abort(new Error('enough'));
  await assert.rejects(waits, /enough/);
  leaves.pop()?.();
  leaves.push(await next);
  // One that is handed its place in the moment in which it gives up hands it on.
  const late = new AbortController();
  const both = [lanes.enter(patch, late.signal), lanes.enter(patch, NEVER)];
  await settled();
  late.abort(new Error('late'));
  leaves.pop()?.();
  await assert.rejects(both[0] ?? Promise.resolve(), /late/);
  leaves.push((await both[1]) ?? assert.fail());
  for (const leave of leaves) leave();
  assert.equal(lanes.isCrowded(), false);
});
