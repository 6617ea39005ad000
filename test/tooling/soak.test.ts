import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeenContainer } from '../soak/container-lives.ts';
import { Invariants } from '../soak/invariants.ts';
import type { SeenPod } from '../soak/pod-rules.ts';
import { soakOptions } from '../soak/options.ts';
import { Random } from '../soak/random.ts';
import { PODS, QUIET_MS, drawSchedule } from '../soak/schedule.ts';
import { SHAPES, lacks, podOfShape } from '../soak/shapes.ts';
import type { Shape } from '../soak/shapes.ts';
import { trendOf } from '../soak/slopes.ts';
import type { Reading } from '../soak/slopes.ts';
import { UpTime } from '../soak/up-time.ts';
import { LIMITS, growing, wordFor } from '../soak/verdict.ts';

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

const running = (id: string, more: Partial<SeenContainer> = {}): SeenContainer => ({
  ...{ id, pod: 'p', podUid: 'u', name: 'a', running: true, attempt: 0 },
  ...more,
});
const ended = (id: string, more: Partial<SeenContainer> = {}): SeenContainer =>
  running(id, { running: false, ...more });

/** A pod whose container `a` is said to run as `id`, after so many restarts. */
const pod = (restartCount = 0, id = '1', more: Partial<SeenPod> = {}): SeenPod => ({
  ...{ uid: 'u', name: 'p', phase: 'Running' },
  containers: [{ name: 'a', restartCount, running: id, ids: [id] }],
  ...more,
});

/** Rules with a pod `p` of a shape that is to be there; a look is a list of pods and then one of containers. */
class Bench {
  readonly rules = new Invariants();
  now = 100_000;

  constructor(shape: Shape = 'plain', graceSeconds = 3) {
    this.rules.book.create('p', shape, graceSeconds);
  }

  /** `times`: when containers began and ended, ms. */
  look(pods: readonly SeenPod[], list: readonly SeenContainer[], times: Record<string, [number, number]> = {}): void {
    this.now += 1_000;
    this.rules.pods(pods, this.now);
    this.now += 10;
    const began = this.now;
    this.rules.containers(list, began, began + 10);
    for (const [id, [startedAt, finishedAt]] of Object.entries(times))
      this.rules.told(id, { startedAt, finishedAt, exitCode: 0 });
    this.rules.judge(began);
  }

  delete(): void {
    this.rules.book.deleting('p', this.now);
    this.rules.book.deleted('p', this.now);
  }

  get broken(): string[] {
    return this.rules.findings.violations.map((v) => v.rule);
  }
}

test('what is well is no violation', () => {
  const bench = new Bench('crash');
  bench.look([pod()], [running('1')], { 1: [100_500, 0] });
  bench.look([pod()], [ended('1')], { 1: [100_500, 102_000] });
  const second = running('2', { attempt: 1 });
  bench.look([pod(1, '2')], [ended('1'), second], { 2: [103_000, 0] });
  bench.rules.cgroups([{ podUid: 'u', id: '2' }]);
  bench.delete();
  bench.look([pod(1, '2')], [ended('2')], { 2: [103_000, 105_000] });
  bench.look([], []);
  bench.rules.cgroups([]);
  const process = { pid: 7, began: '1' };
  // what is not told of is not judged: its pod was deleted
  const before = new Map([
    ['1', process],
    ['2', process],
  ]);
  bench.rules.processes(before, new Map([['1', process]]));
  assert.deepEqual(bench.broken, []);
  assert.ok(Object.keys(bench.rules.findings.judged).length >= 10, 'the rules were asked');
});

/** A second container, a late start, and so on: each planted where a real node would show it. */
const PLANTED: Readonly<Record<string, readonly (() => Bench)[]>> = {
  'two of one name': [
    () => planted((b) => b.look([pod()], [running('1'), running('2', { attempt: 1 })])),
    // over before anybody looked: the runtime's own times tell
    () =>
      planted((b) => {
        const list = [ended('1'), ended('2', { attempt: 1 })];
        b.look([pod(1, '2')], list, { 1: [101_000, 103_000], 2: [102_000, 102_500] });
      }, 'crash'),
    () =>
      planted((b) => {
        b.look([pod()], [running('1'), ended('2')]);
        b.rules.cgroups(['1', '2'].map((id) => ({ podUid: 'u', id })));
      }),
  ],
  'runs without its pod': [
    () =>
      planted((b) => {
        b.look([pod()], [running('1')]);
        b.look([], [running('1')]);
      }),
  ],
  'processes without their pod': [
    () =>
      planted((b) => {
        b.look([pod()], [running('1')]);
        b.look([], []);
        b.rules.cgroups([{ podUid: 'u', id: '1' }]);
      }),
  ],
  'restart count fell': [
    () =>
      planted((b) => {
        b.look([pod(3)], [running('1', { attempt: 3 })]);
        b.look([pod(2)], [running('1', { attempt: 3 })]);
      }),
  ],
  'a restart that was none': [() => planted((b) => b.look([pod(1)], [running('1')]))],
  'terminal phase went back': [
    () =>
      planted((b) => {
        b.look([pod(0, '1', { phase: 'Failed' })], [ended('1')]);
        b.look([pod()], [ended('1')]);
      }),
  ],
  'start after the end': [
    () =>
      planted((b) => {
        b.look([pod(0, '1', { phase: 'Succeeded' })], [ended('1')]);
        b.look([pod(0, '1', { phase: 'Succeeded' })], [running('2')], { 2: [b.now + 500, 0] });
      }, 'job'),
  ],
  'start after deletion': [
    () =>
      planted((b) => {
        b.delete();
        b.look([pod()], [running('1')], { 1: [b.now + 6_000, 0] });
      }),
  ],
  'longer grace than asked': [
    () =>
      planted((b) => {
        b.look([pod()], [running('1')]);
        b.delete();
        for (let i = 0; i < 15; i++) b.look([pod()], [running('1')]);
      }),
  ],
  'shorter grace than asked': [
    () =>
      planted((b) => {
        b.look([pod()], [running('1')]);
        b.delete();
        b.look([pod()], [ended('1')], { 1: [100_500, b.now + 1_000] });
      }, 'slow'),
    () =>
      planted((b) => {
        b.look([pod()], [running('1')]);
        b.look([pod()], [ended('1')]);
      }, 'slow'),
  ],
  'restart of what ran': [
    () =>
      planted((b) => {
        const again = running('2', { attempt: 1 });
        b.look([pod(1, '2')], [ended('1'), again], { 1: [100_500, 101_000], 2: [101_500, 0] });
      }),
  ],
  'order of starts': [
    () =>
      planted((b) => {
        const list = [ended('1', { name: 'i' }), running('2', { name: 'j' })];
        b.look([pod()], list, { 1: [100_500, 101_000], 2: [100_900, 0] });
      }, 'init'),
    () =>
      planted((b) => {
        b.look([pod()], [running('1', { name: 's' }), running('2')], { 1: [100_500, 0], 2: [100_400, 0] });
      }, 'sidecar'),
  ],
  'order of ends': [
    () =>
      planted((b) => {
        b.delete();
        const list = [ended('1', { name: 's' }), ended('2')];
        b.look([pod()], list, { 1: [99_000, 101_000], 2: [99_500, 101_500] });
      }, 'sidecar'),
  ],
  'status of what never was': [
    () =>
      planted((b) => {
        for (let i = 0; i < 4; i++) b.look([pod(0, 'invented')], [running('1')]);
      }),
    () =>
      planted((b) => {
        for (let i = 0; i < 2; i++) b.look([pod()], [running('1', { podUid: 'other', pod: 'other' })]);
      }),
  ],
  'status far behind': [
    () =>
      planted((b) => {
        b.look([pod()], [running('1')]);
        for (let i = 0; i < 40; i++) b.look([pod()], [ended('1')]);
      }),
  ],
  'deletion that does not end': [
    () =>
      planted((b) => {
        b.delete();
        for (let i = 0; i < 70; i++) b.look([pod()], []);
      }),
  ],
  'unmounted under a container': [() => planted((b) => b.rules.volume('p', false))],
  'lost its process': [null, { pid: 8, began: '1' }, { pid: 7, began: '2' }].map(
    (now) => () => planted((b) => b.rules.processes(new Map([['1', { pid: 7, began: '1' }]]), new Map([['1', now]]))),
  ),
};

function planted(plant: (bench: Bench) => void, shape: Shape = 'plain'): Bench {
  const bench = new Bench(shape);
  plant(bench);
  return bench;
}

for (const [rule, cases] of Object.entries(PLANTED))
  test(`a planted violation is found: ${rule}`, () => {
    for (const [i, make] of cases.entries()) assert.ok(make().broken.includes(rule), `${rule}, case ${i + 1}`);
  });

test('what never ran has not ended too soon', () => {
  const bench = new Bench('slow');
  bench.look([pod()], [ended('1')], { 1: [0, 101_000] });
  assert.deepEqual(bench.broken, []);
});

test('what is found is told once', () => {
  const bench = new Bench();
  for (let i = 0; i < 3; i++) bench.look([pod()], [running('1'), running('2')]);
  assert.deepEqual(bench.broken, ['two of one name']);
});

test('time in which a part is away is no time of the node', () => {
  const up = new UpTime();
  up.down('agent', 1_000);
  up.down('apiServer', 2_000);
  up.up('agent', 3_000);
  up.up('apiServer', 4_000);
  up.down('containerd', 9_000);
  assert.equal(up.between(0, 10_000), 1_000 + 5_000);
  assert.equal(up.between(1_500, 3_500), 0);
  assert.equal(up.longest('apiServer'), 2_000);
  const bench = new Bench();
  bench.look([pod()], [running('1')]);
  bench.delete();
  bench.rules.up.down('apiServer', bench.now);
  for (let i = 0; i < 60; i++) bench.look([pod()], [running('1')]);
  assert.deepEqual(bench.broken, []);
});

const reading = (minute: number, value: number, more: Partial<Reading> = {}): Reading => ({
  ...{ minute, value, life: 1, age: minute + 10, load: 30 },
  ...more,
});

test('slopes are those of the line, an hour, and a new life does not hide growth', () => {
  const line = (life: number, from: number): Reading[] =>
    Array.from({ length: 120 }, (_, i) => reading(from + i / 12, 100 + 2 * (i / 12), { life }));
  assert.deepEqual(trendOf(line(1, 0)), {
    first: 100,
    last: 119.83333333333333,
    most: 119.83333333333333,
    perHour: 120,
    error: 0,
    minutes: 9.9,
  });
  assert.equal(trendOf([...line(1, 0), ...line(2, 10)])?.perHour, 120);
  assert.equal(trendOf([]), null);
  assert.equal(trendOf(line(1, 0).slice(0, 2))?.perHour, null);
});

test('growth of a young process, a short life and more containers are not taken for a leak', () => {
  const young = Array.from({ length: 24 }, (_, i) => reading(i / 12, 50 + 100 * i, { age: i / 12 }));
  const grown = Array.from({ length: 120 }, (_, i) => reading(2 + i / 12, 3_000, { age: 2 + i / 12 }));
  assert.equal(trendOf([...young, ...grown])?.perHour, 0);
  const short = Array.from({ length: 30 }, (_, i) => reading(i / 12, 10 * i));
  assert.equal(trendOf(short)?.perHour, null);
  const loaded = Array.from({ length: 240 }, (_, i) => {
    const load = 30 + Math.round(5 * Math.sin(i)) + i / 40;
    return reading(i / 12, 100 + 3 * load, { load });
  });
  assert.equal(trendOf(loaded)?.perHour, 0);
});

test('noise is stated with the slope', () => {
  const noisy = Array.from({ length: 240 }, (_, i) => reading(i / 12, 200 + 20 * Math.sin(i * i)));
  const trend = trendOf(noisy);
  assert.ok(trend?.perHour != null && trend.error !== null && Math.abs(trend.perHour) <= 2 * trend.error);
  assert.ok(trend.error > 1);
});

test('growth is judged in long runs, and one that was never read counts as growth', () => {
  const flat = { first: 1, last: 1, most: 1, perHour: 0, error: 1, minutes: 20 };
  const trends = Object.fromEntries(Object.keys(LIMITS).map((name) => [name, flat]));
  assert.deepEqual(growing(trends, 30), []);
  assert.equal(growing({ ...trends, mounts: { ...flat, perHour: 30 } }, 30).length, 1);
  assert.deepEqual(growing({ ...trends, mounts: null }, 30), ['mounts: not read for long enough']);
  assert.deepEqual(growing({}, 3), []);
  assert.equal(wordFor('mounts', flat), 'flat');
  assert.equal(wordFor('mounts', { ...flat, perHour: 30, error: 40 }), 'not certain');
  assert.equal(wordFor('containerd.fds', flat), 'not judged');
});

test('arguments', () => {
  assert.deepEqual(soakOptions([], 4), { minutes: 30, seed: 4 });
  assert.deepEqual(soakOptions(['--minutes', '3', '--seed', '9'], 4), { minutes: 3, seed: 9 });
  for (const bad of [['--minutes'], ['--minutes', 'x'], ['--seed', '-1'], ['--hours', '1']])
    assert.throws(() => soakOptions(bad, 1), /cannot make sense/);
});
