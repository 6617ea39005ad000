import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { PODS, startStatusNode, statuses } from './support/status-node.ts';
import { until } from '../../tools/wait-for.ts';

const DELETING = { metadata: { deletionTimestamp: '2026-01-02T00:00:00Z', deletionGracePeriodSeconds: 30 } };
const QUIET_MS = 400;

test('a deleted pod: its final status first, then DELETE with grace 0 and its UID; two calls', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p', { ...DELETING, status: statuses.ready });
  node.manager.setApiPods([pod]);
  node.report(pod, 'terminating.stoppingContainers', statuses.ready);
  await turn();
  node.report(pod, 'terminating.stoppingSandbox', statuses.ended);
  await turn();
  node.report(pod, 'terminated.cleaningUp', statuses.failed);
  await until(() => node.patches('p').length === 1);
  await sleep(100);
  assert.equal(node.deletes('p').length, 0, 'volumes and cgroup are still there');
  node.report(pod, 'terminated.removing', statuses.failed);
  node.report(pod, 'terminated.finished', statuses.failed);
  node.manager.forget(pod.metadata?.uid ?? '');
  await until(() => node.stored('p') === undefined, 'the pod to vanish');
  assert.deepEqual(
    node.server.requests.map(({ verb, name, subresource }) => [verb, name, subresource].filter(Boolean).join(' ')),
    ['patch p status', 'delete p'],
  );
  assert.deepEqual(node.deletes('p'), [
    { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid: pod.metadata?.uid } },
  ]);
  const last = node.server.store.since(0).findLast(({ type }) => type === 'MODIFIED');
  const status = (last?.object as { status?: typeof statuses.failed } | undefined)?.status;
  assert.equal(status?.phase, 'Failed');
  assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 3);
});

test('all at once: the status still comes before the DELETE, also when patching fails at first', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p', { ...DELETING, status: statuses.ready });
  node.manager.setApiPods([pod]);
  node.server.fault({ verb: 'patch' }, { do: 'fail', code: 500 }, 2);
  node.report(pod, 'terminated.kept', statuses.failed);
  await until(() => node.stored('p') === undefined);
  assert.deepEqual(
    node.server.requests.map(({ verb }) => verb),
    ['patch', 'patch', 'patch', 'delete'],
  );
});

test('a pod that never ran here is told Failed, and removed', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p', DELETING);
  node.manager.setApiPods([pod]);
  node.report(pod, 'terminated.kept', statuses.creating);
  await until(() => node.stored('p') === undefined);
  const [status, ...more] = node.patches('p');
  assert.equal(more.length, 0);
  assert.equal(status?.phase, 'Failed');
  assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.reason, 'ContainerStatusUnknown');
});

test('a pod that was terminal long ago stays so, and goes with one call when it is deleted', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p', { status: statuses.failed });
  node.manager.setApiPods([pod]);
  node.report(pod, 'terminated.kept', statuses.ready);
  await until(() => node.patches('p').length === 1, 'the conditions that differ');
  assert.equal(node.stored('p')?.status?.phase, 'Failed');
  assert.equal(node.stored('p')?.status?.conditions?.[0]?.status, 'False');
  await sleep(QUIET_MS);
  assert.equal(node.deletes('p').length, 0, 'nobody deleted it');
  const now = node.stored('p');
  node.server.put(PODS, { ...now, metadata: { ...now?.metadata, ...DELETING.metadata } });
  await until(() => node.stored('p') === undefined);
  assert.equal(node.server.requests.length, 2);
});

test('a pod with a finalizer is asked to go once', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p', {
    metadata: { ...DELETING.metadata, finalizers: ['batch.kubernetes.io/job-tracking'] },
  });
  node.manager.setApiPods([pod]);
  node.report(pod, 'terminated.kept', statuses.failed);
  await until(() => node.deletes('p').length === 1);
  node.relist();
  await sleep(QUIET_MS);
  assert.equal(node.deletes('p').length, 1);
  assert.equal(node.stored('p')?.status?.phase, 'Failed');
});

test('the DELETE is tried again, also after the pod machine is gone', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p', { ...DELETING, status: statuses.failed });
  node.manager.setApiPods([pod]);
  node.server.fault({ verb: 'delete' }, { do: 'fail', code: 500 }, 3);
  node.report(pod, 'terminated.finished', statuses.failed);
  node.manager.forget(pod.metadata?.uid ?? '');
  await until(() => node.stored('p') === undefined);
  assert.equal(node.deletes('p').length, 4);
  assert.ok(node.errors.every((message) => message.includes('STS002')));
});

test('a pod of the same name made anew is neither patched nor deleted by what is told of its predecessor', async (t) => {
  const node = await startStatusNode(t);
  node.watch.delayMs = null;
  const old = node.addPod('p', { ...DELETING, status: statuses.ready });
  node.manager.setApiPods([old]);
  node.server.remove(PODS, 'p');
  const next = node.addPod('p');
  assert.notEqual(next.metadata?.uid, old.metadata?.uid);
  node.report(old, 'terminated.kept', statuses.failed);
  await until(() => node.server.requests.length === 1);
  await sleep(QUIET_MS);
  assert.equal(node.server.requests.length, 1, 'one try, then it counts as gone');
  assert.deepEqual(node.stored('p'), next);
  node.relist();
  node.report(next, 'syncing.running', statuses.ready);
  await until(() => node.stored('p')?.status?.phase === 'Running');
});

test('a pod that vanished is not spoken of any more', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  node.server.remove(PODS, 'p');
  node.report(pod, 'terminated.kept', statuses.failed);
  await sleep(QUIET_MS);
  assert.equal(node.server.requests.length, 0);
});

test('a static pod is told by its mirror pod of the same version, and never without one', async (t) => {
  const node = await startStatusNode(t);
  const pod = {
    metadata: { name: 's-node1', namespace: 'n', uid: 'h1', annotations: { 'kubernetes.io/config.source': 'file' } },
    spec: { containers: [{ name: 'a' }] },
  };
  node.report(pod, 'syncing.running', statuses.ready, 'file');
  const other = node.addPod('s-node1', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'h0' } } });
  await sleep(QUIET_MS);
  assert.equal(node.server.requests.length, 0);
  node.server.remove(PODS, 's-node1');
  const mirror = node.addPod('s-node1', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'h1' } } });
  assert.notEqual(mirror.metadata?.uid, other.metadata?.uid);
  await until(() => node.stored('s-node1')?.status?.phase === 'Running');
  assert.deepEqual((node.server.requests[0]?.body as { metadata: unknown }).metadata, { uid: mirror.metadata?.uid });
  // Its end is told, its removal is not this manager's business.
  const now = node.stored('s-node1');
  node.server.put(PODS, { ...now, metadata: { ...now?.metadata, ...DELETING.metadata } });
  node.report(pod, 'terminated.kept', statuses.failed, 'file');
  await until(() => node.stored('s-node1')?.status?.phase === 'Failed');
  await sleep(QUIET_MS);
  assert.equal(node.deletes('s-node1').length, 0);
});

test('the words by which the real API server says that a name belongs to another pod', async (t) => {
  const rows = [
    ['patch', 422, 'Invalid', 'Pod "p" is invalid: metadata.uid: Invalid value: "u": field is immutable'],
    ['delete', 409, 'Conflict', 'the UID in the precondition (u) does not match the UID in record (v).'],
    ['patch', 404, 'NotFound', 'pods "p" not found'],
  ] as const;
  for (const [verb, code, reason, message] of rows) {
    const node = await startStatusNode(t);
    const pod = node.addPod('p', { ...DELETING, status: verb === 'patch' ? statuses.ready : statuses.failed });
    node.manager.setApiPods([pod]);
    node.server.fault({ verb }, { do: 'fail', code, reason, message });
    node.report(pod, 'terminated.kept', statuses.failed);
    await until(() => node.server.requests.length === 1);
    await sleep(QUIET_MS);
    assert.equal(node.server.requests.length, 1);
    assert.deepEqual(node.errors, []);
  }
});
