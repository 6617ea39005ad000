import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { feed, files, folder, journalingShard, lifeOf } from '../journal/journal-fixture.ts';
import { inspecting, journalOfLives, podNamed, startOf, startPods } from './made-journal.ts';

test('a life: each message is a step, with its state before and after, and who sent it', async (t) => {
  const dir = folder(t);
  const [life = []] = await journalOfLives(dir, [podNamed('web')]);
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const page = inspector.steps('web', 0, 2_000);
  assert.equal(page?.total, life.length);
  assert.deepEqual(
    page?.steps.map(({ index, at, message }) => [index, at, message]),
    life.map((message, i) => [i, message.at, message.type]),
  );
  const steps = page?.steps ?? [];
  assert.equal(steps[0]?.before, '');
  for (const [i, step] of steps.entries()) if (i > 0) assert.equal(step.before, steps[i - 1]?.after);
  assert.equal(steps.at(-1)?.after, 'terminated.finished');
  assert.equal(steps[0]?.from, 'sources');
  assert.equal(steps.find((s) => s.summary.startsWith('cri.CreateContainer'))?.summary, 'cri.CreateContainer c');
  assert.ok(steps.some(({ from }) => from === 'pleg'));

  const [line] = inspector.pods();
  assert.deepEqual(
    { ...line, since: 0, why: '' },
    {
      ...{ uid: 'web', namespace: 'default', name: 'web', source: 'file', state: 'terminated.finished' },
      ...{ phase: line?.phase, why: '', since: 0, startedAt: life[0]?.at, restarts: 1, containers: 1, ready: 0 },
      ...{ gone: true, steps: life.length },
    },
  );
});

test('an answer names the step that asked, and the step that asked names its answer', async (t) => {
  const dir = folder(t);
  await journalOfLives(dir, [podNamed('web')]);
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const steps = inspector.steps('web', 0, 2_000)?.steps ?? [];
  const answers = steps.filter(({ message }) => message.startsWith('effect.'));
  assert.ok(answers.length > 10);
  for (const { index, at, answers: told } of answers) {
    assert.ok(told !== undefined, `step ${index}`);
    const asked = steps[told.index];
    const effect = asked?.effects.find(({ key, answeredBy }) => key === told.key && answeredBy === index);
    assert.ok(effect !== undefined, `step ${index} answers ${told.key}`);
    assert.equal(told.ms, at - (asked?.at ?? 0));
    assert.ok(told.ms > 0);
  }
  const oneWay = steps.flatMap(({ effects }) => effects).filter(({ key }) => key === '');
  assert.ok(oneWay.length > 0 && oneWay.every(({ answeredBy }) => answeredBy === undefined));
});

test('a part of the steps: from and limit', async (t) => {
  const dir = folder(t);
  const [life = []] = await journalOfLives(dir, [podNamed('web')]);
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  assert.deepEqual(
    inspector.steps('web', 5, 3)?.steps.map(({ index }) => index),
    [5, 6, 7],
  );
  assert.deepEqual(inspector.steps('web', life.length + 3, 3)?.steps, []);
  assert.equal(inspector.steps('nobody', 0, 3), null);
});

test('tail: what is written shows, with half a line left alone, over new, compressed and dropped segments', async (t) => {
  const dir = folder(t);
  const life = lifeOf(podNamed('web'));
  const shard = journalingShard(dir);
  const inspector = await inspecting(t, { mode: 'live', dir });
  assert.deepEqual(inspector.pods(), []);
  await feed(shard, 'web', life.slice(0, 6));
  await inspector.refresh();
  assert.equal(inspector.pods()[0]?.steps, 6);
  const first = join(dir, 'shard-00-00000001.jsonl');

  // A line of which the first part is written only.
  const n = 1_000;
  const text = `${JSON.stringify({ r: 'msg', n, uid: 'web', m: { type: 'pod.sync', at: 5 } })}\n`;
  appendFileSync(first, text.slice(0, 20));
  await inspector.refresh();
  appendFileSync(first, text.slice(20));
  await inspector.refresh();
  // Its outcome is not there yet.
  assert.equal(inspector.pods()[0]?.steps, 6);
  appendFileSync(first, `${JSON.stringify({ r: 'step', n, uid: 'web', s: 'syncing.creatingSandbox', e: [] })}\n`);
  await inspector.refresh();
  assert.equal(inspector.pods()[0]?.steps, 7);
  shard.close();

  // The agent goes on in a second segment; the first is replaced by its compressed form while it is open here.
  writeFileSync(`${first}.gz`, gzipSync(readFileSync(first)));
  unlinkSync(first);
  const second = journalingShard(dir);
  await feed(second, 'web', life);
  await inspector.refresh();
  assert.equal(inspector.pods()[0]?.steps, 7 + life.length);
  const steps = inspector.steps('web', 0, 2_000)?.steps ?? [];
  assert.equal(steps.length, 7 + life.length);
  assert.equal(steps[7]?.message, 'pod.start');
  assert.equal((await inspector.step('web', 3))?.line.message, life[3]?.type);

  // The oldest segment goes: numbers stay, what stood in it is gone.
  unlinkSync(`${first}.gz`);
  await inspector.refresh();
  const page = inspector.steps('web', 0, 2_000);
  assert.deepEqual([page?.first, page?.total, page?.steps[0]?.index], [7, 7 + life.length, 7]);
  assert.equal(await inspector.step('web', 3), null);
  assert.equal((await inspector.step('web', 9))?.line.message, life[2]?.type);
  second.close();
});

test('a segment that was compressed before it was ever open is read; a pod of which nothing is left is lost', async (t) => {
  const dir = folder(t);
  await journalOfLives(dir, [podNamed('a'), podNamed('b')]);
  for (const { path, text } of files(dir)) {
    writeFileSync(`${path}.gz`, gzipSync(text));
    unlinkSync(path);
  }
  const inspector = await inspecting(t, { mode: 'live', dir });
  assert.equal(inspector.pods().length, 2);
  assert.equal((await inspector.step('b', 4))?.line.index, 4);
  const lost: string[] = [];
  inspector.onChange((changes) => lost.push(...changes.lost));
  rmSync(join(dir, 'shard-00-00000001.jsonl.gz'));
  await inspector.refresh();
  assert.deepEqual(lost, ['a']);
  assert.deepEqual(
    inspector.pods().map(({ name }) => name),
    ['b'],
  );
});

test('rotation: a life over many segments has the same steps as in one', async (t) => {
  const whole = folder(t);
  const parts = folder(t);
  const [life = []] = await journalOfLives(whole, [podNamed('web')]);
  const shard = journalingShard(parts, { maxBytes: 1 << 16 });
  const inspector = await inspecting(t, { mode: 'live', dir: parts });
  for (let i = 0; i < life.length; i += 5) {
    await feed(shard, 'web', life.slice(i, i + 5));
    await inspector.refresh();
  }
  shard.close();
  assert.ok(readdirSync(parts).length > 2, 'several segments');
  const other = await inspecting(t, { mode: 'files', paths: [whole] });
  const expected = other.steps('web', 0, 2_000)?.steps ?? [];
  const page = inspector.steps('web', 0, 2_000);
  assert.deepEqual(page?.steps, expected.slice(page?.first));
  const last = life.length - 1;
  assert.deepEqual(await inspector.step('web', last), await other.step('web', last));
});

test('after a restart of the agent: pods that do not come back are gone, messages without an outcome are told', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  await startPods(shard, [podNamed('a'), podNamed('b')]);
  shard.close();
  // The agent is killed after it has written a message.
  const line = { r: 'msg', n: 99, uid: 'a', m: { type: 'pod.sync', at: 9_000 } };
  appendFileSync(join(dir, 'shard-00-00000001.jsonl'), `${JSON.stringify(line)}\n`);
  const again = journalingShard(dir);
  await startPods(again, [podNamed('a')], 10_000);
  again.close();
  const inspector = await inspecting(t, { mode: 'live', dir });
  const [a, b] = inspector.pods();
  assert.deepEqual([a?.gone, a?.steps, b?.gone, b?.steps], [false, 3, true, 1]);
  const steps = inspector.steps('a', 0, 10)?.steps ?? [];
  assert.deepEqual(
    steps.map((s) => [s.message, s.unanswered ?? false]),
    [
      ['pod.start', false],
      ['pod.sync', true],
      ['pod.start', false],
    ],
  );
});

test('a damaged line ends the reading of its file, is named, and harms no other file', async (t) => {
  const dir = folder(t);
  await journalOfLives(dir, [podNamed('a'), podNamed('b')]);
  const [first] = files(dir);
  const lines = (first?.text ?? '').trimEnd().split('\n');
  lines[9] = `#${lines[9]?.slice(1) ?? ''}`;
  writeFileSync(first?.path ?? '', `${lines.join('\n')}\n`);
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const { damages } = inspector.about();
  assert.deepEqual([damages.length, damages[0]?.file, damages[0]?.line], [1, first?.path, 10]);
  assert.equal(inspector.pods().length, 2);
  assert.ok((inspector.entry('a')?.line.steps ?? 0) < (inspector.entry('b')?.line.steps ?? 0));

  writeFileSync(first?.path ?? '', lines.slice(0, 9).join('\n').slice(0, -5));
  const cut = await inspecting(t, { mode: 'files', paths: [first?.path ?? ''] });
  assert.deepEqual([cut.about().damages.length, cut.about().damages[0]?.line], [1, 9]);
});

test('a byte that was flipped within a message: the list shows what can be read, and the step says that it is gone', async (t) => {
  const dir = folder(t);
  await journalOfLives(dir, [podNamed('a')]);
  const [first] = files(dir);
  const lines = (first?.text ?? '').trimEnd().split('\n');
  const at = lines.findIndex((line) => line.includes('"type":"pod.observed"'));
  // Behind what the index reads of a line.
  lines[at] = (lines[at] ?? '').replace('"sandboxes":[', '"sandboxes":{');
  writeFileSync(first?.path ?? '', `${lines.join('\n')}\n`);
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const total = inspector.pods()[0]?.steps ?? 0;
  assert.equal(inspector.steps('a', 0, 2_000)?.steps.length, total - 1);
  assert.equal(await inspector.step('a', total - 1), null);
  assert.notEqual(await inspector.step('a', 1), null);
});

test('files put together with cat, compressed, under another name', async (t) => {
  const dir = folder(t);
  const lives = await journalOfLives(dir, [podNamed('a'), podNamed('b')]);
  const file = join(folder(t), 'all.jsonl.gz');
  writeFileSync(file, Buffer.concat(files(dir).map(({ text }) => gzipSync(text))));
  const inspector = await inspecting(t, { mode: 'files', paths: [file] });
  assert.deepEqual(
    inspector.pods().map(({ steps }) => steps),
    lives.map((life) => life.length),
  );
  const b = lives[1]?.length ?? 0;
  assert.equal((await inspector.step('b', b - 1))?.machines.pod, 'terminated.finished');
});

test('a pod that changed its shard when the agent was started with another number of them has one line of time', async (t) => {
  const dir = folder(t);
  const now = Date.now;
  t.after(() => (Date.now = now));
  const one = journalingShard(dir, { shard: 1 });
  await startPods(one, [podNamed('a')]);
  one.close();
  Date.now = () => now() + 5_000;
  const two = journalingShard(dir, { shard: 0 });
  await startPods(two, [podNamed('a')], 2_000);
  two.close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  assert.deepEqual(
    inspector.steps('a', 0, 9)?.steps.map(({ at }) => at),
    [1_000, 2_000],
  );
  assert.equal(inspector.pods()[0]?.gone, false);
});

test('a file that is not there', async (t) => {
  await assert.rejects(inspecting(t, { mode: 'files', paths: ['/no/such/journal'] }), /JRN001/);
});

test('a journal folder that appears later', async (t) => {
  const dir = join(folder(t), 'later');
  const inspector = await inspecting(t, { mode: 'live', dir });
  assert.ok(!existsSync(dir));
  const other = folder(t);
  const shard = journalingShard(other);
  shard.post('a', startOf(podNamed('a')));
  await feed(shard, 'a', []);
  shard.close();
  renameSync(other, dir);
  await inspector.refresh();
  assert.equal(inspector.pods().length, 1);
});
