import assert from 'node:assert/strict';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { MachineJournal } from '../../../actors/record/journal/machine-journal.ts';
import { syncDisk } from '../../../actors/record/journal/log-disk.ts';
import type { LogDisk } from '../../../actors/record/journal/log-disk.ts';
import { losses } from '../../../actors/record/journal/losses.ts';
import { Shard } from '../../../actors/pods/shard/shard.ts';
import { pods } from '../../../actors/record/machines/pods.ts';
import { pod, settings } from '../pod/pod-world.ts';
import { files, folder, lifeOf, memoryLog, replayed } from './journal-fixture.ts';

const life = lifeOf(pod({}, 'u1'));

/** A disk that answers when it is told to. */
class HeldDisk implements LogDisk {
  holds = false;
  private readonly held: (() => void)[] = [];

  begin: LogDisk['begin'] = (...call) => this.do(() => syncDisk.begin(...call));
  write: LogDisk['write'] = (...call) => this.do(() => syncDisk.write(...call));
  end: LogDisk['end'] = (...call) => this.do(() => syncDisk.end(...call));

  answer(): void {
    this.holds = false;
    for (const call of this.held.splice(0)) call();
  }

  private do(call: () => void): void {
    if (this.holds) this.held.push(call);
    else call();
  }
}

function shardOn(t: TestContext, disk: LogDisk) {
  const dir = folder(t);
  const { log, lines } = memoryLog();
  const told: string[] = [];
  const shard = new Shard({
    settings,
    journal: { dir, shard: 0, agent: 'test', settings, maxBytes: 1 << 24, log, disk },
    log,
    now: () => 0,
    send: ({ t: kind }) => void told.push(kind),
    run: () => new Promise(() => undefined),
  });
  return { dir, lines, told, shard };
}

/** Timers of the log come when they are ticked; the shard's own do not matter here. */
function ownTime(t: TestContext): void {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
}

test('what a message comes to waits for its line, and the thread does not', async (t) => {
  ownTime(t);
  const disk = new HeldDisk();
  const { shard, told, dir } = shardOn(t, disk);
  disk.holds = true;
  const [first, ...rest] = life.slice(0, 4);
  assert.ok(first !== undefined);
  shard.post('u1', first);
  await turn();
  for (const message of rest) shard.post('u1', message);
  await turn();
  assert.deepEqual([shard.handled, told], [0, []]);
  disk.answer();
  assert.equal(shard.handled, 1);
  await turn();
  assert.equal(shard.handled, 4);
  shard.close();
  const result = await replayed(dir);
  assert.deepEqual([result.difference, result.messages, result.unanswered], [null, 4, 0]);
});

test('a disk that does not answer for five seconds is gone on without; it is counted, said once, and a new segment begins after it', async (t) => {
  ownTime(t);
  const disk = new HeldDisk();
  const { shard, dir, lines } = shardOn(t, disk);
  const before = { ...losses };
  const feed = async (from: number, to: number) => {
    for (const message of life.slice(from, to)) {
      shard.post('u1', message);
      await turn();
    }
  };
  await feed(0, 3);
  disk.holds = true;
  await feed(3, 5);
  assert.equal(shard.handled, 3);
  mock.timers.tick(5_000);
  await turn();
  await feed(5, 8);
  assert.equal(shard.handled, 8);
  assert.equal(losses.stalls - before.stalls, 1);
  assert.ok(losses.lines > before.lines);
  assert.equal(lines.filter((line) => line.includes('JRN012')).length, 1, lines.join(''));
  assert.equal(files(dir).length, 1, 'nothing else is tried while a call is under way');
  disk.answer();
  const living = life.findIndex((message) => message.type === 'pod.terminate');
  await feed(8, living);
  shard.close();
  assert.equal(files(dir).length, 2);
  const result = await replayed(dir);
  assert.deepEqual([result.difference, result.machines], [null, ['pods']]);
});

test('a disk that answers other logs meanwhile is slow: it is waited for until it answers nobody for five seconds', async (t) => {
  ownTime(t);
  const disk: HeldDisk & { answeredAt?: () => number } = new HeldDisk();
  const { shard, lines } = shardOn(t, disk);
  const before = losses.stalls;
  disk.answeredAt = () => performance.now();
  disk.holds = true;
  const [first] = life;
  assert.ok(first !== undefined);
  shard.post('u1', first);
  for (let i = 0; i < 3; i++) {
    mock.timers.tick(5_000);
    await turn();
  }
  assert.deepEqual(
    [shard.handled, losses.stalls - before, lines.filter((line) => line.includes('JRN012'))],
    [0, 0, []],
  );
  disk.answeredAt = () => 0;
  mock.timers.tick(5_000);
  await turn();
  assert.deepEqual([shard.handled, losses.stalls - before], [1, 1]);
  disk.answer();
  shard.close();
});

test('a segment that had only begun when the disk was given up is none: the log has no hole', async (t) => {
  ownTime(t);
  const disk = new HeldDisk();
  disk.holds = true;
  const { shard, dir } = shardOn(t, disk);
  mock.timers.tick(5_000);
  await turn();
  for (const message of life.slice(0, 3)) {
    shard.post('u1', message);
    await turn();
  }
  disk.answer();
  assert.deepEqual(files(dir), []);
  const living = life.findIndex((message) => message.type === 'pod.terminate');
  for (const message of life.slice(3, living)) {
    shard.post('u1', message);
    await turn();
  }
  shard.close();
  assert.deepEqual(
    files(dir).map(({ name }) => name),
    ['shard-00-00000001.jsonl'],
  );
  assert.equal((await replayed(dir)).difference, null);
});

test('what waits for a disk is bounded', (t) => {
  ownTime(t);
  const disk = new HeldDisk();
  const { log, lines } = memoryLog();
  const dir = join(folder(t), 'journal');
  const journal = new MachineJournal(
    pods,
    { dir, agent: 'test', maxBytes: 1 << 30, log, disk },
    { shard: 0, settings },
    () => [],
  );
  disk.holds = true;
  const wide = { ...pod({}, 'u1'), metadata: { name: 'x'.repeat(1 << 20), uid: 'u1' } };
  for (let n = 0; n < 12; n++) {
    journal.message('u1', { type: 'pod.update', at: n, pod: { ...wide, spec: { containers: [], hostname: `${n}` } } });
    journal.flush();
  }
  assert.equal(lines.filter((line) => line.includes('JRN012')).length, 1);
  disk.answer();
  journal.close();
});
