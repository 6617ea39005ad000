/** Whatever comes in whatever order: the rules of the status machine hold after each message, and in the end all is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { entryOf } from '../../../machines/status-manager/status-entry.ts';
import type { StatusEntry, StatusState } from '../../../machines/status-manager/status-entry.ts';
import { changesNothing, repeats } from '../../../machines/status-manager/status-machine.ts';
import { fuzz } from '../fuzz/support/runs.ts';
import { StatusWorld } from './status-world.ts';

const UIDS = Array.from({ length: 24 }, (_, i) => `u${i}`);
const STATES = ['syncing.pullingImage', 'syncing.running', 'terminating.stoppingSandbox', 'terminated.kept'] as const;

const uid = fc.constantFrom(...UIDS);
const actArb = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('tell' as const),
      uid,
      state: fc.constantFrom(...STATES),
      quiet: fc.boolean(),
      ofApi: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('show' as const),
      uid,
      lacks: fc.constantFrom('', 'p1', 'p2', 'p3'),
      api: fc.option(fc.record({ deleting: fc.boolean(), ended: fc.boolean(), finalizers: fc.boolean() })),
      minor: fc.boolean(),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('turn' as const), ms: fc.constantFrom(0, 0, 10, 300, 5_000) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which: fc.nat(15),
      how: fc.constantFrom('ok' as const, 'ok' as const, 'away' as const, 'refused' as const, 'gone' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), uid, shown: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('gone' as const), uid }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('list' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crowd' as const), crowded: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('clock' as const), ms: fc.integer({ min: 0, max: 3_600_000 }) }),
  },
);
type Act = typeof actArb extends fc.Arbitrary<infer A> ? A : never;

function entries({ pods }: StatusState): [string, StatusEntry][] {
  return Object.values(pods).flatMap((bucket) => Object.entries(bucket));
}

function carryOut(world: StatusWorld, act: Act): void {
  const { at } = world;
  switch (act.do) {
    case 'tell':
      return world.tell(act.uid, act.state, act.quiet ? 'mayWait' : 'now', act.ofApi);
    case 'show':
      world.shows(act.uid, act.lacks, act.api, act.minor);
      return world.send({ type: 'status.look', at, uid: act.uid });
    case 'turn':
      return world.turn(act.ms);
    case 'end': {
      const asked = [...world.asked.values()][act.which];
      if (asked === undefined) return;
      if (act.how === 'ok') {
        world.shows(asked.uid, '');
        world.answer(asked.uid);
      } else world.fail(asked.uid, act.how);
      return;
    }
    case 'forget':
      return world.send({ type: 'pod.forget', at, uid: act.uid, shown: act.shown });
    case 'gone':
      return world.send({ type: 'api.gone', at, uid: act.uid });
    case 'list':
      return world.send({ type: 'api.listed', at, gone: [] });
    case 'crowd':
      world.crowded = act.crowded;
      return;
    case 'clock':
      world.at += act.ms;
  }
}

/** What must be so after each message. */
function check(world: StatusWorld, before: StatusState): void {
  const { state } = world;
  const { waiting, underWay } = state;
  assert.equal(new Set(waiting).size, waiting.length, 'nobody waits twice');
  const waits = entries(state).flatMap(([name, entry]) => (entry.waits ? [name] : []));
  assert.deepEqual([...waiting].sort(), waits.sort());
  for (const [name, entry] of entries(state)) {
    if (entry.request !== 0) assert.equal(underWay[String(entry.request)]?.uid, name);
    if (entry.holdUntil !== 0) assert.ok(entry.waits, 'what is held is sent later');
  }
  assert.ok(Object.keys(underWay).length <= 16);
  const begun = Object.keys(underWay).filter((n) => before.underWay[n] === undefined);
  if (begun.length > 0 && before.pause.failures > 0) assert.ok(Object.keys(underWay).length <= 1, 'one finds out');
  for (const n of begun) {
    const { uid: whose = '' } = underWay[n] ?? {};
    const entry = entries(before).find(([name]) => name === whose)?.[1];
    assert.equal(entry?.request, 0, 'one request at a time for a pod');
    for (const until of [entry.holdUntil, entry.notBefore, before.pause.until])
      assert.ok(until <= world.at || until - world.at >= 600_000, 'not before its time');
  }
}

test('the rules hold whatever comes, and when the server answers in the end nobody waits', () => {
  fc.assert(
    fc.property(fc.array(actArb, { minLength: 1, maxLength: 120 }), (acts) => {
      const world = new StatusWorld();
      for (const act of acts) {
        const before = world.state;
        carryOut(world, act);
        check(world, before);
      }
      for (let i = 0; i < 60 && (world.asked.size > 0 || world.state.waiting.length > 0); i++) {
        for (const { uid: whose } of world.asked.values()) {
          world.shows(whose, '');
          world.answer(whose);
        }
        world.turn(11_000);
      }
      assert.deepEqual([world.asked.size, world.state.waiting], [0, []], 'all was told');
    }),
    fuzz(300),
  );
});

test('a pod is removed only when it has ended, left nothing, was deleted, and the API shows all of it', () => {
  fc.assert(
    fc.property(fc.array(actArb, { minLength: 1, maxLength: 80 }), (acts) => {
      const world = new StatusWorld();
      const api = new Map<string, Act & { do: 'show' }>();
      for (const act of acts) {
        if (act.do === 'show') api.set(act.uid, act);
        world.take();
        carryOut(world, act);
        for (const order of world.orders) {
          if (order.type !== 'pod.delete') continue;
          const entry = entries(world.state).find(([name]) => name === order.uid)?.[1];
          assert.deepEqual([entry?.state, entry?.ofApi], ['terminated.kept', true]);
          const shown = api.get(order.uid);
          assert.ok(shown?.api?.deleting === true && shown.api.ended);
        }
      }
    }),
    fuzz(300),
  );
});

/** Of one pod much is told, and its requests end well. */
const ofOneArb = actArb.map((act): Act => {
  if (act.do === 'end') return { ...act, which: 0, how: 'ok' };
  return 'uid' in act ? { ...act, uid: 'u0' } : act;
});

test('a report that repeats what is known changes nothing but the name of a state, and asks for nothing', () => {
  let repeated = 0;
  fc.assert(
    fc.property(fc.array(ofOneArb, { minLength: 40, maxLength: 120 }), (acts) => {
      const world = new StatusWorld();
      for (const act of acts) {
        const before = world.state;
        const finding = act.do === 'tell' ? world.finding(act.uid) : undefined;
        world.orders = [];
        carryOut(world, act);
        const entry = act.do === 'tell' ? entryOf(before, act.uid) : undefined;
        if (act.do !== 'tell' || entry === undefined || finding === undefined) continue;
        if (!repeats(entry, { ...act, urgency: act.quiet ? 'mayWait' : 'now' })) continue;
        if (!entry.waits) {
          if (finding.api === null || !changesNothing(before, finding)) continue;
          // Its turn, by itself: others that wait are not what is asked about.
          const alone = new StatusWorld();
          alone.state = { ...world.state, waiting: [act.uid], underWay: {} };
          alone.shows(act.uid, finding.patch?.print ?? '', finding.api, finding.patch?.minor);
          alone.at = world.at;
          alone.turn();
          alone.turn(2_000_000);
          const after = entryOf(alone.state, act.uid);
          assert.deepEqual([after, alone.asked.size], [{ ...entry, state: act.state }, 0]);
        } else {
          assert.deepEqual(entryOf(world.state, act.uid), { ...entry, state: act.state });
          assert.deepEqual(world.state.waiting, before.waiting);
        }
        assert.deepEqual(world.orders, []);
        repeated++;
      }
    }),
    fuzz(300),
  );
  assert.ok(repeated > 100, `${repeated} reports repeated`);
});
