import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isCriticalPod } from '../../../machines/qos/critical-pod.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { exceeds } from '../../../machines/eviction/ranking.ts';
import type { Threshold } from '../../../machines/eviction/thresholds.ts';
import { EvictionBench, makePod, MINUTE, use } from './eviction-bench.ts';

const mebi = (n: number): string => `${n}Mi`;

const arbitraryPod = fc.record({
  priority: fc.constantFrom(-5, 0, 5, 2_000_000_000),
  asks: fc.nat(400),
  takes: fc.nat(800),
  isStatic: fc.boolean(),
  known: fc.boolean(),
});

const arbitraryThresholds = fc.array(
  fc.record(
    {
      graceMs: fc.constantFrom(0, 0, MINUTE, 3 * MINUTE),
      mebi: fc.integer({ min: 1, max: 1000 }),
      reclaim: fc.nat(500),
    },
    { requiredKeys: ['graceMs', 'mebi'] },
  ),
  { minLength: 1, maxLength: 3 },
);

/** A node of these pods; what is left is capacity less what its living pods take, and less `others`. */
class Node {
  readonly bench: EvictionBench;
  readonly capacity = 4000;
  readonly evicted: string[] = [];

  constructor(
    pods: readonly (typeof arbitraryPod extends fc.Arbitrary<infer P> ? P : never)[],
    thresholds: Threshold[],
  ) {
    this.bench = new EvictionBench(thresholds);
    this.bench.pods = pods.map(({ priority, asks, takes, isStatic, known }, i) => {
      const annotations: Record<string, string> =
        isStatic && i % 3 === 0 ? { 'kubernetes.io/config.source': 'file' } : {};
      const pod: Pod = makePod(`p${i}`, { priority, requests: { memory: mebi(asks) }, annotations });
      return { pod, ...(known && { figures: use({ memory: mebi(takes) }) }) };
    });
  }

  look(others: number, afterMs: number) {
    const taken = this.bench.pods.reduce(
      (sum, { figures }) => sum + (figures?.memory?.workingSetBytes ?? 0) / 2 ** 20,
      others,
    );
    const available = Math.max(0, Math.floor(this.capacity - taken)) * 2 ** 20;
    const capacity = this.capacity * 2 ** 20;
    const at = this.bench.now + afterMs;
    const evicted = this.bench.look({ 'memory.available': { available, capacity, at } }, afterMs);
    for (const { uid, name } of evicted) {
      this.evicted.push(name);
      this.bench.pods = this.bench.pods.filter(({ pod }) => pod.metadata?.uid !== uid);
    }
    return { evicted, available };
  }
}

function thresholdsOf(list: readonly { graceMs: number; mebi: number; reclaim?: number }[]): Threshold[] {
  return list.map(({ graceMs, mebi: value, reclaim }) => ({
    signal: 'memory.available',
    value: { quantity: mebi(value) },
    graceMs,
    ...(reclaim !== undefined && { minReclaim: { quantity: mebi(reclaim) } }),
  }));
}

const arbitraryLooks = fc.array(fc.record({ others: fc.nat(4000), afterMs: fc.integer({ min: 1, max: 4 * MINUTE }) }), {
  minLength: 1,
  maxLength: 25,
});

describe('whatever the pods and the thresholds are', () => {
  it('one pod goes at a time, never a critical one, and always the first of the ranking that may', () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryPod, { maxLength: 8 }),
        arbitraryThresholds,
        arbitraryLooks,
        (pods, list, looks) => {
          const node = new Node(pods, thresholdsOf(list));
          for (const { others, afterMs } of looks) {
            const before = node.bench.pods;
            const { evicted } = node.look(others, afterMs);
            assert.ok(evicted.length <= 1);
            const [victim] = evicted;
            if (victim === undefined) continue;
            const pod = before.find((each) => each.pod.metadata?.uid === victim.uid)?.pod;
            assert.ok(pod !== undefined && !isCriticalPod(pod));
            const ranking = node.bench.context.round?.ranking ?? [];
            const place = ranking.findIndex(({ uid }) => uid === victim.uid);
            assert.ok(ranking.slice(0, place).every(({ critical }) => critical === true));
            const self = ranking[place];
            // Nobody who asked for less than he takes stays while one goes who keeps what he asked for.
            if (self?.figures !== undefined && !exceeds(self))
              assert.ok(
                ranking.every((other) => other.critical === true || (other.figures !== undefined && !exceeds(other))),
              );
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('nobody goes while more is available than any threshold and minimum together', () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryPod, { maxLength: 5 }),
        arbitraryThresholds,
        arbitraryLooks,
        (pods, list, looks) => {
          const node = new Node(pods, thresholdsOf(list));
          const most = Math.max(...list.map(({ mebi: value, reclaim = 0 }) => value + reclaim)) * 2 ** 20;
          for (const { others, afterMs } of looks) {
            const { evicted, available } = node.look(others, afterMs);
            if (available >= most) assert.deepEqual(evicted, []);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('a soft threshold ends nobody before it has been met for its grace period without a break', () => {
    fc.assert(
      fc.property(fc.array(arbitraryPod, { maxLength: 5 }), arbitraryLooks, (pods, looks) => {
        const graceMs = 3 * MINUTE;
        const node = new Node(pods, thresholdsOf([{ graceMs, mebi: 600 }]));
        let since: number | null = null;
        for (const { others, afterMs } of looks) {
          const { evicted, available } = node.look(others, afterMs);
          const { now } = node.bench;
          since = available < 600 * 2 ** 20 ? (since ?? now) : null;
          if (evicted.length > 0) assert.ok(since !== null && now - since >= graceMs);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('pressure is told while a threshold is met, and ends when its cause has been over for the transition period; then it is calm', () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryPod, { maxLength: 5 }),
        arbitraryThresholds,
        arbitraryLooks,
        (pods, list, looks) => {
          const node = new Node(pods, thresholdsOf(list));
          const { bench } = node;
          let last: number | null = null;
          for (const { others, afterMs } of looks) {
            const { available } = node.look(others, afterMs);
            const met = list.some(({ mebi: value }) => available < value * 2 ** 20);
            if (met) last = bench.now;
            if (last !== null && bench.now - last < 5 * MINUTE)
              assert.deepEqual(bench.context.conditions, ['MemoryPressure']);
            assert.equal(bench.state, bench.context.conditions.length > 0 ? 'watching.pressed' : 'watching.calm');
          }
          // The cause is over for good: what is left of pods takes nothing.
          bench.pods = [];
          node.look(0, 1);
          node.look(0, 5 * MINUTE);
          assert.deepEqual(bench.context.conditions, []);
          const told = bench.orders.length;
          for (let i = 0; i < 10; i++) node.look(0, MINUTE);
          assert.equal(bench.orders.length, told, 'nothing goes on by itself');
        },
      ),
      { numRuns: 300 },
    );
  });

  it('a condition does not flap: it is told at most once in a transition period, however what is available swings', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 5, maxLength: 60 }), (swings) => {
        const node = new Node([], thresholdsOf([{ graceMs: 0, mebi: 500 }]));
        const changes: number[] = [];
        let posts = 0;
        for (const short of swings) {
          node.look(short ? 3900 : 0, 10_000);
          const now = node.bench.orders.filter(({ type }) => type === 'status.post').length;
          if (now > posts) changes.push(node.bench.now);
          posts = now;
        }
        // Every second change is the end of a condition, which comes a period after it was observed last.
        for (let i = 1; i < changes.length; i += 2) assert.ok((changes[i] ?? 0) - (changes[i - 1] ?? 0) >= 5 * MINUTE);
      }),
      { numRuns: 200 },
    );
  });
});
