/** Lines that nobody waits for share writes; what a pod does is written before it is done all the same. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { syncDisk } from '../../../actors/record/journal/log-disk.ts';
import type { LogDisk } from '../../../actors/record/journal/log-disk.ts';
import { SingleMachine } from '../../../actors/record/host/single-machine.ts';
import { status } from '../../../actors/record/machines/status.ts';
import { Shard } from '../../../actors/pods/shard/shard.ts';
import { NOTHING_TOLD } from '../../../machines/status-manager/status-entry.ts';
import { pod, settings } from '../pod/pod-world.ts';
import { files, folder, lifeOf, memoryLog, records, replayed } from './journal-fixture.ts';

const life = lifeOf(pod({}, 'u1'));

/** A disk that answers at once, asks for few writes, and refuses when it is told to. */
class CountingDisk implements LogDisk {
  readonly gathers = true;
  readonly texts: string[] = [];
  refuses = false;
  readonly begin: LogDisk['begin'] = syncDisk.begin;
  readonly end: LogDisk['end'] = syncDisk.end;
  readonly write: LogDisk['write'] = (fd, bytes, over) => {
    if (this.refuses) {
      over(new Error('no space'));
      return;
    }
    this.texts.push(bytes.toString());
    syncDisk.write(fd, bytes, over);
  };
}

function ownTime(t: TestContext): void {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
}

function statusMachine(dir: string, disk: LogDisk) {
  const { log } = memoryLog();
  return new SingleMachine(status, NOTHING_TOLD, { dir, agent: 'v', maxBytes: 1 << 20, log, disk });
}

/** Tells of so many pods. */
function tell(machine: ReturnType<typeof statusMachine>, from: number, to: number): void {
  for (let at = from; at < to; at++)
    machine.take({
      type: 'status.told',
      at,
      uid: `u${at}`,
      ofApi: true,
      state: 'syncing.running',
      urgency: 'now',
    });
}

test('what single machines are told and what came of it goes to the disk in one write, a moment later', async (t) => {
  ownTime(t);
  const disk = new CountingDisk();
  const dir = folder(t);
  const machine = statusMachine(dir, disk);
  tell(machine, 0, 5);
  assert.equal(disk.texts.length, 1, 'the opening of the segment only');
  mock.timers.tick(50);
  assert.equal(disk.texts.length, 2);
  assert.equal(disk.texts[1]?.split('\n').length, 11);
  tell(machine, 5, 7);
  machine.close();
  assert.equal(disk.texts.length, 3, 'what was gathered is written when the log is closed');
  mock.timers.tick(1_000);
  assert.equal(disk.texts.length, 3);
  const result = await replayed(dir);
  assert.deepEqual([result.difference, result.messages, result.unanswered], [null, 7, 0]);
});

test('much is written without waiting', (t) => {
  ownTime(t);
  const disk = new CountingDisk();
  const machine = statusMachine(folder(t), disk);
  tell(machine, 0, 3_000);
  assert.ok(disk.texts.length > 1);
  machine.close();
});

test("a pod's message is on the disk before it is handled, and what it came to goes with the next", async (t) => {
  ownTime(t);
  const disk = new CountingDisk();
  const { log } = memoryLog();
  const dir = folder(t);
  const seen: string[] = [];
  const shard = new Shard({
    settings,
    journal: { dir, shard: 0, agent: 'test', settings, maxBytes: 1 << 24, log, disk },
    log,
    now: () => 0,
    // A report is made while a message is handled.
    send: () => void seen.push(disk.texts.at(-1) ?? ''),
    run: () => new Promise(() => undefined),
  });
  const told = life.slice(0, 4);
  for (const message of told) {
    shard.post('u1', message);
    await turn();
    assert.match(disk.texts.at(-1) ?? '', new RegExp(`"r":"msg".*"type":"${message.type}"`));
  }
  assert.equal(disk.texts.length, 1 + told.length);
  assert.ok(seen.length > 0);
  mock.timers.tick(5);
  assert.match(disk.texts.at(-1) ?? '', /^\{"r":"step"/);
  shard.close();
  const result = await replayed(dir);
  assert.deepEqual([result.difference, result.messages, result.unanswered], [null, 4, 0]);
});

test('lines that were gathered when the disk refused are in no later segment', async (t) => {
  ownTime(t);
  const disk = new CountingDisk();
  const dir = folder(t);
  const now = t.mock.method(performance, 'now', () => 0);
  const machine = statusMachine(dir, disk);
  tell(machine, 0, 2);
  disk.refuses = true;
  mock.timers.tick(50);
  tell(machine, 2, 4);
  disk.refuses = false;
  now.mock.mockImplementation(() => 20_000);
  // This one is handled without a log, and the new segment begins with what it came to.
  tell(machine, 4, 5);
  tell(machine, 5, 6);
  machine.close();
  const kinds = records(`${dir}/${status.folder}`).map(({ r }) => r);
  assert.deepEqual(kinds.filter((kind) => kind === 'status.msg').length, 1);
  assert.equal(files(`${dir}/${status.folder}`).length, 2);
  assert.equal((await replayed(dir)).difference, null);
});
