import assert from 'node:assert/strict';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { compressSegment } from '../../../actors/record/journal/compress-segment.ts';
import { journalFiles, journalLines } from '../../../actors/record/journal/journal-reader.ts';
import { MachineJournal } from '../../../actors/record/journal/machine-journal.ts';
import { pods } from '../../../actors/record/machines/pods.ts';
import { replay } from '../../../actors/record/journal/replay.ts';
import { restoreMemory } from '../../../actors/record/journal/restore-memory.ts';
import { journalsCompressed } from '../../../actors/record/journal/segment-log.ts';
import { segmentsOf } from '../../../actors/record/journal/segment-files.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { pod, settings } from '../pod/pod-world.ts';
import { feed, files, folder, journalingShard, lifeOf, memoryLog, records, replayed } from './journal-fixture.ts';

const base = pod({}, 'u1');
const life = lifeOf(base);
/** Up to the crash and its back-off: the pod still lives. */
const living = life.slice(
  0,
  life.findIndex((m) => m.type === 'pod.terminate'),
);

test('what a shard did replays as identical, and its memory is read back', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  await feed(shard, 'u1', living);
  shard.close();
  const result = await replayed(dir);
  assert.deepEqual(result, { messages: living.length, pods: 1, machines: ['pods'], difference: null, unanswered: 0 });
  const { memory, status } = restoreMemory(dir).get('u1') ?? {};
  assert.equal(memory?.containers['c']?.backOff?.delayMs, 10_000);
  assert.equal(status?.containerStatuses?.[0]?.restartCount, 1);
  assert.equal(statSync(join(dir, 'shard-00-00000001.jsonl')).mode & 0o777, 0o600);
});

test('a spec stands once in a segment, messages refer to it', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  const again: PodMessage = { type: 'pod.update', at: living.at(-1)?.at ?? 0, pod: structuredClone(base) };
  await feed(shard, 'u1', [...living, again, { ...again, pod: pod({ hostname: 'other' }, 'u1') }]);
  shard.close();
  assert.equal(records(dir).filter((r) => r['r'] === 'spec').length, 2);
  const pods = records(dir).flatMap((r) => (r['r'] === 'msg' ? [(r['m'] as { pod?: unknown }).pod] : []));
  for (const p of pods.filter((x) => x !== undefined)) assert.deepEqual(Object.keys(p as object), ['$spec']);
  assert.equal((await replayed(dir)).difference, null);
});

test('a message is on disk before it is handled', async (t) => {
  const dir = folder(t);
  const seen: boolean[] = [];
  const shard = journalingShard(dir, {
    send: (message) => {
      if (message.t !== 'report') return;
      const text = readFileSync(join(dir, 'shard-00-00000001.jsonl'), 'utf8');
      // The handler runs: its message must be there, its outcome is not yet.
      seen.push(text.includes('"type":"pod.start"') && !text.includes('"r":"step"'));
    },
  });
  shard.post('u1', life[0] as PodMessage);
  await turn();
  assert.equal(seen[0], true);
  shard.close();
});

test('an agent that is killed while it handles a message leaves it unanswered, and the rest replays', async (t) => {
  const dir = folder(t);
  const { log } = memoryLog();
  const killed = new MachineJournal(
    pods,
    { dir, agent: 'test', maxBytes: 1 << 20, log },
    { shard: 0, settings },
    () => [],
  );
  killed.message('u1', life[0] as PodMessage);
  killed.flush();
  // Killed here; what it had begun to write afterwards is cut off when the next agent begins.
  const path = join(dir, 'shard-00-00000001.jsonl');
  appendFileSync(path, '{"r":"step","n":1,"uid":"u1","s":"sync');
  await assert.rejects(replayed(dir), /JRN002.*shard-00-00000001\.jsonl, line 4/s);
  const shard = journalingShard(dir);
  await feed(shard, 'u1', living);
  shard.close();
  assert.ok(readFileSync(path, 'utf8').endsWith('\n'));
  const result = await replayed(dir);
  assert.equal(result.difference, null);
  assert.equal(result.messages, living.length + 1);
});

test('a machine that throws is recorded as a fault, and replays as one', async (t) => {
  const dir = folder(t);
  const sent: string[] = [];
  const shard = journalingShard(dir, { send: (m) => void sent.push(m.t) });
  const broken = { type: 'pod.observed', at: 1, observed: null } as unknown as PodMessage;
  await feed(shard, 'u1', [...living.slice(0, 4), broken, ...living.slice(4)]);
  shard.close();
  assert.ok(sent.includes('fault'));
  assert.equal(records(dir).filter((r) => r['r'] === 'fault').length, 1);
  assert.deepEqual(await replayed(dir).then((r) => r.difference), null);
});

test('segments are compressed, bounded in size, and each can be read alone', async (t) => {
  const dir = folder(t);
  const maxBytes = 60_000;
  const { log, lines } = memoryLog();
  const shard = journalingShard(dir, { shard: 3, maxBytes, log });
  await feed(shard, 'u1', living);
  const at = living.at(-1)?.at ?? 0;
  const open = () => segmentsOf(dir, 'shard-03').filter((s) => s.path.endsWith('.jsonl'));
  let most = 0;
  for (let i = 0; i < 4_000; i++) {
    const observed = { uid: 'u1', name: 'web', namespace: 'default', at: at + i, sandboxes: [], containers: [] };
    await feed(shard, 'u1', [{ type: 'pod.observed', at: at + i, observed }]);
    if (i % 100 !== 0) continue;
    await journalsCompressed();
    assert.equal(open().length, 1);
    most = Math.max(
      most,
      segmentsOf(dir, 'shard-03').reduce((sum, s) => sum + s.bytes, 0),
    );
  }
  shard.close();
  await journalsCompressed();
  const segments = segmentsOf(dir, 'shard-03');
  assert.ok(segments.length > 2, `${segments.length} segments`);
  assert.ok((segments[0]?.seq ?? 0) > 1, 'the oldest are gone');
  assert.ok(segments.slice(0, -1).every((s) => s.path.endsWith('.gz')));
  // The bound is kept whenever a segment is closed; what the open one grows to comes on top.
  assert.ok(most <= 2 * maxBytes, String(most));
  const whole = await replayed(dir);
  assert.equal(whole.difference, null);
  assert.ok(whole.messages > 100);
  for (const { path } of segments) assert.equal((await replayed(path)).difference, null, path);
  assert.equal(restoreMemory(dir).get('u1')?.memory.startedAt, 1_000_000);
  assert.deepEqual(lines, []);
});

test('segments that are compressed or dropped while a journal is read are read as they are now, or left out', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  await feed(shard, 'u1', living);
  shard.close();
  const plain = join(dir, 'shard-00-00000001.jsonl');
  copyFileSync(plain, join(dir, 'shard-00-00000000.jsonl'));
  copyFileSync(plain, join(dir, 'shard-00-00000002.jsonl'));
  const found = await journalFiles([dir]);
  rmSync(join(dir, 'shard-00-00000000.jsonl'));
  await compressSegment(plain);
  const result = await replay(journalLines(found));
  assert.equal(result.difference, null);
  assert.equal(result.messages, 2 * living.length);
  // Both forms of one segment are there for a moment, or after a crash in it.
  copyFileSync(join(dir, 'shard-00-00000002.jsonl'), plain);
  assert.deepEqual(await journalFiles([dir]), found.slice(1));
});

test('damage is named by file and line', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  await feed(shard, 'u1', living);
  shard.close();
  const [file] = files(dir);
  const lines = file?.text.split('\n') ?? [];
  const damage = async (line: number, text: string) => {
    writeFileSync(file?.path ?? '', lines.with(line - 1, text).join('\n'));
    return replayed(dir);
  };
  await assert.rejects(damage(5, lines[4]?.slice(0, 20) ?? ''), /JRN002.*shard-00-00000001\.jsonl, line 5/s);
  await assert.rejects(
    damage(3, '{"r":"msg","n":"one","uid":"u1","m":{"type":"timer","at":1}}'),
    /JRN002.*line 3: .*\bn: /s,
  );
  await assert.rejects(damage(3, '{"r":"m\u0003sg"}'), /JRN002.*line 3/s);
  await assert.rejects(damage(3, '{"n":1}'), /JRN002.*line 3/s);
  await assert.rejects(damage(1, (lines[0] ?? '').replace('"v":1', '"v":99')), /JRN003.*line 1: .*99/s);
  await assert.rejects(damage(2, '{"r":"fault","n":0,"uid":"x","error":""}'), /JRN002.*was not written before/s);
  await assert.rejects(replayed(join(dir, 'none.jsonl')), /JRN001/);
  const middle = join(dir, 'middle.jsonl');
  writeFileSync(middle, [lines[0], ...lines.slice(4)].join('\n'));
  await assert.rejects(replayed(middle), /JRN005.*u1/s);
});

test('a changed state or effect is shown with its message, what was recorded and what came out', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  await feed(shard, 'u1', living);
  shard.close();
  const [file] = files(dir);
  const text = file?.text ?? '';
  const changed = async (from: string, to: string) => {
    assert.ok(text.includes(from), from);
    writeFileSync(file?.path ?? '', text.replace(from, to));
    return (await replayed(dir)).difference;
  };
  const state = await changed('"s":"syncing.creatingSandbox"', '"s":"syncing.mountingVolumes"');
  assert.equal(state?.what, 'state');
  assert.equal(state.recorded, 'syncing.mountingVolumes');
  assert.equal(state.computed, 'syncing.creatingSandbox');
  assert.equal(state.pod, 'default/web-node1');
  assert.equal(text.split('\n')[state.line - 1]?.startsWith('{"r":"step"'), true);
  assert.equal(typeof (state.message as { type?: unknown }).type, 'string');
  const effect = await changed('"type":"cri.StartContainer","key":"', '"type":"cri.StartContainer","key":"x');
  assert.match(effect?.what ?? '', /^effect \d+ of \d+$/);
  assert.match(effect?.recorded ?? '', /"key":"xcontainer\/c\//);
  assert.match(effect?.computed ?? '', /"key":"container\/c\//);
  const missing = await changed(
    '"s":"syncing.running","e":[',
    '"s":"syncing.running","e":[{"type":"pleg.Observe","key":"","params":{}},',
  );
  assert.ok(missing !== null);
});

test('a disk that refuses stops the journal, said once, and it goes on by itself with a new segment', async (t) => {
  const dir = join(folder(t), 'journal');
  const { log, lines } = memoryLog();
  let time = performance.now();
  t.mock.method(performance, 'now', () => time);
  const shard = journalingShard(dir, { log, maxBytes: 16_000 });
  await feed(shard, 'u1', living.slice(0, 6));
  // What is being compressed would be written into the folder that comes.
  while (readdirSync(dir).filter((name) => !name.endsWith('.gz')).length > 1) await turn();
  rmSync(dir, { recursive: true });
  const rest = living.slice(6);
  await feed(shard, 'u1', rest);
  const at = living.at(-1)?.at ?? 0;
  for (let i = 0; i < 50; i++) await feed(shard, 'u1', [{ type: 'pod.sync', at: at + i }]);
  assert.equal(lines.filter((l) => l.includes('JRN004')).length, 1, lines.join(''));
  mkdirSync(dir);
  await feed(shard, 'u1', [{ type: 'pod.sync', at: at + 100 }]);
  assert.deepEqual(files(dir), [], 'it waits before it tries again');
  time += 11_000;
  await feed(shard, 'u1', [{ type: 'pod.sync', at: at + 101 }]);
  await feed(shard, 'u1', [{ type: 'pod.sync', at: at + 102 }]);
  shard.close();
  const result = await replayed(dir);
  assert.equal(result.difference, null);
  assert.equal(result.messages, 1, 'from the snapshot on');
});

test('names of secrets are journaled, never values: nothing that the machines are told holds one', async (t) => {
  const dir = folder(t);
  const env = [{ name: 'P', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } }];
  const spec = { imagePullSecrets: [{ name: 'registry' }], containers: [{ name: 'c', image: 'img:9', env }] };
  const shard = journalingShard(dir);
  await feed(shard, 'u1', [{ ...(life[0] as Extract<PodMessage, { type: 'pod.start' }>), pod: pod(spec, 'u1') }]);
  shard.close();
  assert.match(files(dir)[0]?.text ?? '', /"secretKeyRef":\{"name":"db","key":"password"\}/);
  assert.ok(existsSync(dir));
  assert.equal(statSync(dir).mode & 0o077, 0, 'the folder is for the agent alone');
});
