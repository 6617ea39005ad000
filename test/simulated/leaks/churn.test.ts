import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../agent/support/bench.ts';
import { Churn } from './support/churn.ts';
import { HeapGraph } from './support/heap-graph.ts';
import type { Allowed } from './support/heap-graph.ts';

/** Pods before the first look, and between one look and the next. */
const FIRST = 80;
const MORE = 160;
const ROUND = 80;

/**
 * More objects of one class for each pod that is gone are a leak, which has one for each at least: fewer are code that was loaded
 * and series of metrics that came up meanwhile (up to 61 in all were seen).
 */
const MOST_PER_POD = 0.7;

/**
 * What holds things of pods that are gone, as it should: each has a bound, 4,096 and 1,000 entries; and what pods took when they were measured last,
 * which the next measurement replaces after five minutes at the latest.
 */
const BOUNDED: readonly Allowed[] = [
  { of: 'Object', edge: 'soundings' },
  { of: 'ApiEvents', edge: 'correlator' },
  { of: 'EventRecorder', edge: 'kept' },
];

test('nothing of the agent, in main or a worker, holds a pod that is gone', async (t) => {
  const ends: (() => unknown)[] = [];
  t.after(async () => {
    for (const end of ends.reverse()) await end();
  });
  const churn = await Churn.start(ends);
  const names: string[] = [];
  while (churn.gone < FIRST) names.push(...(await churn.pass(ROUND)));
  const look = async (name: string) => {
    // What waits for a second or two, as for a last relist, is over then.
    await sleep(3_000);
    const heaps = await churn.agent.heap(join(churn.dir, name));
    return heaps.map(({ thread }) => new HeapGraph(join(churn.dir, `${name}.${thread}.heapsnapshot`), BOUNDED));
  };
  let before = (await look('first')).map((graph) => graph.classes());
  const found = (after: readonly HeapGraph[]): string[] => {
    const early = new Set([...names.slice(0, -ROUND), ...churn.uids.slice(0, -ROUND)]);
    const anyEarly = new RegExp([...early].map((name) => `${name}(?![0-9])`).join('|'));
    return after.flatMap((graph, i) => {
      const thread = i === 0 ? 'main' : `worker ${i}`;
      const held = graph.texts(anyEarly).map(({ text, way }) => `${thread}: ${text.slice(0, 200)}: ${way}`);
      const most = [...graph.classes()].map(([name, count]) => [count - (before[i]?.get(name) ?? 0), name] as const);
      most.sort((one, other) => other[0] - one[0]);
      t.diagnostic(`${thread}: ${most.slice(0, 8).join('; ')}`);
      const grown = most.flatMap(([more, name]) =>
        more > MORE * MOST_PER_POD ? [`${thread}: ${more} more of ${name}, as ${graph.wayToOne(name)}`] : [],
      );
      return [...held.slice(0, 10), ...grown];
    });
  };
  // What a call under way holds is gone with it, and what is made for the first time is made once: a leak is there each time.
  let problems: string[] = [];
  for (const name of ['second', 'third', 'fourth']) {
    const target = churn.gone + MORE;
    while (churn.gone < target) names.push(...(await churn.pass(ROUND)));
    const after = await look(name);
    assert.equal(after.length, 3, 'main and two workers');
    problems = found(after);
    if (problems.length === 0) break;
    before = after.map((graph) => graph.classes());
  }
  assert.deepEqual(problems, []);
  // Housekeeping takes away what the last pods left, when it comes by.
  await until('the folders of pods to go', async () => (await churn.folders()).length === 0, { agent: churn.agent });
});
