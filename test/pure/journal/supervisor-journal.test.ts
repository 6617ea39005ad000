import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { restoreMemory } from '../../../actors/record/journal/restore-memory.ts';
import { segmentsOf } from '../../../actors/record/journal/segment-files.ts';
import { journalsCompressed } from '../../../actors/record/journal/segment-log.ts';
import { PodStore } from '../../../actors/pods/store/pod-store.ts';
import { Supervisor } from '../../../actors/pods/supervisor/supervisor.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import type { SupervisorMessage } from '../../../machines/supervisor/supervisor-context.ts';
import type { PodConfigUpdate } from '../../../machines/sources/pod-config.ts';
import { pod as unnamed } from '../pod/pod-world.ts';
import { feed, files, folder, journalingShard, lifeOf, memoryLog, records, replayed } from './journal-fixture.ts';

function supervisor(dir: string, maxBytes = 1 << 24, onPost: () => void = () => undefined) {
  return new Supervisor({
    shards: 2,
    log: memoryLog().log,
    now: () => 5,
    store: new PodStore(),
    runtimeState: () => ({ runtimeReady: true, networkReady: true, problem: '' }),
    remembered: () => null,
    post: onPost,
    journal: { dir, agent: 'test', maxBytes, log: memoryLog().log },
  });
}

/** Pods of one full name would wait for each other. */
function pod(spec: Partial<NonNullable<Pod['spec']>>, uid: string): Pod {
  const made = unnamed(spec, uid);
  return { ...made, metadata: { ...made.metadata, name: `web-${uid}` } };
}

const config = (op: PodConfigUpdate['op'], ...pods: Pod[]): SupervisorMessage => ({
  type: 'config',
  at: 1,
  update: { op, source: 'file', pods },
});

const seen = (uid: string, at = 2): SupervisorMessage => {
  const container = {
    id: `c-${uid}`,
    name: 'c',
    sandboxId: `s-${uid}`,
    state: 'running',
    image: 'img:1',
    annotations: {},
    labels: {},
  };
  const observed = { uid, name: uid, namespace: 'default', at, sandboxes: [], containers: [container] };
  return { type: 'seen', at, observed: observed as unknown as ObservedPod };
};

/** A bit of everything: two pods, an orphan, an update, a comeback, an end, a lost worker. */
const story: SupervisorMessage[] = [
  config('ADD', pod({}, 'u1'), pod({ hostname: 'two' }, 'u2')),
  seen('u1'),
  seen('stranger'),
  { type: 'sourcesReady', at: 3 },
  config('UPDATE', pod({ hostname: 'new' }, 'u1')),
  config('RECONCILE', pod({ hostname: 'new' }, 'u1')),
  config('REMOVE', pod({ hostname: 'two' }, 'u2')),
  config('ADD', pod({ hostname: 'again' }, 'u2')),
  { type: 'shardReplaced', at: 4, shard: 0 },
  { type: 'finished', at: 4, uid: 'u2' },
  { type: 'finished', at: 4, uid: 'stranger' },
  seen('u1', 6),
];

test('what the supervisor was told and ordered replays as identical', async (t) => {
  const dir = folder(t);
  const one = supervisor(dir);
  for (const message of story) one.take(message);
  one.close();
  const all = records(dir);
  const messages = all.filter((r) => r['r'] === 'sup.msg');
  // The two looks at u1 stand in its shard's journal only; that at the stranger is taken again when all sources have spoken.
  assert.deepEqual(
    messages.map((r) => (r['m'] as { type: string }).type),
    [
      'config',
      'seen',
      'sourcesReady',
      'seen',
      'config',
      'config',
      'config',
      'config',
      'shardReplaced',
      'finished',
      'finished',
    ],
  );
  const ofLooks = await replayed(join(dir, 'looks'));
  assert.deepEqual(await replayed(dir), {
    messages: messages.length + ofLooks.messages,
    pods: 0,
    machines: ['supervisor', 'looks'],
    difference: null,
    unanswered: 0,
  });
  // Each content of a pod stands once, and nowhere else.
  const specs = all.filter((r) => r['r'] === 'spec').map((r) => r['id']);
  assert.equal(new Set(specs).size, specs.length);
  const text = files(dir)[0]?.text ?? '';
  assert.equal(text.split('"hostname":"again"').length - 1, 1);
});

test('a message is on disk before its orders are carried out', (t) => {
  const dir = folder(t);
  let there = false;
  const one = supervisor(dir, 1 << 20, () => {
    there = readFileSync(join(dir, 'supervisor-00000001.jsonl'), 'utf8').includes('"r":"sup.msg","n":1');
  });
  one.take(config('ADD', pod({}, 'u1')));
  one.close();
  assert.ok(there);
});

test('a supervisor that throws records the message and the fault, and both replay', async (t) => {
  const dir = folder(t);
  const one = supervisor(dir);
  one.take(story[0] as SupervisorMessage);
  one.take({ type: 'sourcesReady', at: 1 });
  const broken = { type: 'seen', at: 1, observed: { uid: 'x', sandboxes: [{}], containers: null } };
  assert.match(
    one.take(broken as unknown as SupervisorMessage)?.message ?? '',
    /^NOD015: The machine supervisor failed/,
  );
  assert.deepEqual(
    records(dir)
      .map((r) => r['r'])
      .slice(-2),
    ['sup.msg', 'sup.fault'],
  );
  one.take(config('REMOVE', pod({}, 'u1')));
  one.close();
  const result = await replayed(dir);
  assert.equal(result.difference, null);
});

test('shards and supervisor replay together, as a folder and as one file in name order', async (t) => {
  const dir = folder(t);
  const messages = lifeOf(pod({}, 'u1'));
  for (const number of [0, 1]) {
    const shard = journalingShard(dir, { shard: number });
    await feed(shard, `u${number}`, messages);
    await feed(shard, `young${number}`, messages.slice(0, 2));
    shard.close();
  }
  // Two lives of the agent.
  for (let life = 0; life < 2; life++) {
    const one = supervisor(dir);
    for (const message of story) one.take(message);
    one.close();
  }
  assert.deepEqual(
    files(dir).map(({ name }) => name),
    ['shard-00-00000001.jsonl', 'shard-01-00000001.jsonl', 'supervisor-00000001.jsonl', 'supervisor-00000002.jsonl'],
  );
  const whole = await replayed(dir);
  const ofLooks = await replayed(join(dir, 'looks', 'looks-00000001.jsonl'));
  assert.deepEqual(whole, {
    messages: 2 * messages.length + 4 + 22 + 2 * ofLooks.messages,
    pods: 4,
    machines: ['pods', 'supervisor', 'looks'],
    difference: null,
    unanswered: 0,
  });
  const joined = join(folder(t), 'all.jsonl');
  writeFileSync(
    joined,
    files(dir)
      .map(({ text }) => text)
      .join(''),
  );
  const { messages: ofAll } = await replayed(joined);
  assert.equal(ofAll + 2 * ofLooks.messages, whole.messages, 'logs with a folder of their own are not in it');
  // What has finished is not remembered: a pod that comes back under its UID is another one.
  assert.deepEqual([...restoreMemory(dir).keys()].sort(), ['young0', 'young1']);
});

test('segments of the supervisor begin with its place, are compressed and bounded, and can be read alone', async (t) => {
  const dir = folder(t);
  const one = supervisor(dir, 20_000);
  for (const message of story) one.take(message);
  const open = () => segmentsOf(dir, 'supervisor').filter((s) => s.path.endsWith('.jsonl'));
  for (let i = 0; i < 600; i++) {
    one.take(config('UPDATE', pod({ hostname: `h${i}` }, 'u1')));
    if (i % 20 !== 0) continue;
    await journalsCompressed();
    assert.equal(open().length, 1);
  }
  one.close();
  await journalsCompressed();
  const segments = segmentsOf(dir, 'supervisor');
  assert.ok(segments.length > 2 && (segments[0]?.seq ?? 0) > 1, segments.map((s) => s.path).join());
  for (const { path } of segments) {
    const result = await replayed(path);
    assert.equal(result.difference, null, path);
  }
  assert.ok(segments.reduce((sum, s) => sum + s.bytes, 0) < 40_000);
});

test('a changed order is shown as the supervisor’s', async (t) => {
  const dir = folder(t);
  const one = supervisor(dir);
  for (const message of story) one.take(message);
  one.close();
  const [file] = files(dir);
  const text = file?.text ?? '';
  assert.ok(text.includes('"type":"start","uid":"u2"'));
  writeFileSync(file?.path ?? '', text.replace('"type":"start","uid":"u2"', '"type":"start","uid":"u3"'));
  const { difference } = await replayed(dir);
  assert.equal(difference?.pod, 'supervisor');
  assert.equal(difference.uid, '');
  assert.equal(difference.what, 'order 2 of 2');
  assert.match(difference.recorded, /"uid":"u3"/);
  assert.match(difference.computed, /"uid":"u2"/);
  assert.equal((difference.message as { type: string }).type, 'config');
  const headless = text.slice(text.indexOf('\n') + 1);
  writeFileSync(file?.path ?? '', headless);
  await assert.rejects(replayed(dir), /JRN005.*supervisor/s);
});

test('a segment that an agent was killed over before anything stood in it is none: the next agent has its number', async (t) => {
  const dir = folder(t);
  const [first, second] = [story.slice(0, 3), story.slice(3)];
  const before = supervisor(dir);
  for (const message of first) before.take(message);
  before.close();
  writeFileSync(join(dir, 'supervisor-00000002.jsonl'), '{"r":"sup.segm');
  const after = supervisor(dir);
  for (const message of [...first, ...second]) after.take(message);
  after.close();
  assert.deepEqual(
    files(dir).map(({ name }) => name),
    ['supervisor-00000001.jsonl', 'supervisor-00000002.jsonl'],
  );
  assert.equal((await replayed(dir)).difference, null, 'and nothing is missing, which would be thrown');
});
