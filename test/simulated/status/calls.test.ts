import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { PodStatus } from '../../../machines/protocol/api-types.ts';
import { PODS, startStatusNode, statuses } from './support/status-node.ts';
import { until } from '../../tools/wait-for.ts';

/** Long enough for a call too many to show up. */
const QUIET_MS = 500;

const asPodStatus = (object: object | undefined): PodStatus => (object as { status?: PodStatus }).status ?? {};

test('a quick start costs one patch; its echo, late or at once, causes none', async (t) => {
  for (const delayMs of [0, 50, null]) {
    const node = await startStatusNode(t);
    node.watch.delayMs = delayMs;
    const pod = node.addPod('p');
    node.manager.setApiPods([pod]);
    // in turns of their own, but not in time: a busy machine stretches any pause beyond the holding time
    node.report(pod, 'syncing.creatingSandbox', statuses.creating);
    await turn();
    node.report(pod, 'syncing.startingContainers', statuses.creating);
    await turn();
    node.report(pod, 'syncing.running', statuses.ready);
    await until(() => node.patches('p').length > 0, 'a patch');
    node.report(pod, 'syncing.running', statuses.ready);
    await sleep(QUIET_MS);
    assert.equal(node.patches('p').length, 1);
    assert.equal(node.stored('p')?.status?.phase, 'Running');
    assert.equal(node.server.requests.length, 1, 'and no other call');
  }
});

test('the patch names the uid and only what differs', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  node.report(pod, 'syncing.running', statuses.running);
  await until(() => node.patches('p').length === 1);
  node.report(pod, 'syncing.running', statuses.ready);
  await until(() => node.patches('p').length === 2);
  assert.deepEqual(node.server.requestsOf({ verb: 'patch' })[1]?.body, {
    metadata: { uid: pod.metadata?.uid },
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: statuses.ready.containerStatuses,
    },
  });
});

test('a slow start is told, after a moment', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  const since = Date.now();
  node.report(pod, 'syncing.pullingImage', statuses.creating);
  await until(() => node.patches('p').length === 1);
  assert.ok(Date.now() - since >= 250, 'it was held back');
  assert.equal(node.stored('p')?.status?.containerStatuses?.[0]?.state?.waiting?.reason, 'ContainerCreating');
});

test('a failure and a rejection are not held back by the quiet statuses before them', async (t) => {
  const node = await startStatusNode(t);
  const [held, failing, rejected] = [node.addPod('held'), node.addPod('failing'), node.addPod('rejected')];
  node.manager.setApiPods([held, failing, rejected]);
  node.report(held, 'syncing.pullingImage', statuses.creating);
  node.report(failing, 'syncing.pullingImage', statuses.creating);
  node.report(failing, 'syncing.imageBackOff', statuses.failing);
  node.report(rejected, 'terminated.cleaningUp', { phase: 'Failed', reason: 'NodeAffinity', message: 'm' });
  await until(() => node.patches('held').length === 1);
  const sent = node.server.requestsOf({ verb: 'patch' }).map(({ name }) => name);
  assert.deepEqual(sent.slice(0, 2).sort(), ['failing', 'rejected'], 'both before the holding time was over');
  assert.deepEqual(sent.slice(2), ['held']);
  assert.equal(node.stored('rejected')?.status?.reason, 'NodeAffinity');
});

test('one patch at a time for a pod, and only the newest status after it', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const lift = node.server.fault({ verb: 'patch' }, { do: 'hold', until: promise });
  node.report(pod, 'syncing.running', statuses.running);
  await until(() => node.patches('p').length === 1);
  for (let i = 1; i <= 20; i++) {
    node.report(pod, 'syncing.running', { ...statuses.ready, message: `m${String(i)}` });
    await turn();
  }
  await sleep(QUIET_MS);
  assert.equal(node.patches('p').length, 1);
  lift();
  resolve(undefined);
  await until(() => node.patches('p').length === 2);
  await sleep(QUIET_MS);
  assert.equal(node.patches('p').length, 2);
  assert.equal(node.stored('p')?.status?.message, 'm20');
});

test('no more than sixteen patches are under way', async (t) => {
  const node = await startStatusNode(t);
  const pods = Array.from({ length: 40 }, (_, i) => node.addPod(`p${String(i)}`));
  node.manager.setApiPods(pods);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const lift = node.server.fault({ verb: 'patch' }, { do: 'hold', until: promise });
  for (const pod of pods) node.report(pod, 'syncing.running', statuses.ready);
  await until(() => node.server.requests.length >= 16, 'sixteen');
  await sleep(QUIET_MS);
  assert.equal(node.server.requests.length, 16, 'none is answered yet');
  lift();
  resolve(undefined);
  await until(() => pods.every((pod) => node.stored(pod.metadata?.name ?? '')?.status?.phase === 'Running'));
});

test('nothing is sent for what the API already shows, as after a restart', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p', { status: { ...statuses.ready, nominatedNodeName: 'x' } });
  node.manager.setApiPods([pod]);
  node.report(pod, 'syncing.running', statuses.ready);
  await sleep(QUIET_MS);
  assert.equal(node.server.requests.length, 0);
});

test('what others overwrite is put right, what is theirs is left alone', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  node.report(pod, 'syncing.running', statuses.ready);
  await until(() => node.stored('p')?.status?.phase === 'Running');
  const now = node.stored('p');
  node.server.put(PODS, {
    ...now,
    status: {
      ...now?.status,
      conditions: [
        { type: 'Ready', status: 'False', reason: 'NodeNotReady', lastTransitionTime: '2026-01-05T00:00:00Z' },
        { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
        { type: 'example.com/gate', status: 'True' },
      ],
    },
  } as { metadata: object });
  await until(() => node.patches('p').length === 2);
  assert.deepEqual(node.stored('p')?.status?.conditions, [
    { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
    { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
    { type: 'example.com/gate', status: 'True' },
  ]);
});

test('an overwrite that the watch tells before the own patch is answered is put right too', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-05T00:00:00Z' }];
  const other = node.server.store.listen(({ object }) => {
    if (asPodStatus(object).phase !== 'Running') return;
    other();
    // In the turn of the patch itself: its answer is not on the wire yet.
    node.server.put(PODS, { ...object, status: { ...asPodStatus(object), conditions } });
  });
  node.report(pod, 'syncing.running', statuses.ready);
  await until(() => node.patches('p').length === 2, 'the second patch');
  await until(() => asPodStatus(node.stored('p')).conditions?.find(({ type }) => type === 'Ready')?.status === 'True');
});

test('a patch that the server takes without effect is not sent again', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  node.server.reply({ verb: 'patch' }, () => ({ code: 200, body: node.stored('p') }));
  node.report(pod, 'syncing.running', statuses.ready);
  await until(() => node.patches('p').length === 1);
  for (let i = 0; i < 3; i++) {
    node.relist();
    await sleep(30);
  }
  assert.equal(node.patches('p').length, 1);
  node.report(pod, 'syncing.running', { ...statuses.ready, message: 'new' });
  await until(() => node.patches('p').length === 2);
});

test('what somebody else changed while a patch was on its way is put right', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  node.report(pod, 'syncing.running', statuses.ready);
  await until(() => node.patches('p').length === 1);
  // The node controller takes the node for lost, and its pods with it, right before the next patch arrives.
  const notReady = statuses.running.conditions;
  let struck = false;
  node.server.reply({ verb: 'patch' }, () => {
    if (struck) return { code: 200, body: node.stored('p') };
    struck = true;
    const { metadata, spec, status } = node.stored('p') ?? {};
    const changed = { metadata, spec, status: { ...status, conditions: notReady, message: 'new' } };
    return { code: 200, body: node.server.put(PODS, changed as { metadata: object }) };
  });
  node.report(pod, 'syncing.running', { ...statuses.ready, message: 'new' });
  await until(() => node.patches('p').length === 3);
  assert.deepEqual(node.patches('p')[2]?.conditions, [{ type: 'Ready', status: 'True' }]);
});

test('who changes a status with each patch is contradicted at once, then with growing pauses; news are told at once', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  node.report(pod, 'syncing.running', statuses.ready);
  await until(() => node.patches('p').length === 1);
  // What it changed last time is ours again, and another field is not.
  let [changes, message] = [0, 'new'];
  node.server.reply({ verb: 'patch' }, () => {
    const { metadata, spec, status } = node.stored('p') ?? {};
    const theirs =
      changes++ % 2 === 0
        ? { reason: 'Webhook', conditions: statuses.ready.conditions }
        : { reason: undefined, conditions: statuses.running.conditions };
    const changed = { metadata, spec, status: { ...status, message, ...theirs } };
    return { code: 200, body: node.server.put(PODS, changed as { metadata: object }) };
  });
  node.report(pod, 'syncing.running', { ...statuses.ready, message: 'new' });
  await until(() => node.patches('p').length >= 4);
  const [, , third = 0, fourth = 0] = node.server.requestsOf({ verb: 'patch' }).map(({ at }) => at);
  assert.ok(fourth - third >= 990, `no patch for each answer: ${third} ${fourth}`);
  message = 'newer';
  node.report(pod, 'syncing.running', { ...statuses.ready, message });
  await until(() => node.patches('p').some((patch) => patch.message === 'newer'));
});
