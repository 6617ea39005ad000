/** What was found alike is not compared again, and whatever changes is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiPods } from '../../../actors/cluster/status/api-pods.ts';
import { ToldPods } from '../../../actors/cluster/status/told-pods.ts';
import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';

const pod: Pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'c', image: 'web:1' }] },
};
const RUNNING: PodStatus = { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] };

/** A pod that told this, and the API that shows something of it. */
function world(told: PodStatus) {
  const api = new ApiPods();
  const pods = new ToldPods(api);
  const memory = { containers: {}, probes: {}, messages: {} };
  const tell = (status: PodStatus, state = 'syncing.running') =>
    pods.take({ pod, source: 'api', report: { uid: 'u', status, state, why: '', memory } });
  let version = 0;
  const show = (status: PodStatus) =>
    api.take({ ...pod, metadata: { ...pod.metadata, resourceVersion: String(++version) }, status });
  tell(told);
  show(RUNNING);
  return { pods, tell, show, lacks: (at: number) => pods.compare('u', at)?.finding.patch ?? null };
}

test('a status that the API shows is compared once', () => {
  const { show, lacks } = world(RUNNING);
  let reads = 0;
  const shown = new Proxy({ ...RUNNING }, { get: (of, key) => (reads++, Reflect.get(of, key) as unknown) });
  show(shown);
  assert.equal(lacks(1), null);
  const first = reads;
  assert.ok(first > 1, 'compared');
  show(shown);
  assert.equal(lacks(2), null);
  assert.ok(reads - first <= 1, 'only its phase is asked for');
});

type World = ReturnType<typeof world>;
const changes: Record<string, (made: World) => unknown> = {
  'the API shows something else': ({ show }) => show({ ...RUNNING, podIP: '10.9.9.9' }),
  'the pod tells something else': ({ tell }) => tell({ ...RUNNING, podIP: '10.0.0.2' }),
  'it has ended': ({ tell }) => tell(RUNNING, 'terminated.kept'),
};

for (const [what, change] of Object.entries(changes)) {
  test(`it is compared anew when ${what}`, () => {
    const made = world(RUNNING);
    assert.equal(made.lacks(1), null);
    change(made);
    assert.notEqual(made.lacks(2), null);
  });
}

test('an answer that came when another status had been told proves nothing about that one', () => {
  const { pods, tell, lacks } = world({ ...RUNNING, podIP: '10.0.0.2' });
  const sent = pods.compare('u', 1);
  assert.ok(sent?.api !== undefined && sent.needed !== null);
  tell({ ...RUNNING, podIP: '10.0.0.3' });
  pods.noteShown('u', sent.told, sent.api);
  assert.notEqual(lacks(2), null);
});
