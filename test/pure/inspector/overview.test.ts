import assert from 'node:assert/strict';
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Inspector } from '../../../actors/inspect/inspector/inspector.ts';
import type { Overview, StateHistory } from '../../../actors/inspect/inspector/inspector-api.ts';
import { MOST_SPANS } from '../../../actors/inspect/inspector/node-overview/fleet-history.ts';
import { MOST_WAITING } from '../../../actors/inspect/inspector/node-overview/waiting-pods.ts';
import { isWaiting } from '../../../machines/charts/state-tone.ts';
import { feed, folder, journalingShard, lifeOf } from '../journal/journal-fixture.ts';
import { inspecting, journalOfLives, podNamed, startOf, startPods } from './made-journal.ts';

const RELEASED = join(import.meta.dirname, '../journal/releases/0.1.0');
const NODE = join(RELEASED, 'node-shard-00-00000001.jsonl.gz');

/** How many pods are in which state at the end of a span. */
function countsAt(history: StateHistory, span: number): Record<string, number> {
  const some = history.states.flatMap(({ state, counts }): [string, number][] =>
    counts[span] === 0 ? [] : [[state, counts[span] ?? NaN]],
  );
  return Object.fromEntries(some);
}

/** The same, and who waits, counted from the steps that the API tells. */
function countedByHand(inspector: Inspector, at: number): { counts: Record<string, number>; waiting: string[] } {
  const counts: Record<string, number> = {};
  const waiting: string[] = [];
  for (const { uid } of inspector.pods()) {
    const steps = inspector.steps(uid, 0, 2_000)?.steps ?? [];
    const past = steps.filter((step) => step.at <= at);
    const last = past.at(-1);
    const began = past.findLastIndex(({ message }) => message === 'pod.start');
    const ended = past.slice(began).some(({ effects }) => effects.some(({ type }) => type === 'pod.Finished'));
    if (last === undefined || ended) continue;
    counts[last.after] = (counts[last.after] ?? 0) + 1;
    if (isWaiting(last.after)) waiting.push(uid);
  }
  return { counts, waiting: waiting.sort() };
}

test('pods by state: at the end of each span of a recorded journal the counts are those of the steps', async (t) => {
  const inspector = await inspecting(t, { mode: 'files', paths: [NODE] });
  const { history, from, to } = await inspector.overview(null);
  assert.ok(history.length > 50 && history.length <= MOST_SPANS);
  assert.ok(history.start <= from && history.start + history.length * history.width > to);
  for (let span = 0; span < history.length; span += 7) {
    const at = history.start + (span + 1) * history.width - 1;
    const { counts, waiting } = countedByHand(inspector, at);
    assert.deepEqual(countsAt(history, span), counts, `span ${String(span)}`);
    const told = (await inspector.overview(at)).waiting;
    assert.equal(told.total, waiting.length, `waiting at the end of span ${String(span)}`);
    assert.deepEqual(
      told.pods.map(({ uid }) => uid).sort(),
      waiting.length <= MOST_WAITING ? waiting : told.pods.map(({ uid }) => uid).sort(),
    );
  }
});

test('what waits: since it was last where it should be, longest first, at the step whose explanation is asked for', async (t) => {
  const inspector = await inspecting(t, { mode: 'files', paths: [NODE] });
  const { from, to } = await inspector.overview(null);
  const { waiting, at } = await inspector.overview(Math.round((from + to) / 2));
  assert.ok(waiting.pods.length >= 8);
  assert.deepEqual(
    waiting.pods.map(({ since }) => since),
    waiting.pods.map(({ since }) => since).sort((a, b) => a - b),
  );
  for (const { uid, since, step, state } of waiting.pods) {
    const steps = (inspector.steps(uid, 0, 2_000)?.steps ?? []).filter((s) => s.at <= at);
    assert.equal(steps.at(-1)?.index, step);
    assert.equal(steps.at(-1)?.after, state);
    const well = steps.findLastIndex(({ after }) => !isWaiting(after));
    assert.equal(since, steps[well + 1]?.at);
  }
});

test('slow calls: those of the steps that took longest, each at the step that brought its outcome', async (t) => {
  const inspector = await inspecting(t, { mode: 'files', paths: [NODE] });
  const check = async (at: number | null) => {
    const { calls, at: moment } = await inspector.overview(at);
    const longest = new Map<string, number>();
    for (const { uid } of inspector.pods())
      for (const { answers, summary, at: answered } of inspector.steps(uid, 0, 2_000)?.steps ?? []) {
        if (answers === undefined || answered > moment) continue;
        const key = `${uid} ${/^[\w.]+/.exec(summary)?.[0] ?? ''}`;
        longest.set(key, Math.max(longest.get(key) ?? 0, answers.ms));
      }
    const done = calls.filter(({ outcome }) => outcome !== 'underWay');
    assert.deepEqual(
      done.map(({ ms }) => ms),
      [...longest.values()].sort((a, b) => b - a).slice(0, done.length),
    );
    for (const call of calls) {
      const line = inspector.steps(call.uid, call.step, 1)?.steps[0];
      if (call.outcome === 'underWay') {
        assert.ok(line?.effects.some(({ type }) => type === call.type));
        assert.equal(call.ms, moment - call.at);
      } else {
        assert.deepEqual([line?.answers?.ms, line?.answers?.failed], [call.ms, call.outcome === 'failed']);
        assert.ok(line?.summary.startsWith(call.type));
      }
    }
    return calls;
  };
  const all = await check(null);
  assert.ok(all.some(({ outcome }) => outcome === 'failed'));
  const { history } = await inspector.overview(null);
  const early = await check(history.start + 12 * history.width - 1);
  assert.ok(
    early.some(({ outcome }) => outcome === 'underWay'),
    'a pull that has not ended yet is told as such',
  );
});

test('a call without an answer is under way, and grows; a restarted agent has forgotten it', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  await startPods(shard, [podNamed('a')], Date.now() - 60_000);
  const inspector = await inspecting(t, { mode: 'live', dir });
  const { calls, waiting } = await inspector.overview(null);
  assert.ok(calls.length > 0 && calls.every(({ outcome, ms }) => outcome === 'underWay' && ms >= 60_000));
  assert.deepEqual([waiting.total, waiting.pods[0]?.uid], [1, 'a']);
  shard.close();
  const again = journalingShard(dir);
  await startPods(again, [podNamed('b')]);
  again.close();
  await inspector.refresh();
  const later = await inspector.overview(null);
  assert.deepEqual(
    later.calls.filter(({ uid }) => uid === 'a'),
    [],
  );
  assert.deepEqual(
    later.waiting.pods.map(({ uid }) => uid),
    ['b'],
  );
});

test('a whole life is counted in and out again, over shards and rotated segments', async (t) => {
  const dir = folder(t);
  // Segments say when they began.
  t.mock.method(Date, 'now', () => lifeOf(podNamed('a'))[0]?.at ?? 0);
  const [life = []] = await journalOfLives(dir, [podNamed('a'), podNamed('b'), podNamed('c')], 1 << 16);
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const { history, from, to } = await inspector.overview(null);
  assert.deepEqual(countsAt(history, history.length - 1), {});
  const middle = (life[Math.floor(life.length / 2)]?.at ?? 0) - history.start;
  const inBetween = countsAt(history, Math.floor(middle / history.width));
  assert.equal(
    Object.values(inBetween).reduce((sum, count) => sum + count, 0),
    3,
  );
  assert.ok(to > from);
});

test('what is no longer in the journal is neither told nor led to', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir);
  await feed(shard, 'a', [startOf(podNamed('a'), 1_000)]);
  shard.close();
  const second = journalingShard(dir);
  await feed(second, 'b', [startOf(podNamed('b'), 50_000), { type: 'pod.sync', at: 60_000 }]);
  second.close();
  const inspector = await inspecting(t, { mode: 'live', dir });
  assert.equal((await inspector.overview(null)).from, 1_000);
  unlinkSync(join(dir, 'shard-00-00000001.jsonl'));
  await inspector.refresh();
  const { from, calls, waiting } = await inspector.overview(null);
  assert.equal(from, 50_000);
  assert.deepEqual([...new Set([...calls, ...waiting.pods].map(({ uid }) => uid))], ['b']);
});

test('a journal folder without a line: nothing, and no end of time to draw', async (t) => {
  const inspector = await inspecting(t, { mode: 'live', dir: folder(t) });
  const told = await inspector.overview(null);
  assert.deepEqual([told.node, told.calls, told.waiting, told.history.states], [null, [], { total: 0, pods: [] }, []]);
  assert.equal(told.history.length, 1);
});

test('5,000 pods: the answer stays small', async (t) => {
  const dir = folder(t);
  const shard = journalingShard(dir, { maxBytes: 1 << 28 });
  await startPods(
    shard,
    Array.from({ length: 5_000 }, (_, i) => podNamed(`pod-${String(i)}`)),
  );
  shard.close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  const told: Overview = await inspector.overview(null);
  assert.equal(told.waiting.total, 5_000);
  assert.equal(told.waiting.pods.length, MOST_WAITING);
  assert.equal(
    Object.values(countsAt(told.history, told.history.length - 1)).reduce((sum, count) => sum + count, 0),
    5_000,
  );
  assert.ok(JSON.stringify(told).length < 30_000, `${String(JSON.stringify(told).length)} bytes`);
});
