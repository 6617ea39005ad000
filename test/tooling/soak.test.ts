import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Invariants } from '../soak/invariants.ts';
import type { SeenContainer, SeenPod } from '../soak/invariants.ts';
import { soakOptions } from '../soak/options.ts';
import { Random } from '../soak/random.ts';
import { PODS, QUIET_MS, drawSchedule } from '../soak/schedule.ts';
import { SHAPES, lacks, podOfShape } from '../soak/shapes.ts';
import type { Shape } from '../soak/shapes.ts';
import { trendOf } from '../soak/slopes.ts';
import type { Reading } from '../soak/slopes.ts';
import { growing } from '../soak/verdict.ts';

test('a seed gives one schedule, and another seed another', () => {
  assert.deepEqual(drawSchedule(5, 3), drawSchedule(5, 3));
  assert.notDeepEqual(drawSchedule(5, 3), drawSchedule(6, 3));
});

test('thirty places with one pod at a time, kills of all kinds, nothing in the quiet time', () => {
  const acts = drawSchedule(11, 30);
  assert.deepEqual(
    acts.map((a) => a.at),
    acts.map((a) => a.at).sort((a, b) => a - b),
  );
  assert.ok(acts.every((a) => a.at < 30 * 60_000 - QUIET_MS));
  const living = new Set<string>();
  const names = new Set<string>();
  let most = 0;
  for (const act of acts) {
    if (act.do === 'create') {
      const place = act.name.split('-')[0] ?? '';
      assert.ok(!names.has(act.name) && !living.has(place), act.name);
      names.add(act.name);
      living.add(place);
    } else if (act.do === 'delete') assert.ok(living.delete(act.name.split('-')[0] ?? ''), act.name);
    most = Math.max(most, living.size);
  }
  assert.equal(most, PODS);
  const victims = acts.flatMap((a) => (a.do === 'kill' ? [a.victim] : []));
  assert.deepEqual([...new Set(victims)].sort(), ['agent', 'apiServer', 'containerd', 'worker']);
  const shapes = acts.flatMap((a) => (a.do === 'create' ? [a.shape] : []));
  assert.deepEqual([...new Set(shapes)].sort(), Object.keys(SHAPES).sort());
  const agents = acts.flatMap((a) => (a.do === 'kill' && a.victim === 'agent' ? [a.at] : []));
  const gaps = agents.slice(1).map((at, i) => at - (agents[i] ?? 0));
  assert.ok(Math.max(...gaps) >= 14 * 60_000, 'one agent lives for half of a long run');
});

test('draws are spread over their range', () => {
  const random = new Random(1);
  const drawn = Array.from({ length: 2_000 }, () => random.int(1, 4));
  for (const n of [1, 2, 3, 4]) assert.ok(Math.abs(drawn.filter((d) => d === n).length - 500) < 100, String(n));
});

test('each shape is a manifest of its own, and knows when it is done', () => {
  for (const shape of Object.keys(SHAPES) as Shape[]) {
    const manifest = podOfShape(shape, 'p', 'n', 2);
    assert.deepEqual([manifest.kind, (manifest['spec'] as { nodeName: string }).nodeName], ['Pod', 'n']);
    assert.notEqual(lacks(shape, {}), '', `${shape}: nothing is known of it`);
  }
  assert.equal(lacks('job', { status: { phase: 'Succeeded' } }), '');
});

const running = (id: string, podUid = 'u', name = 'a'): SeenContainer => ({ id, podUid, name, running: true });
const pod = (more: Partial<SeenPod> = {}): SeenPod => ({
  uid: 'u',
  name: 'p',
  phase: 'Running',
  restarts: { a: 1 },
  ...more,
});

test('what is well is no violation', () => {
  const rules = new Invariants();
  rules.pods([pod()]);
  rules.containers([running('1'), { ...running('0'), running: false }, running('2', 'u', 'b'), running('3', 'v')]);
  rules.pods([pod({ restarts: { a: 2 } })]);
  rules.pods([pod({ restarts: {}, phase: 'Failed' })]);
  rules.pods([]);
  rules.containers([{ ...running('1'), running: false }, running('3', 'v')]);
  const process = { pid: 7, began: '1' };
  // what is not told of is not judged: its pod was deleted
  rules.processes(
    new Map([
      ['1', process],
      ['2', process],
    ]),
    new Map([['1', process]]),
  );
  assert.deepEqual(rules.violations, []);
  assert.equal(rules.checks, 7);
});

test('each planted violation is found, once', () => {
  const find = (plant: (rules: Invariants) => void): string[] => {
    const rules = new Invariants();
    plant(rules);
    plant(rules);
    return rules.violations.map((v) => v.rule);
  };
  assert.deepEqual(
    find((r) => r.containers([running('1'), running('2')])),
    ['two of one name'],
  );
  assert.deepEqual(
    find((r) => {
      r.pods([pod()]);
      r.pods([]);
      r.containers([running('1')]);
    }),
    ['runs without its pod'],
  );
  assert.deepEqual(
    find((r) => {
      r.pods([pod({ restarts: { a: 3 } })]);
      r.pods([pod({ restarts: { a: 2 } })]);
    }),
    ['restart count fell'],
  );
  assert.deepEqual(
    find((r) => {
      r.pods([pod({ phase: 'Failed' })]);
      r.pods([pod({ phase: 'Running' })]);
    }),
    ['terminal phase went back'],
  );
  const before = new Map([['1', { pid: 7, began: '1' }]]);
  for (const now of [null, { pid: 8, began: '1' }, { pid: 7, began: '2' }])
    assert.deepEqual(
      find((r) => r.processes(before, new Map([['1', now]]))),
      ['lost its process'],
    );
});

test('slopes are those of the line, and a new life does not hide growth', () => {
  const line = (life: number, from: number, level: number): Reading[] =>
    Array.from({ length: 10 }, (_, i) => ({ minute: from + i, value: level + 2 * i, life }));
  assert.deepEqual(trendOf(line(1, 0, 100)), { first: 100, last: 118, most: 118, slope: 2, slopeWithinLives: 2 });
  const two = trendOf([...line(1, 0, 100), ...line(2, 10, 100)]);
  assert.equal(two?.slopeWithinLives, 2);
  assert.ok((two?.slope ?? 9) < 1, 'each life begins where the last one did');
  assert.equal(trendOf([]), null);
  assert.equal(trendOf(line(1, 0, 1).slice(0, 2))?.slope, null);
});

test('growth is judged in long runs, and one that was never read counts as growth', () => {
  const flat = { first: 1, last: 1, most: 1, slope: 0, slopeWithinLives: 0 };
  const names = ['actorlet.rssMiB', 'actorlet.fds', 'actorlet.threads', 'mounts', 'cgroups'];
  const trends = Object.fromEntries(names.map((name) => [name, flat]));
  assert.deepEqual(growing(trends, 30), []);
  assert.deepEqual(growing({ ...trends, mounts: { ...flat, slopeWithinLives: 3 } }, 30).length, 1);
  assert.deepEqual(growing({ ...trends, mounts: null }, 30), ['mounts: no readings']);
  assert.deepEqual(growing({}, 3), []);
});

test('arguments', () => {
  assert.deepEqual(soakOptions([], 4), { minutes: 30, seed: 4 });
  assert.deepEqual(soakOptions(['--minutes', '3', '--seed', '9'], 4), { minutes: 3, seed: 9 });
  for (const bad of [['--minutes'], ['--minutes', 'x'], ['--seed', '-1'], ['--hours', '1']])
    assert.throws(() => soakOptions(bad, 1), /cannot make sense/);
});
