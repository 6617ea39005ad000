import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { fleetClock } from '../../../actors/node/fleet/fleet-clock.ts';
import { InlineShards } from '../../../actors/node/fleet/inline-shards.ts';
import type { PodReport } from '../../../actors/pods/shard/shard-protocol.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { pod, settings } from '../pod/pod-world.ts';

const SPEED = 100;
/** Less than the deadline in real time, ms. */
const SOON_MS = 60_000;

test("a pod's deadline comes by the nodes' clock, and its status has the times of the machine", async (t) => {
  const clock = fleetClock(SPEED);
  const reports: PodReport[] = [];
  const shards = new InlineShards({
    ...{ settings, clock, log: pino({ level: 'silent' }), journal: null },
    onMessage: (_shard, message) => {
      if (message.t === 'report') reports.push(message.report);
    },
    onReplaced: () => undefined,
    // Nothing answers: the pod's own timer alone moves it.
    run: () => () => new Promise(() => undefined),
  });
  t.after(() => shards.stop());
  const began = Date.now();
  // Long enough for the two clocks to be a minute apart.
  await waitFor('a minute of the nodes', () => (clock.now() - Date.now() > 60_000 ? true : undefined));
  const startTime = `${new Date(began).toISOString().slice(0, 19)}Z`;
  const deadlined = pod({ activeDeadlineSeconds: 200 });
  const observed = { uid: 'u1', name: 'p', namespace: 'default', at: clock.now(), sandboxes: [], containers: [] };
  const base = { source: 'api', observed, memory: null, runtimeReady: true, networkReady: true } as const;
  const message = {
    type: 'pod.start',
    at: clock.now(),
    pod: { ...deadlined, status: { startTime } },
    ...base,
  } as const;
  shards.post(0, { t: 'pod', uid: 'u1', message });
  const last = await waitFor(
    'the deadline',
    () => reports.find(({ state }) => state.startsWith('terminat')),
    () => JSON.stringify(reports),
    SOON_MS,
  );
  assert.ok((Date.now() - began) * SPEED >= 200_000, 'not before its time');
  for (const { status } of reports) {
    // The API's own is told back as it was.
    assert.equal(status.startTime, startTime);
    for (const { lastTransitionTime = '' } of status.conditions ?? []) {
      const at = Date.parse(lastTransitionTime);
      assert.ok(at >= began - 2_000 && at <= Date.now(), `${lastTransitionTime}, now ${new Date().toISOString()}`);
    }
  }
  assert.equal(last.uid, 'u1');
});
