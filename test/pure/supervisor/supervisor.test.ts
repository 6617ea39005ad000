import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialTransition } from 'xstate';
import type { AnyMachineSnapshot } from 'xstate';
import fc from 'fast-check';
import { step } from '../../../machines/machine-step/step.ts';
import { ALL_BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodSource } from '../../../machines/protocol/messages.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import type {
  SupervisorContext,
  SupervisorMessage,
  SupervisorOrder,
} from '../../../machines/supervisor/supervisor-context.ts';
import { trackedPod, trackedPods } from '../../../machines/supervisor/pod-table.ts';
import { supervisorMachine } from '../../../machines/supervisor/supervisor-machine.ts';
import { shardOf } from '../../../machines/supervisor/supervisor-step.ts';
import { pod as makePod } from '../pod/pod-world.ts';
import { seen } from '../container/container-bench.ts';

class Bench {
  snapshot: AnyMachineSnapshot;
  constructor(behaviour: readonly number[] = []) {
    this.snapshot = initialTransition(supervisorMachine, { shards: 2, behaviour })[0] as AnyMachineSnapshot;
  }
  get context(): SupervisorContext {
    return this.snapshot.context as SupervisorContext;
  }
  take(message: SupervisorMessage): SupervisorOrder[] {
    const { snapshot, effects } = step<AnyMachineSnapshot, SupervisorOrder>(supervisorMachine, this.snapshot, message);
    this.snapshot = snapshot;
    return effects;
  }
  config(op: 'ADD' | 'UPDATE' | 'REMOVE' | 'RECONCILE' | 'DELETE', ...pods: Pod[]): SupervisorOrder[] {
    return this.of('file', op, ...pods);
  }
  of(source: PodSource, op: 'ADD' | 'UPDATE' | 'REMOVE' | 'RECONCILE' | 'DELETE', ...pods: Pod[]): SupervisorOrder[] {
    return this.take({ type: 'config', at: 1, update: { op, pods, source } });
  }
}
const named = (uid: string, name = uid): Pod => ({
  ...makePod({}, uid),
  metadata: { name, namespace: 'default', uid },
});
const brief = (orders: SupervisorOrder[]) =>
  orders.map((o) => (o.type === 'tell' ? `${o.message.type} ${o.uid}` : `${o.type} ${o.uid}`));
const observed = (uid: string): ObservedPod => ({
  uid,
  name: uid,
  namespace: 'default',
  at: 1,
  sandboxes: [],
  containers: [seen({ id: `${uid}-c`, annotations: { 'io.kubernetes.pod.terminationGracePeriod': '7' } })],
});

test('add, update, reconcile, remove, finished', () => {
  const bench = new Bench();
  assert.deepEqual(brief(bench.config('ADD', named('a'), named('b'))), ['start a', 'start b']);
  assert.deepEqual(brief(bench.config('ADD', named('a'))), ['pod.update a'], 'a second ADD is an update');
  assert.deepEqual(brief(bench.config('UPDATE', named('a'))), ['pod.update a']);
  assert.deepEqual(brief(bench.config('RECONCILE', named('a'))), ['pod.update a']);
  assert.deepEqual(brief(bench.config('UPDATE', named('x'))), [], 'a pod that nobody added');
  assert.deepEqual(brief(bench.config('REMOVE', named('a'))), ['pod.terminate a']);
  assert.deepEqual(brief(bench.take({ type: 'finished', at: 2, uid: 'a' })), ['forget a']);
  assert.deepEqual(
    trackedPods(bench.context.pods).map((p) => p.uid),
    ['b'],
  );
  assert.deepEqual(bench.take({ type: 'finished', at: 2, uid: 'a' }), [], 'told twice');
});

test('a pod is told to its own shard, always the same one', () => {
  const bench = new Bench();
  const [start] = bench.config('ADD', named('a'));
  const [told] = bench.config('UPDATE', named('a'));
  assert.ok(start?.type === 'start' && told?.type === 'tell');
  assert.equal(told.shard, start.shard);
  const shards = Array.from({ length: 1000 }, (_, i) => shardOf(`uid-${i}`, 4));
  for (let k = 0; k < 4; k++) assert.ok(shards.filter((s) => s === k).length > 150, 'shards are filled evenly');
});

test('a pod that comes back while it terminates is started anew afterwards, in its newest form', () => {
  const bench = new Bench();
  bench.config('ADD', named('a'));
  bench.config('REMOVE', named('a'));
  assert.deepEqual(bench.config('ADD', named('a')), []);
  const newer = { ...named('a'), spec: { containers: [{ name: 'n', image: 'img:9' }] } };
  assert.deepEqual(bench.config('UPDATE', newer), []);
  const orders = bench.take({ type: 'finished', at: 2, uid: 'a' });
  assert.deepEqual(brief(orders), ['forget a', 'start a']);
  assert.ok(orders[1]?.type === 'start' && orders[1].pod === newer);
  bench.config('REMOVE', named('a'));
  bench.config('ADD', named('a'));
  bench.config('REMOVE', named('a'));
  assert.deepEqual(
    brief(bench.take({ type: 'finished', at: 3, uid: 'a' })),
    ['forget a'],
    'it came back and went again',
  );
});

test('a pod that comes back while it terminates is told so: what is dead of it stays, unless it would not be started again', () => {
  const bench = new Bench(ALL_BEHAVIOUR);
  const told = (orders: SupervisorOrder[]) =>
    orders.flatMap((o) => (o.type === 'tell' && o.message.type === 'pod.terminate' ? [o.message.order.comesBack] : []));
  const once = { ...named('once'), spec: { ...named('once').spec, containers: [], restartPolicy: 'Never' } };
  bench.config('ADD', named('a'), once);
  assert.deepEqual(told(bench.config('REMOVE', named('a'), once)), [undefined, undefined]);
  assert.deepEqual(told(bench.config('ADD', named('a'), once)), [true]);
  assert.deepEqual(told(bench.take({ type: 'shardReplaced', at: 1, shard: shardOf('a', 2) }))[0], true);
  assert.deepEqual(told(bench.config('REMOVE', named('a'))), [undefined], 'it went again');
  assert.deepEqual(
    bench.take({ type: 'finished', at: 2, uid: 'a' }),
    [{ type: 'forget', uid: 'a', remains: true }],
    'it may have left something before it heard of that',
  );
  const [forget, start] = bench.take({ type: 'finished', at: 2, uid: 'once' });
  assert.deepEqual([forget?.type, start?.type], ['forget', 'start']);
});

test('a pod that comes back and that the node does not admit is rejected once it has ended', () => {
  const bench = new Bench(ALL_BEHAVIOUR);
  const refused = { reason: 'OutOfcpu', message: 'too much' };
  bench.config('ADD', named('a'));
  bench.config('REMOVE', named('a'));
  const update = { op: 'ADD' as const, pods: [named('a')], source: 'file' as const };
  bench.take({ type: 'config', at: 1, update, rejections: { a: refused } });
  const [, start] = bench.take({ type: 'finished', at: 2, uid: 'a' });
  assert.ok(start?.type === 'start');
  assert.deepEqual(start.rejection, refused);
  bench.config('REMOVE', named('a'));
  bench.take({ type: 'config', at: 1, update, rejections: { a: refused } });
  bench.config('REMOVE', named('a'));
  bench.config('ADD', named('a'));
  const [, again] = bench.take({ type: 'finished', at: 2, uid: 'a' });
  assert.ok(again?.type === 'start' && again.rejection === undefined, 'now there is room for it');
});

test('a static pod waits for its predecessor of the same full name', () => {
  const bench = new Bench(ALL_BEHAVIOUR);
  bench.config('ADD', named('old', 'web'));
  bench.config('REMOVE', named('old', 'web'));
  assert.deepEqual(bench.config('ADD', named('new', 'web')), []);
  assert.deepEqual(bench.config('UPDATE', named('new', 'web')), [], 'nobody is there to be told');
  assert.deepEqual(brief(bench.config('ADD', named('newest', 'web'))), []);
  assert.deepEqual(brief(bench.config('REMOVE', named('new', 'web'))), ['forget new'], 'it never started');
  assert.deepEqual(brief(bench.take({ type: 'finished', at: 2, uid: 'old' })), ['forget old', 'start newest']);
});

test('a pod of the API waits for none of its name: one that was deleted by force may take long to end', () => {
  const bench = new Bench(ALL_BEHAVIOUR);
  bench.of('api', 'ADD', named('old', 'web'));
  assert.deepEqual(brief(bench.of('api', 'REMOVE', named('old', 'web'))), ['pod.terminate old']);
  assert.deepEqual(brief(bench.of('api', 'ADD', named('new', 'web'))), ['start new']);
  assert.deepEqual(brief(bench.of('api', 'UPDATE', named('new', 'web'))), ['pod.update new']);
  assert.deepEqual(brief(bench.take({ type: 'finished', at: 2, uid: 'old' })), ['forget old']);
  bench.take({ type: 'sourcesReady', at: 2 });
  bench.take({ type: 'seen', at: 3, observed: { ...observed('o'), name: 'left' } });
  assert.deepEqual(
    brief(bench.of('api', 'ADD', named('n', 'left'))),
    ['start n'],
    'nor for what nobody names any more',
  );
  assert.deepEqual(brief(bench.config('ADD', named('s', 'web'))), ['start s'], 'and no static pod waits for it');

  const earlier = new Bench();
  earlier.of('api', 'ADD', named('old', 'web'));
  assert.deepEqual(earlier.of('api', 'ADD', named('new', 'web')), [], 'as older journals have it');
});

test('orphans are killed only after all sources have spoken', () => {
  const bench = new Bench();
  assert.deepEqual(bench.take({ type: 'seen', at: 1, observed: observed('o') }), []);
  bench.take({ type: 'sourcesReady', at: 2 });
  assert.equal(bench.snapshot.value, 'supervising');
  const [order] = bench.take({ type: 'seen', at: 3, observed: observed('o') });
  assert.ok(order?.type === 'start' && order.source === 'orphan');
  assert.equal(order.pod.spec?.terminationGracePeriodSeconds, 7, 'the grace period that its containers were made with');
  assert.deepEqual(brief(bench.take({ type: 'seen', at: 3, observed: observed('o') })), ['pod.observed o']);
  assert.deepEqual(
    bench.take({ type: 'seen', at: 3, observed: { ...observed('gone'), containers: [] } }),
    [],
    'nothing is left of it',
  );
  assert.deepEqual(bench.config('ADD', named('o')), [], 'its source names it late: after the orphan is gone');
  assert.deepEqual(brief(bench.take({ type: 'finished', at: 4, uid: 'o' })), ['forget o', 'start o']);
});

test('an orphan is a predecessor of a static pod, too', () => {
  const bench = new Bench(ALL_BEHAVIOUR);
  bench.take({ type: 'sourcesReady', at: 1 });
  bench.take({ type: 'seen', at: 1, observed: { ...observed('o'), name: 'web' } });
  assert.deepEqual(bench.config('ADD', named('n', 'web')), []);
  assert.deepEqual(brief(bench.take({ type: 'finished', at: 2, uid: 'o' })), ['forget o', 'start n']);
});

test('a shard is replaced: its pods start again, the terminating ones are told so', () => {
  const bench = new Bench();
  const pods = ['a', 'b', 'c', 'd', 'e', 'f'].map((uid) => named(uid));
  bench.config('ADD', ...pods);
  bench.config('REMOVE', named('a'));
  const shard = shardOf('a', 2);
  const orders = brief(bench.take({ type: 'shardReplaced', at: 2, shard }));
  const mine = ['a', 'b', 'c', 'd', 'e', 'f'].filter((uid) => shardOf(uid, 2) === shard);
  assert.deepEqual(
    orders,
    mine.flatMap((uid) => (uid === 'a' ? ['start a', 'pod.terminate a'] : [`start ${uid}`])),
  );
  assert.deepEqual(bench.take({ type: 'shardReplaced', at: 2, shard: 7 }), []);
});

test('a pod that waits for its predecessor and is deleted meanwhile starts as a deleted one', () => {
  const bench = new Bench();
  bench.config('ADD', named('old', 'web'));
  bench.config('ADD', named('new', 'web'));
  const deleted = {
    ...named('new', 'web'),
    metadata: { ...named('new', 'web').metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  };
  bench.config('DELETE', deleted);
  bench.config('REMOVE', named('old', 'web'));
  const orders = bench.take({ type: 'finished', at: 2, uid: 'old' });
  assert.ok(orders[1]?.type === 'start' && orders[1].pod === deleted);
});

test('whatever sources and shards do: one actor for the full name of static pods, none is told before it started, none starves', () => {
  const act = fc.record({
    op: fc.constantFrom('ADD', 'UPDATE', 'REMOVE', 'finish', 'seen', 'shard') as fc.Arbitrary<
      'ADD' | 'UPDATE' | 'REMOVE' | 'finish' | 'seen' | 'shard'
    >,
    uid: fc.constantFrom('a', 'b', 'c'),
    name: fc.constantFrom('x', 'y'),
  });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (list) => {
      const bench = new Bench(ALL_BEHAVIOUR);
      bench.take({ type: 'sourcesReady', at: 0 });
      const living = new Map<string, string>();
      const names: Record<string, string> = { a: 'x', b: 'x', c: 'y' };
      const carry = (orders: SupervisorOrder[], replaced: boolean) => {
        for (const o of orders) {
          const fullName = trackedPod(bench.context.pods, o.uid)?.fullName ?? '';
          if (o.type === 'start') {
            assert.ok(replaced || !living.has(o.uid), 'started twice');
            // An orphan is taken up only to be stopped: it waits for nobody.
            if (o.source !== 'orphan' && !replaced)
              assert.ok(
                ![...living].some(([uid, n]) => n === fullName && uid !== o.uid),
                'two actors of one full name',
              );
            living.set(o.uid, fullName);
          } else if (o.type === 'tell') assert.ok(living.has(o.uid), 'told before it started');
          else living.delete(o.uid);
        }
      };
      for (const { op, uid } of list) {
        const p = named(uid, names[uid]);
        if (op === 'finish') {
          if (trackedPod(bench.context.pods, uid)?.terminating && living.has(uid))
            carry(bench.take({ type: 'finished', at: 1, uid }), false);
        } else if (op === 'seen')
          carry(bench.take({ type: 'seen', at: 1, observed: { ...observed(uid), name: names[uid] ?? '' } }), false);
        else if (op === 'shard') carry(bench.take({ type: 'shardReplaced', at: 1, shard: shardOf(uid, 2) }), true);
        else carry(bench.config(op, p), false);
      }
      for (const uid of [...living.keys()])
        if (trackedPod(bench.context.pods, uid)?.terminating)
          carry(bench.take({ type: 'finished', at: 9, uid }), false);
      for (const tracked of trackedPods(bench.context.pods)) {
        if (tracked.phase === 'waiting')
          assert.ok([...living.values()].includes(tracked.fullName), `${tracked.uid} waits for nobody`);
      }
    }),
    { numRuns: 400, seed: 3 },
  );
});

test('an actor that could not start is started again; one that is gone is left alone', () => {
  const bench = new Bench();
  bench.config('ADD', named('a'));
  assert.deepEqual(brief(bench.take({ type: 'retryStart', at: 2, uid: 'a' })), ['start a']);
  bench.config('REMOVE', named('a'));
  bench.take({ type: 'finished', at: 3, uid: 'a' });
  assert.deepEqual(bench.take({ type: 'retryStart', at: 4, uid: 'a' }), []);
});
