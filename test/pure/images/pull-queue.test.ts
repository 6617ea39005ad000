import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  askForPull,
  emptyPullQueue,
  leavePull,
  letGo,
  placeInQueue,
  pullHasEnded,
} from '../../../machines/images/pull-queue.ts';
import type { PullOrder, PullQueue, PullTurn } from '../../../machines/images/pull-queue.ts';

/** A queue on a bench: who was answered, what began and what was ended, in order. */
class QueueBench {
  queue: PullQueue;
  readonly begun: { id: number; right: string; askers: readonly string[] }[] = [];
  readonly ended: number[] = [];
  readonly held: number[] = [];
  readonly answered: string[] = [];
  private asked = 0;

  constructor(limit: number | null) {
    this.queue = emptyPullQueue(limit);
  }

  ask(right: string, { fresh = false, retry = false } = {}): string {
    const asker = `a${++this.asked}`;
    this.take(askForPull(this.queue, { asker, right, image: `image-${right}`, fresh, retry }));
    return asker;
  }

  /** Lets the pull go that has been held the longest. */
  letGo(): readonly string[] {
    const turn = letGo(this.queue, this.held.shift() ?? 0);
    this.take(turn);
    return turn.askers;
  }

  leave(asker: string): void {
    this.take(leavePull(this.queue, asker));
  }

  end(id: number): readonly string[] {
    const turn = pullHasEnded(this.queue, id);
    this.answered.push(...turn.askers);
    this.take(turn);
    return turn.askers;
  }

  get underWay(): number[] {
    return this.queue.underWay.map(({ id }) => id);
  }

  private take({ queue, orders }: PullTurn): void {
    this.queue = queue;
    for (const { do: what, pull } of orders as PullOrder[]) {
      if (what === 'begin') this.begun.push(pull);
      else (what === 'end' ? this.ended : this.held).push(pull.id);
    }
  }
}

test('sixty who ask for one image with one right share one pull, and its end is told to all', () => {
  const bench = new QueueBench(1);
  const askers = Array.from({ length: 60 }, () => bench.ask('a'));
  assert.equal(bench.begun.length, 1);
  assert.deepEqual(bench.end(1), askers);
  assert.deepEqual(bench.queue.underWay, []);
});

test('another right is another pull, and waits for its turn', () => {
  const bench = new QueueBench(1);
  bench.ask('a');
  const other = bench.ask('b');
  assert.deepEqual(placeInQueue(bench.queue, other), { place: 1, underWay: ['image-a'], before: [], more: 0 });
  bench.end(1);
  assert.deepEqual(
    bench.begun.map(({ right }) => right),
    ['a', 'b'],
  );
  assert.equal(placeInQueue(bench.queue, other), null);
});

test('who wants what the tag means now joins no pull that has begun, but one that waits; it begins when the other has ended', () => {
  const bench = new QueueBench(null);
  bench.ask('a');
  const fresh = [bench.ask('a', { fresh: true }), bench.ask('a', { fresh: true })];
  const late = bench.ask('a');
  assert.equal(bench.begun.length, 1, 'never two pulls of one right at once');
  assert.deepEqual(bench.end(1), ['a1', late], 'who found nothing is content with the one that has begun');
  assert.deepEqual(bench.begun[1]?.askers, fresh);
});

test('a pull whose right is being pulled holds up no other', () => {
  const bench = new QueueBench(2);
  bench.ask('a');
  bench.ask('a', { fresh: true });
  bench.ask('b');
  assert.deepEqual(
    bench.begun.map(({ right }) => right),
    ['a', 'b'],
  );
});

test('who leaves ends the pull only when he is the last; one that waits never begins then', () => {
  const bench = new QueueBench(1);
  const [one, two, other] = [bench.ask('a'), bench.ask('a'), bench.ask('b')];
  bench.leave(one);
  assert.deepEqual(bench.ended, []);
  bench.leave(other);
  assert.deepEqual(bench.queue.waiting, []);
  bench.leave(two);
  assert.deepEqual(bench.ended, [1]);
  const next = bench.ask('a');
  assert.equal(
    bench.begun.length,
    1,
    'a pull that is being ended is joined by nobody, and keeps its place until it has ended',
  );
  assert.deepEqual(bench.end(1), []);
  assert.deepEqual(bench.begun[1]?.askers, [next]);
});

test('the next try of a pull that failed is held for a moment, so that all who were told so share it; others pass it', () => {
  const bench = new QueueBench(1);
  const askers = [bench.ask('a', { fresh: true, retry: true }), bench.ask('a', { fresh: true, retry: true })];
  assert.deepEqual([bench.begun, bench.held], [[], [1]], 'held once');
  assert.equal(placeInQueue(bench.queue, 'a1'), null, 'it is not told of a wait that is over at once');
  bench.ask('b');
  assert.deepEqual(
    bench.begun.map(({ right }) => right),
    ['b'],
  );
  assert.deepEqual(bench.letGo(), askers);
  assert.equal(placeInQueue(bench.queue, 'a1')?.place, 1);
  bench.end(2);
  assert.deepEqual(bench.begun[1]?.askers, askers);
  assert.deepEqual(bench.letGo(), [], 'one that is gone');
});

test('of many that are ahead only some are named', () => {
  const bench = new QueueBench(5);
  for (const right of 'abcdefghijk') bench.ask(right);
  const asker = bench.ask('z');
  assert.deepEqual(placeInQueue(bench.queue, asker), {
    place: 7,
    underWay: ['image-a', 'image-b', 'image-c'],
    before: ['image-f', 'image-g', 'image-h'],
    more: 5,
  });
});

type Move =
  { do: 'ask'; right: number; fresh: boolean; retry: boolean } | { do: 'leave' | 'end' | 'letGo'; which: number };

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      right: fc.nat(4),
      fresh: fc.boolean(),
      retry: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('leave' as const, 'end' as const, 'letGo' as const),
      which: fc.nat(20),
    }),
  },
);

/** What holds at every moment, whatever happens. */
function check(bench: QueueBench): void {
  const { limit, underWay, waiting } = bench.queue;
  const rights = (pulls: typeof underWay) => pulls.map(({ right }) => right);
  assert.ok(limit === null || underWay.length <= limit, 'no more at once than the limit says');
  assert.equal(new Set(rights(underWay)).size, underWay.length, 'never two pulls at once for one right');
  assert.equal(new Set(rights(waiting)).size, waiting.length, 'one waiting pull is enough for one right');
  assert.ok(waiting.every(({ askers }) => askers.length > 0));
  const idle = limit === null || underWay.length < limit;
  const busy = new Set(rights(underWay));
  assert.ok(!idle || waiting.every(({ right, held }) => held || busy.has(right)), 'nobody waits who could begin');
  const ids = waiting.map(({ id }) => id);
  assert.deepEqual(
    ids,
    [...ids].sort((a, b) => a - b),
    'in the order in which they were asked for',
  );
}

test('whatever happens: one pull at a time for a right, everyone answered once, first come first served', () => {
  fc.assert(
    fc.property(fc.option(fc.integer({ min: 1, max: 3 })), fc.array(move, { maxLength: 60 }), (limit, moves) => {
      const bench = new QueueBench(limit);
      const open = new Set<string>();
      const left = new Set<string>();
      /** By asker: how many pulls had begun, and of which right, when he asked for one that begins later. */
      const freshAt = new Map<string, number>();
      for (const step of moves) {
        const before = bench.queue;
        const begunBefore = bench.begun.length;
        if (step.do === 'ask') {
          const asker = bench.ask(String(step.right), step);
          open.add(asker);
          if (step.fresh) freshAt.set(asker, begunBefore);
        } else if (step.do === 'leave') {
          const asker = [...open][step.which % Math.max(1, open.size)];
          if (asker === undefined) continue;
          bench.leave(asker);
          open.delete(asker);
          left.add(asker);
        } else if (step.do === 'letGo') {
          bench.letGo();
        } else {
          const id = bench.underWay[step.which % Math.max(1, bench.underWay.length)];
          if (id === undefined) continue;
          const index = bench.begun.findIndex((pull) => pull.id === id);
          for (const asker of bench.end(id)) {
            assert.ok(open.delete(asker), `${asker} was answered twice, or had left`);
            assert.ok(index >= (freshAt.get(asker) ?? 0), `${asker} asked after its pull had begun`);
          }
        }
        check(bench);
        // Of those that waited, one that was asked for earlier begins first, unless its right is being pulled.
        for (const { id } of bench.begun.slice(begunBefore))
          for (const earlier of before.waiting.filter((pull) => pull.id < id)) {
            const waits = bench.queue.waiting.some((pull) => pull.id === earlier.id && !pull.held);
            assert.ok(!waits || bench.queue.underWay.some(({ right }) => right === earlier.right));
          }
      }
      for (const id of bench.ended) assert.ok(bench.queue.underWay.every((p) => p.id !== id || p.askers.length === 0));
      // Whatever is left comes to its end.
      while (bench.held.length > 0) bench.letGo();
      for (let id = bench.underWay[0]; id !== undefined; id = bench.underWay[0])
        for (const asker of bench.end(id)) assert.ok(open.delete(asker));
      assert.deepEqual([[...open], bench.queue.waiting], [[], []], 'everyone was answered');
      assert.equal(new Set(bench.answered).size, bench.answered.length);
      assert.ok(bench.answered.every((asker) => !left.has(asker)));
    }),
  );
});
