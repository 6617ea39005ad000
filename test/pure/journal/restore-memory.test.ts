import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOf, restoreMemory } from '../../../actors/record/journal/restore-memory.ts';
import { journalsCompressed } from '../../../actors/record/journal/segment-log.ts';
import { pod } from '../pod/pod-world.ts';
import { feed, files, folder, journalingShard, lifeOf } from './journal-fixture.ts';

const life = lifeOf(pod({}, 'u1'));
const living = life.slice(
  0,
  life.findIndex((m) => m.type === 'pod.terminate'),
);

test('agents that ended before they had started any pod do not make the next one forget what was known of it', async (t) => {
  const dir = folder(t);
  const first = journalingShard(dir);
  await feed(first, 'u1', living);
  first.close();
  // The API server does not answer: only another pod, of a file, begins.
  for (let i = 0; i < 3; i++) {
    const other = journalingShard(dir);
    await feed(other, 'u2', lifeOf(pod({}, 'u2')).slice(0, 3));
    other.close();
  }
  const restored = restoreMemory(dir);
  assert.equal(restored.get('u1')?.memory.containers['c']?.backOff?.delayMs, 10_000);
  assert.equal(restored.has('u2'), true);
});

test('a pod that has finished is forgotten, whatever older segments say of it', async (t) => {
  const dir = folder(t);
  const first = journalingShard(dir);
  await feed(first, 'u1', living);
  first.close();
  const second = journalingShard(dir);
  await feed(second, 'u1', life);
  second.close();
  assert.equal(restoreMemory(dir).has('u1'), false);
});

test('what a snapshot says of a pod with probes is read back, and what comes after it in the segment as well', async (t) => {
  const dir = folder(t);
  const exec = { command: ['probe'] };
  const probed = pod({ containers: [{ name: 'c', image: 'img:1', readinessProbe: { exec, periodSeconds: 1 } }] }, 'u1');
  const untilItEnds = (messages: ReturnType<typeof lifeOf>) =>
    messages.slice(
      0,
      messages.findIndex((m) => m.type === 'pod.terminate'),
    );
  const shard = journalingShard(dir, { maxBytes: 60_000 });
  await feed(shard, 'u1', untilItEnds(lifeOf(probed)));
  for (let i = 2; i < 8; i++) await feed(shard, `u${i}`, untilItEnds(lifeOf(pod({}, `u${i}`))));
  shard.close();
  await journalsCompressed();
  const last = files(dir).at(-1)?.text ?? '';
  assert.match(last, /^\{"r":"snap","uid":"u1"/m, 'the last segment begins with the pod');
  const restored = restoreMemory(dir);
  assert.equal(restored.get('u1')?.memory.containers['c']?.backOff?.delayMs, 10_000);
  assert.equal(restored.get('u1')?.memory.probes['c/readiness']?.result, 'success');
  assert.equal(restored.get('u7')?.memory.containers['c']?.backOff?.delayMs, 10_000);
});

test('a pod has ended as it was last told to have, but for one that the node ends for its own sake', () => {
  const memory = { containers: {}, probes: {}, messages: {} };
  const told = (phase: string, termination?: { phase: 'Failed' | null }) =>
    ({ memory: { ...memory, ...(termination && { termination }) }, status: { phase } }) as unknown as Parameters<
      typeof endOf
    >[0];
  assert.equal(endOf(undefined), undefined);
  assert.equal(endOf(told('Running')), undefined);
  assert.deepEqual(endOf(told('Succeeded', { phase: null })), { phase: 'Succeeded' });
  assert.deepEqual(endOf(told('Failed')), { phase: 'Failed' });
  // How its containers end decides yet.
  assert.equal(endOf(told('Failed', { phase: 'Failed' })), undefined);
});
