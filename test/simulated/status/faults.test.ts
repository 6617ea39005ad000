import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PODS, startStatusNode, statuses } from './support/status-node.ts';
import { until } from '../../tools/wait-for.ts';

test('the API server is away: few attempts, and all statuses are right after it is back', async (t) => {
  const node = await startStatusNode(t);
  const pods = Array.from({ length: 30 }, (_, i) => node.addPod(`p${String(i)}`));
  node.manager.setApiPods(pods);
  node.watch.delayMs = null;
  await node.server.stop();
  for (const pod of pods) node.report(pod, 'syncing.running', statuses.running);
  await until(() => node.errors.length >= 16);
  await sleep(600);
  const failed = node.errors.length;
  assert.ok(failed < 30, `${String(failed)} failed requests for 30 pods: one at a time asks whether it is back`);
  for (const pod of pods) node.report(pod, 'syncing.running', statuses.ready);
  await node.server.start();
  // Nobody tells: one attempt finds out.
  await until(() =>
    pods.every(({ metadata }) => node.stored(metadata?.name ?? '')?.status?.conditions?.[0]?.status === 'True'),
  );
  assert.equal(node.server.requestsOf({ verb: 'patch' }).length, 30);
});

test('a list after the outage sends what waits at once', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  const lift = node.server.fault({ verb: 'patch' }, { do: 'drop' });
  node.report(pod, 'syncing.running', statuses.ready);
  await until(() => node.errors.length >= 5);
  lift();
  const before = node.server.requests.length;
  node.relist();
  await until(() => node.stored('p')?.status?.phase === 'Running');
  assert.equal(node.server.requests.length, before + 1);
});

for (const [code, reason] of [
  [409, 'Conflict'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [403, 'Forbidden'],
] as const) {
  test(`${String(code)} ${reason} is tried again, and does not keep other pods waiting`, async (t) => {
    const node = await startStatusNode(t);
    const [bad, good] = [node.addPod('bad'), node.addPod('good')];
    node.manager.setApiPods([bad, good]);
    node.server.fault({ verb: 'patch', name: 'bad' }, { do: 'fail', code, reason }, 2);
    node.report(bad, 'syncing.running', statuses.ready);
    node.report(good, 'syncing.running', statuses.ready);
    await until(() => node.stored('good')?.status?.phase === 'Running');
    await until(() => node.stored('bad')?.status?.phase === 'Running');
    assert.equal(node.patches('bad').length, 3);
    assert.equal(node.patches('good').length, 1);
    assert.ok(node.errors.every((message) => message.includes('STS001') && message.includes('n/bad')));
  });
}

test('a lost answer is not asked for again once the watch shows the status', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  // The server does it, and breaks the connection before it answers.
  node.server.reply({ verb: 'patch' }, () => {
    node.server.put(PODS, { ...pod, status: statuses.ready } as { metadata: object });
    node.server.dropConnections();
    return { code: 200, body: {} };
  });
  node.report(pod, 'syncing.running', statuses.ready);
  await until(() => node.errors.length === 1);
  await sleep(600);
  assert.equal(node.patches('p').length, 1);
});

test('stop ends soon although the server never answers', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  node.server.fault({ verb: 'patch' }, { do: 'hang' });
  node.report(pod, 'syncing.running', statuses.ready);
  await until(() => node.patches('p').length === 1);
  await node.manager.stop();
  assert.equal(node.errors.length, 0);
});

test('what is told after its end is sent by nobody, and holds nobody up', async (t) => {
  const node = await startStatusNode(t);
  const pod = node.addPod('p');
  node.manager.setApiPods([pod]);
  await node.manager.stop();
  // The pods' actors end after it, and speak until then.
  node.report(pod, 'syncing.running', statuses.ready);
  // An agent that asked again and again would never come here.
  await sleep(50);
  assert.equal(node.patches('p').length, 0);
});
