/** A machine is journaled and replayed by its declaration alone. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MachineHost } from '../../../actors/record/host/machine-host.ts';
import { journalBatches, journalFiles } from '../../../actors/record/journal/journal-reader.ts';
import { MachineJournal } from '../../../actors/record/journal/machine-journal.ts';
import { Replayer, replayBatches } from '../../../actors/record/journal/replay.ts';
import type { ReplayResult } from '../../../actors/record/journal/replay.ts';
import { segmentsOf } from '../../../actors/record/journal/segment-files.ts';
import { journalsCompressed } from '../../../actors/record/journal/segment-log.ts';
import { journaled } from '../../../actors/record/machines/journaled-machine.ts';
import { JOURNALED } from '../../../actors/record/machines/registry.ts';
import { folder, memoryLog } from './journal-fixture.ts';

interface Till {
  coins: number;
  closed: boolean;
}
type TillMessage = { type: 'pay'; at: number; coins: number } | { type: 'close'; at: number };
interface TillOrder {
  type: 'bank.Bring';
  coins: number;
}

/** Takes coins, and has ten of them or more brought to the bank. */
const till = journaled<Till, TillMessage, TillOrder>({
  name: 'till',
  step: (state, message) => {
    if (message.type === 'close') return { state: { ...state, closed: true }, outputs: [] };
    if (state.closed) throw new Error('the till is closed');
    const coins = state.coins + message.coins;
    if (coins < 10) return { state: { ...state, coins }, outputs: [] };
    return { state: { ...state, coins: 0 }, outputs: [{ type: 'bank.Bring', coins }] };
  },
  stateName: ({ closed }) => (closed ? 'closed' : 'open'),
});
const machines = [...JOURNALED, till];

/** A till whose messages are journaled, and what it has carried out. */
function tillIn(dir: string, maxBytes = 1 << 20) {
  const hosted = { key: '', state: { coins: 0, closed: false } };
  const journal = new MachineJournal(till, { dir, agent: 'v', maxBytes, log: memoryLog().log }, {}, () => [hosted]);
  const host = new MachineHost(till, journal);
  const close = () => journal.close();
  return { hosted, close, take: (message: TillMessage) => host.take(hosted, message) };
}

async function replayed(dir: string, known = machines): Promise<ReplayResult & { kinds: string[] }> {
  const kinds: string[] = [];
  const replayer = new Replayer({ machines: known, onUnknownKind: (kind) => kinds.push(kind) });
  const batches = journalBatches(await journalFiles([dir], machines));
  return { ...(await replayBatches(batches, replayer, { onDifference: () => false })), kinds };
}

test('a declared machine is recorded and replayed; what was changed in the record is found', async (t) => {
  const dir = folder(t);
  const one = tillIn(dir);
  const path = join(dir, 'till', 'till-00000001.jsonl');
  assert.deepEqual(one.take({ type: 'pay', at: 1, coins: 7 }), []);
  assert.deepEqual(one.take({ type: 'pay', at: 2, coins: 5 }), [{ type: 'bank.Bring', coins: 12 }]);
  one.take({ type: 'close', at: 3 });
  assert.throws(() => one.take({ type: 'pay', at: 4, coins: 1 }), /closed/);
  assert.deepEqual(one.hosted.state, { coins: 0, closed: true }, 'what threw has changed nothing');
  one.close();
  const text = readFileSync(path, 'utf8');
  assert.deepEqual(text.trimEnd().split('\n').slice(1, 5), [
    '{"r":"till.msg","n":1,"m":{"type":"pay","at":1,"coins":7}}',
    '{"r":"till.step","n":1,"s":"open","o":[]}',
    '{"r":"till.msg","n":2,"m":{"type":"pay","at":2,"coins":5}}',
    '{"r":"till.step","n":2,"s":"open","o":[{"type":"bank.Bring","coins":12}]}',
  ]);
  assert.match(text, /\{"r":"till\.fault","n":4,"error":"Error: the till is closed/);
  const whole = await replayed(dir);
  assert.deepEqual(whole, { messages: 4, pods: 0, machines: ['till'], difference: null, unanswered: 0, kinds: [] });

  const changed = async (from: string, to: string) => {
    assert.ok(text.includes(from));
    writeFileSync(path, text.replace(from, to));
    const { difference } = await replayed(dir);
    return [difference?.pod, difference?.what, difference?.recorded, difference?.computed];
  };
  const [bring, other] = ['{"type":"bank.Bring","coins":12}', '{"type":"bank.Bring","coins":11}'];
  assert.deepEqual(await changed(bring, other), ['till', 'order 1 of 1', other, bring]);
  assert.deepEqual(await changed('"at":2,"coins":5', '"at":2,"coins":4'), ['till', 'order 1 of 1', bring, other]);
  assert.deepEqual(await changed('"s":"closed"', '"s":"open"'), ['till', 'state', 'open', 'closed']);
  assert.deepEqual(await changed('"type":"close"', '"type":"pay","coins":0'), ['till', 'state', 'closed', 'open']);

  writeFileSync(path, text);
  const elder = await replayed(dir, [...JOURNALED]);
  assert.deepEqual([elder.messages, elder.machines, new Set(elder.kinds).size], [0, [], 4], 'it is named, not damage');
});

test('its segments begin with its place, so that each can be read alone', async (t) => {
  const dir = folder(t);
  const one = tillIn(dir, 4_096);
  for (let i = 0; i < 40; i++) one.take({ type: 'pay', at: i, coins: 3 });
  one.close();
  await journalsCompressed();
  const segments = segmentsOf(join(dir, 'till'), 'till');
  assert.ok(segments.length > 2, String(segments.length));
  let messages = 0;
  for (const { path } of segments) {
    const alone = await replayed(path);
    assert.equal(alone.difference, null, path);
    messages += alone.messages;
  }
  assert.ok(messages > 10, String(messages));
});
