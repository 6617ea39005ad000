/** What was found alike is not compared again, and whatever changes is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiPod } from '../../../actors/cluster/status/api-pods.ts';
import { newStatusEntry, nextStep } from '../../../actors/cluster/status/status-entry.ts';
import type { StatusEntry } from '../../../actors/cluster/status/status-entry.ts';
import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';

const pod: Pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'c', image: 'web:1' }] },
};

function entryOf(status: PodStatus): StatusEntry {
  const memory = { containers: {}, probes: {}, messages: {} };
  const report = { uid: 'u', status, state: 'syncing.running', why: '', memory };
  return newStatusEntry({ pod, source: 'api', report });
}

function apiOf(status: PodStatus): ApiPod {
  return {
    uid: 'u',
    namespace: 'default',
    name: 'web',
    resourceVersion: '1',
    deleting: false,
    hasFinalizers: false,
    mirrorOf: '',
    status,
  };
}

const RUNNING: PodStatus = { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] };

test('a status that the API shows is compared once', () => {
  const entry = entryOf(RUNNING);
  let reads = 0;
  const shown = new Proxy({ ...RUNNING }, { get: (of, key) => (reads++, Reflect.get(of, key) as unknown) });
  const api = apiOf(shown);
  assert.equal(nextStep(entry, api, 1), null);
  const first = reads;
  assert.ok(first > 0);
  assert.equal(nextStep(entry, { ...api, resourceVersion: '2' }, 2), null);
  assert.ok(reads - first <= 1, 'compared again');
});

const changes: Record<string, (entry: StatusEntry) => ApiPod> = {
  'the API shows something else': () => apiOf({ ...RUNNING, podIP: '10.9.9.9' }),
  'the pod tells something else': (entry) => {
    entry.report = { ...entry.report, status: { ...RUNNING, podIP: '10.0.0.2' } };
    return apiOf(RUNNING);
  },
  'it has ended': (entry) => {
    entry.report = { ...entry.report, state: 'terminated.kept' };
    return apiOf(RUNNING);
  },
};

for (const [what, change] of Object.entries(changes)) {
  test(`it is compared anew when ${what}`, () => {
    const entry = entryOf(RUNNING);
    const before = apiOf(RUNNING);
    assert.equal(nextStep(entry, before, 1), null);
    const api = change(entry);
    assert.equal(nextStep(entry, api.status.podIP === RUNNING.podIP ? before : api, 2)?.do, 'patch');
    assert.equal(nextStep(entry, apiOf(entry.report.status), 3)?.do ?? null, what === 'it has ended' ? 'patch' : null);
  });
}
