import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { standInFleet } from '../../../tools/stand-in-fleet.ts';
import type { StandInFleetOptions } from '../../../tools/stand-in-fleet.ts';

/** Starts a fleet of one node, over an API server of one's own; it ends with the test. */
export async function startedNode(t: Pick<TestContext, 'after'>, options: Omit<StandInFleetOptions, 'count'>) {
  const { fleet, dir, remove } = standInFleet({ ...options, count: 1 });
  t.after(async () => {
    await fleet.stop(false);
    remove();
  });
  await fleet.start();
  const [node] = fleet.nodes;
  assert.ok(node !== undefined);
  return { fleet, node, dir };
}
