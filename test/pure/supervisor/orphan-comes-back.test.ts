import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import { NO_TRACKED_PODS, trackedPod } from '../../../machines/supervisor/pod-table.ts';
import type { SupervisorContext, SupervisorMessage } from '../../../machines/supervisor/supervisor-context.ts';
import { decideSupervision } from '../../../machines/supervisor/supervisor-step.ts';

const pod: Pod = { metadata: { uid: 'u', name: 'web', namespace: 'default' }, spec: { containers: [] } };
const observed = {
  uid: 'u',
  name: 'web',
  namespace: 'default',
  at: 1,
  sandboxes: [{ id: 's', state: 'ready' }],
  containers: [],
} as unknown as ObservedPod;

/** Takes the messages in; tells what is tracked after each, and all orders. */
function supervised(...messages: SupervisorMessage[]) {
  let context: SupervisorContext = { shards: 1, sourcesReady: true, pods: NO_TRACKED_PODS };
  const sources: (string | undefined)[] = [];
  const orders = messages.flatMap((message) => {
    const decided = decideSupervision(context, message);
    context = decided.context;
    sources.push(trackedPod(context.pods, 'u')?.source);
    return decided.orders;
  });
  return { sources, orders };
}

test('a pod that was taken for an orphan because a list lagged stays one, to its source, until it comes back', () => {
  const { sources, orders } = supervised(
    { type: 'seen', at: 1, observed },
    { type: 'config', at: 2, update: { op: 'ADD', source: 'api', pods: [pod] } },
    { type: 'finished', at: 3, uid: 'u' },
  );
  // Only what is reported of a pod with a source reaches the API: the orphan's end would be the pod's for good.
  assert.deepEqual(sources, ['orphan', 'orphan', 'api']);
  assert.deepEqual(
    orders.map((order) => (order.type === 'start' ? `start ${order.source}` : order.type)),
    ['start orphan', 'forget', 'start api'],
  );
});
