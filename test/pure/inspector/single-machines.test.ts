/** The inspector shows every machine that a node has one of, by its declaration alone. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import { explainStep } from '../../../actors/inspect/inspector/explain-step.ts';
import { SingleMachine } from '../../../actors/record/host/single-machine.ts';
import { admission } from '../../../actors/record/machines/admission.ts';
import { housekeeping } from '../../../actors/record/machines/housekeeping.ts';
import { SINGLES } from '../../../actors/record/machines/registry.ts';
import { bornAdmission } from '../../../machines/admission/admission-state.ts';
import { claimOf, nodeClaim } from '../../../machines/admission/pod-claim.ts';
import { NO_ORPHANS } from '../../../machines/housekeeping/orphans-machine.ts';
import { container, node, pod } from '../admission/admission-input.ts';
import { RULES } from '../admission/admission-rules.ts';
import { folder, memoryLog } from '../journal/journal-fixture.ts';
import { inspecting } from './made-journal.ts';

const journalIn = (dir: string, maxBytes = 1 << 20) => ({ dir, agent: 'v', maxBytes, log: memoryLog().log });
const asking = (name: string, cpu: string, generation = 1) => {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, generation };
  return claimOf(pod(name, { containers: [container('main', { cpu })] }, metadata));
};

/** After the segments of these tests have begun, ms since the epoch. */
const T = Date.now() + 600_000;

/** Housekeeping of which one folder stays from 2 s on. */
function untidy(dir: string) {
  const machine = new SingleMachine(housekeeping, NO_ORPHANS, journalIn(dir));
  const what = 'folder';
  machine.take({ type: 'orphans.found', at: T + 1_000, steady: 0, what, uids: ['a', 'b'] });
  machine.take({ type: 'orphan.stays', at: T + 2_000, steady: 0, what, uid: 'b', text: 'EBUSY: in use' });
  return machine;
}

test('a machine: its line, its state with why, its last messages in words, each step with what it remembered', async (t) => {
  const dir = folder(t);
  untidy(dir).close();
  const inspector = await inspecting(t, { mode: 'files', paths: [dir] });
  assert.deepEqual(inspector.pods(), [], 'it is no pod');
  const [line] = inspector.machines();
  assert.deepEqual(
    [line?.uid, line?.name, line?.source, line?.state, line?.steps],
    ['@housekeeping', 'housekeeping', 'machine', 'someStay', 2],
  );
  const [now] = (await inspector.overview(null)).machines;
  assert.deepEqual(
    [now?.state, now?.before, now?.since, now?.why],
    ['someStay', 'clean', T + 2_000, 'folder of b: EBUSY: in use'],
  );
  const words = now?.last.map(({ message, summary, effects }) => [
    message,
    summary,
    ...effects.map((e) => `${e.type} ${e.summary}`),
  ]);
  assert.deepEqual(words, [
    ['orphan.stays', 'folder, b, EBUSY: in use', 'orphan.tell folder, b, EBUSY: in use'],
    ['orphans.found', 'folder, uids a b', 'orphan.remove folder, a', 'orphan.remove folder, b'],
  ]);
  const [before] = (await inspector.overview(T + 1_500)).machines;
  assert.deepEqual([before?.state, before?.why, before?.last.length], ['clean', '', 1]);
  const detail = await inspector.step('@housekeeping', 1);
  const failure = { count: 1, until: 2_000, text: 'EBUSY: in use' };
  assert.deepEqual(detail?.context, { folder: { b: failure }, cgroup: {} });
  assert.deepEqual([detail?.machines.pod, detail?.line.before, detail?.line.after], ['someStay', 'clean', 'someStay']);

  const entry = inspector.entry('@housekeeping');
  assert.ok(entry);
  const summary = "the node's machine housekeeping is in someStay since 0 s: folder of b: EBUSY: in use";
  assert.equal((await explainStep(inspector, entry, 1))?.summary, summary);
  const told = await explainFromJournal({ pod: '@housekeeping', journals: [dir], now: T + 2_000 });
  assert.deepEqual(
    [told.summary, told.since, told.causes[0]?.text],
    [summary, T + 2_000, 'folder of b: EBUSY: in use'],
  );
  const earlier = await explainFromJournal({ pod: '@housekeeping', journals: [dir], now: T + 9_000, at: T + 1_500 });
  assert.equal(earlier.state, 'clean');
  await assert.rejects(explainFromJournal({ pod: '@pulls', journals: [dir], now: 1 }), { code: 'EXP001' });
});

test('pods of its log are named, also those of which only the beginning of a segment tells', async (t) => {
  const dir = folder(t);
  const born = { ...bornAdmission(RULES), node: nodeClaim(node()) };
  const first = new SingleMachine(admission, born, journalIn(dir));
  for (const name of ['a', 'b']) {
    first.take({ type: 'pod.asks', at: 1_000, pod: asking(name, '2') });
    first.take({ type: 'pod.comes', at: 1_001, pod: asking(name, '2') });
  }
  first.take({ type: 'pod.changed', at: 1_002, pod: asking('a', '3', 2), ready: true });
  // As if a segment had begun: it alone is left.
  const next = join(dir, 'next');
  const second = new SingleMachine(admission, first.state, journalIn(next));
  second.take({ type: 'resizes.due', at: 2_000, trigger: 'periodic_retry', ready: true });
  const waits = /^default\/a: Node didn't have enough resource: cpu/;
  for (const [where, steps] of [
    [dir, 5],
    [next, 1],
  ] as const) {
    const inspector = await inspecting(t, { mode: 'files', paths: [where] });
    const [now] = (await inspector.overview(null)).machines;
    assert.deepEqual([now?.uid, now?.state, inspector.machines()[0]?.steps], ['@admission', 'resizesWait', steps]);
    assert.match(now?.why ?? '', waits);
    if (where === dir) assert.match(now?.last[0]?.summary ?? '', /^default\/a, ready true$/);
  }
  first.close();
  second.close();
});

test('a running agent: news of a machine are told apart from those of pods', async (t) => {
  const dir = folder(t);
  const machine = untidy(dir);
  const inspector = await inspecting(t, { mode: 'live', dir });
  const heard: unknown[] = [];
  inspector.onChange(({ pods, machines, node: told }) =>
    heard.push([pods.length, machines.map(({ steps }) => steps), told]),
  );
  machine.take({ type: 'orphans.found', at: T + 3_000, steady: 9_000, what: 'folder', uids: [] });
  await inspector.refresh();
  assert.deepEqual(heard, [[0, [3], null]]);
  assert.equal((await inspector.overview(null)).machines[0]?.state, 'clean');
  machine.close();
});

test('all single machines of the registry go by a name', () => {
  for (const name of ['node', 'supervisor', 'looks', 'pulls', 'admission', 'housekeeping'])
    assert.equal(SINGLES.get(`@${name}`)?.name, name);
});
