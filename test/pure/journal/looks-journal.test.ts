/** Which pods the supervisor waits to be looked at: that log replays, what was changed in it is found, and most looks are not in it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { SupervisorMessage } from '../../../machines/supervisor/supervisor-context.ts';
import type { PodConfigUpdate } from '../../../machines/sources/pod-config.ts';
import { seenPod, supervisorWith } from '../supervisor/supervisor-bench.ts';
import { folder, memoryLog, replayed } from './journal-fixture.ts';

const pod = (uid: string): Pod => ({ metadata: { uid, name: uid, namespace: 'default' }, spec: { containers: [] } });
const config = (op: PodConfigUpdate['op'], uid: string, at = 1): SupervisorMessage => ({
  type: 'config',
  at,
  update: { op, source: 'file', pods: [pod(uid)] },
});
const seen = (uid: string, began: number, at: number): SupervisorMessage => ({
  type: 'seen',
  at,
  observed: seenPod(uid, began),
});

/** A pod that the runtime holds waits for its look, its worker dies, a look is from before, one from a clock that was set back. */
function story(dir: string): string[] {
  const did: string[] = [];
  const supervisor = supervisorWith({
    held: (uid) => uid === 'held',
    observe: (uid) => did.push(`look at ${uid}`),
    post: (_shard, uid, { type }) => did.push(`${uid} ${type}`),
    journal: { dir, agent: 'v', maxBytes: 1 << 20, log: memoryLog().log },
  });
  supervisor.take(config('ADD', 'held'));
  supervisor.take(config('ADD', 'new'));
  supervisor.take(config('UPDATE', 'held'));
  supervisor.take(seen('held', 2, 3));
  for (let at = 10; at < 20; at++) supervisor.take(seen('held', at, at));
  supervisor.take({ type: 'shardReplaced', at: 100, shard: 0 });
  supervisor.take(seen('held', 90, 110));
  supervisor.take(seen('held', 300, 120));
  supervisor.take(seen('held', 125, 130));
  supervisor.take(config('REMOVE', 'new', 140));
  supervisor.close();
  return did.filter((what) => !what.endsWith('pod.observed'));
}

test('who waits for which look is journaled, replays, and looks that change nothing are not in it', async (t) => {
  const dir = folder(t);
  const did = story(dir);
  assert.deepEqual(did, [
    'look at held',
    'new pod.start',
    'held pod.start',
    'look at held',
    'look at new',
    'look at held',
    'look at held',
    'held pod.start',
  ]);
  const path = join(dir, 'looks', 'looks-00000001.jsonl');
  const text = readFileSync(path, 'utf8');
  const messages = text.split('\n').filter((line) => line.startsWith('{"r":"looks.msg"'));
  const types = messages.map((line) => (JSON.parse(line) as { m: { type: string } }).m.type);
  assert.equal(types.filter((type) => type === 'look.came').length, 4, 'not the ten that nobody waited for');
  assert.equal(types.filter((type) => type === 'look.start').length, 4);
  const whole = await replayed(dir);
  assert.deepEqual([whole.difference, whole.machines], [null, ['supervisor', 'looks']]);

  const changed = async (from: string, to: string) => {
    assert.ok(text.includes(from), from);
    writeFileSync(path, text.replace(from, to));
    const { difference } = await replayed(dir);
    return [difference?.pod, difference?.what, difference?.recorded, difference?.computed];
  };
  const [go, keep] = ['{"type":"orders.go","uid":"new"}', '{"type":"orders.keep","uid":"new"}'];
  assert.deepEqual(await changed(go, keep), ['looks', 'order 1 of 1', keep, go]);
  assert.deepEqual((await changed('"held":true', '"held":false')).slice(0, 2), ['looks', 'state']);
  assert.deepEqual((await changed('"began":90', '"began":105')).slice(0, 2), ['looks', 'order 1 of 1']);
});
