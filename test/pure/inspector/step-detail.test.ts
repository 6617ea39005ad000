import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { bornPod, podState, stepPod } from '../../../machines/pod/pod-step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { settings } from '../pod/pod-world.ts';
import { feed, folder, journalingShard } from '../journal/journal-fixture.ts';
import { inspecting, journalOfLives, podNamed, startOf } from './made-journal.ts';

test('each moment has the state, context, status and spec that the machine had, in whatever order one asks', async (t) => {
  const dir = folder(t);
  const definition = podNamed('web');
  const [life = []] = await journalOfLives(dir, [definition], 1 << 16);
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const first = inspector.steps('web', 0, 1)?.first ?? 0;
  let snapshot = bornPod({ pod: definition, source: 'file', settings });
  const expected = life.map((message) => {
    ({ snapshot } = stepPod(snapshot, message));
    return { state: podState(snapshot), context: snapshot.context };
  });
  const order = [...life.keys()].filter((i) => i >= first).sort((a, b) => ((a * 7) % 11) - ((b * 7) % 11));
  for (const i of order) {
    const detail = await inspector.step('web', i);
    const { pod: wholePod, status, settings: _settings, ...rest } = expected[i]?.context ?? {};
    const { status: _status, ...spec } = wholePod ?? {};
    assert.equal(detail?.machines.pod, expected[i]?.state, `step ${i}`);
    assert.deepEqual(detail?.context, json(rest), `step ${i}`);
    assert.deepEqual(detail?.status, json(status), `step ${i}`);
    assert.deepEqual(detail?.spec, json(spec));
    assert.equal(detail?.line.index, i);
    assert.equal((detail?.message as { type: string }).type, life[i]?.type);
  }
  assert.deepEqual((await inspector.step('web', life.length - 1))?.machines.containers, { c: 'exited' });
  assert.equal(await inspector.step('web', life.length), null);
});

test('50,000 transitions of one pod: any of them, with bounded memory for places', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir, { maxBytes: 1 << 28 });
  shard.post('web', startOf(podNamed('web')));
  const total = 50_000;
  for (let i = 1; i < total; i++) {
    shard.post('web', { type: 'runtime.state', at: 1_000 + i, runtimeReady: i % 2 === 0, networkReady: true });
    if (i % 64 === 0) await turn();
  }
  await turn();
  await turn();
  shard.close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  assert.equal(inspector.pods()[0]?.steps, total);
  for (const i of [total - 1, 3, 25_000, 49_000, 24_999, 0]) {
    const detail = await inspector.step('web', i);
    assert.equal((detail?.context as { runtimeReady: boolean }).runtimeReady, i % 2 === 0, `step ${i}`);
  }
  const marks = (inspector.replay as unknown as { marks: { total: number } }).marks.total;
  assert.ok(marks > 10 && marks <= 256, `${marks} kept snapshots`);
  assert.equal(inspector.steps('web', 48_000, 2_000)?.steps.at(-1)?.index, total - 1);
});

test('messages of 1 MB: the list and each step; a page of steps ends before it is too large', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir, { maxBytes: 1 << 28 });
  const big = 'x'.repeat(1 << 20);
  const made = podNamed('web');
  const large: Pod = { ...made, metadata: { ...made.metadata, annotations: { big } } };
  const observed = (i: number): PodMessage => ({
    type: 'pod.observed',
    at: 2_000 + i,
    observed: {
      ...{ uid: 'web', name: 'web', namespace: 'default', at: 2_000 + i, sandboxes: [] },
      containers: [
        {
          ...{ id: `c${i}`, name: 'c', sandboxId: 's', state: 'exited', createdAt: 1, startedAt: 1, finishedAt: 2 },
          ...{ exitCode: 1, reason: 'Error', message: big, image: 'i', imageRef: 'i', imageId: 'i', logPath: '' },
          ...{ labels: {}, annotations: {}, hash: '1', restartCount: 0 },
        },
      ],
    },
  });
  const messages = [startOf(large), ...Array.from({ length: 30 }, (_, i) => observed(i))];
  await feed(shard, 'web', messages);
  shard.close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  assert.equal(inspector.pods()[0]?.steps, 31);
  const page = inspector.steps('web', 0, 2_000);
  const got = page?.steps.length ?? 0;
  assert.ok(got > 5 && got < 31, `${got} steps`);
  assert.equal(page?.total, 31);
  assert.equal(inspector.steps('web', got, 2_000)?.steps[0]?.index, got);
  const detail = await inspector.step('web', 30);
  assert.equal((detail?.spec as Pod).metadata?.annotations?.['big'], big);
  assert.ok(JSON.stringify(detail?.line).length < 5_000, 'the line itself stays small');
});

test('a message on which the machine threw: nothing has changed, and why is told', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  const bad = { type: 'pod.observed', at: 2_000, observed: { sandboxes: 3 } } as unknown as PodMessage;
  await feed(shard, 'web', [startOf(podNamed('web')), bad, { type: 'pod.sync', at: 3_000 }]);
  shard.close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const steps = inspector.steps('web', 0, 9)?.steps ?? [];
  assert.equal(steps.length, 3);
  assert.match(steps[1]?.fault ?? '', /TypeError/);
  assert.equal(steps[1]?.after, steps[0]?.after);
  const before = await inspector.step('web', 0);
  assert.deepEqual((await inspector.step('web', 1))?.context, before?.context);
  assert.equal((await inspector.step('web', 2))?.line.message, 'pod.sync');
});

test('a pod that was updated has its new spec from then on', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  const made = podNamed('web');
  const changed: Pod = { ...made, metadata: { ...made.metadata, labels: { color: 'green' } } };
  await feed(shard, 'web', [startOf(made), { type: 'pod.update', at: 2_000, pod: changed }]);
  shard.close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const labels = async (i: number) => ((await inspector.step('web', i))?.spec as Pod).metadata?.labels;
  assert.deepEqual([await labels(0), await labels(1)], [undefined, { color: 'green' }]);
});

function json(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}
