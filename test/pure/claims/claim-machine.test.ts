/** What the claims manager decides, step by step, and what holds whatever comes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimsStateName, claimsWhy, stepClaims } from '../../../machines/claims/claim-machine.ts';
import type { ClaimMessage, ClaimOrder, FetchedClaim } from '../../../machines/claims/claim-messages.ts';
import { NO_CLAIMS } from '../../../machines/claims/claim-state.ts';
import type { ClaimState, KnownClaim } from '../../../machines/claims/claim-state.ts';

type WithoutTime<M> = M extends unknown ? Omit<M, 'at'> : never;

const device = { pool: 'p', device: 'd', share: null, requests: [], cdi: ['x/y=z'] };
const claim = (name: string, pods: string[], drivers: string[] | null = ['gpu']): FetchedClaim => ({
  ...{ name, uid: `u-${name}`, ofPod: false, controller: null, reservedFor: pods, drivers },
});
const told = (driver: string, connected = true, registered = connected): WithoutTime<ClaimMessage> => ({
  ...{ type: 'driver.told', steady: 0, driver, registered, connected },
});
const prepares = (uid: string, ...claims: FetchedClaim[]): WithoutTime<ClaimMessage> => ({
  ...{ type: 'pod.prepares', uid, name: `n-${uid}`, namespace: 'ns', claims },
});

/** A manager that is told one thing after the other. */
function manager(...drivers: string[]) {
  let state: ClaimState = NO_CLAIMS;
  const take = (message: WithoutTime<ClaimMessage>): ClaimOrder[] => {
    const step = stepClaims(state, { ...message, at: 1 } as ClaimMessage);
    state = step.state;
    return step.outputs;
  };
  for (const driver of drivers) take(told(driver));
  return {
    take,
    get state() {
      return state;
    },
    answer: (work: number, ...names: string[]) =>
      take({
        type: 'driver.answered',
        work,
        results: names.map((name) => ({ uid: `u-${name}`, error: '', devices: [device] })),
      }),
  };
}

const refusal = (orders: ClaimOrder[]) => orders.flatMap((o) => (o.type === 'work.failed' ? [o.message] : []));

test('a pod is told why it cannot have a claim, in the words and the order of kubelet, and is no user of any', () => {
  const m = manager('gpu');
  const words = (...claims: FetchedClaim[]) => refusal(m.take(prepares('p', ...claims)));
  assert.deepEqual(words(claim('a', ['p']), { problem: 'fetch ResourceClaim b: gone' }), [
    'fetch ResourceClaim b: gone',
  ]);
  const owned = { ...claim('a', []), ofPod: true, controller: 'other' };
  assert.deepEqual(words(owned), ['ResourceClaim ns/a was not created for pod ns/n-p (pod is not owner)']);
  assert.deepEqual(words(claim('a', ['q'])), ['pod n-p (p) is not allowed to use ResourceClaim a (u-a)']);
  assert.deepEqual(words(claim('a', ['p'], null)), ['ResourceClaim a: not allocated']);
  assert.deepEqual(words(claim('a', ['p'], ['net'])), ['DRA driver net is not registered']);
  assert.deepEqual(words(claim('a', ['p'], [''])), ['DRA driver name is empty']);
  assert.deepEqual(m.state.claims, {});
  assert.equal(claimsStateName(m.state), 'idle');
});

test('claims are on disk before drivers are asked, and one driver is asked after the other for all of them', () => {
  const m = manager('gpu', 'net');
  const orders = m.take(prepares('p', claim('a', ['p'], ['gpu', 'net']), claim('b', ['p'])));
  assert.deepEqual(
    orders.map(({ type }) => type),
    ['checkpoint.write', 'driver.prepare'],
  );
  const asked = orders[1];
  assert.ok(asked?.type === 'driver.prepare');
  assert.deepEqual([asked.driver, asked.claims.map(({ name }) => name)], ['gpu', ['a', 'b']]);
  assert.equal(claimsWhy(m.state), 'driver gpu to prepare ns/a, ns/b for pod p');
  const next = m.answer(asked.work, 'a', 'b');
  assert.deepEqual(
    next.map((o) => (o.type === 'driver.prepare' ? o.driver : o.type)),
    ['net'],
  );
  assert.deepEqual(
    m.answer(asked.work, 'a').map(({ type }) => type),
    ['checkpoint.write', 'work.done'],
  );
  assert.deepEqual(
    Object.values(m.state.claims).map(({ prepared }) => prepared),
    [true, true],
  );
  assert.deepEqual(m.state.claims['ns/a']?.drivers, { gpu: [device], net: [device] });
});

test('a claim that is prepared is not prepared again, and is given back after its last pod only', () => {
  const m = manager('gpu');
  m.take(prepares('p', claim('a', ['p', 'q'])));
  m.answer(1, 'a');
  assert.deepEqual(
    m.take(prepares('q', claim('a', ['p', 'q']))).map(({ type }) => type),
    ['checkpoint.write', 'work.done'],
  );
  assert.deepEqual(
    m.take({ type: 'pod.unprepares', uid: 'p' }).map(({ type }) => type),
    ['checkpoint.write', 'work.done'],
  );
  const last = m.take({ type: 'pod.unprepares', uid: 'q' });
  assert.deepEqual(
    last.map(({ type }) => type),
    ['driver.unprepare'],
  );
  assert.deepEqual(Object.keys(m.state.claims), ['ns/a'], 'it stays until the driver has answered');
  m.take({ type: 'driver.answered', work: 4, results: [{ uid: 'u-a', error: 'busy', devices: [] }] });
  assert.deepEqual(m.state.claims['ns/a']?.pods, ['q']);
  m.take({ type: 'pod.unprepares', uid: 'q' });
  m.answer(5, 'a');
  assert.deepEqual(m.state.claims, {});
});

test('what a driver says wrongly fails the pod, with the words of kubelet', () => {
  const m = manager('gpu');
  const after = (results: { uid: string; error: string; devices: [] }[]) => {
    m.take(prepares('p', claim('a', ['p'])));
    return refusal(m.take({ type: 'driver.answered', work: m.state.seq, results }));
  };
  assert.deepEqual(after([]), ['NodePrepareResources skipped 1 ResourceClaims']);
  const strange = 'NodePrepareResources returned result for unknown claim UID u-x';
  assert.deepEqual(after([{ uid: 'u-x', error: '', devices: [] }]), [strange]);
  const failed = 'NodePrepareResources failed for ResourceClaim a: no';
  assert.deepEqual(after([{ uid: 'u-a', error: 'no', devices: [] }]), [failed]);
  m.take(prepares('p', claim('a', ['p'])));
  assert.deepEqual(refusal(m.take({ type: 'work.broke', work: m.state.seq, message: 'gone' })), ['gone']);
  const other = { ...claim('a', ['q']), uid: 'another' } as FetchedClaim;
  const old = 'old ResourceClaim with same name a and different UID u-a still exists (previous pod force-deleted?!)';
  assert.deepEqual(refusal(m.take(prepares('q', other))), [old]);
});

test('slices go 30 s after the last connection was lost, unless it came back, and once', () => {
  const m = manager('gpu');
  const due = (steady: number) => m.take({ type: 'wipes.due', steady });
  m.take({ ...told('gpu', false, true), steady: 1_000 } as WithoutTime<ClaimMessage>);
  m.take({ ...told('gpu', false, false), steady: 20_000 } as WithoutTime<ClaimMessage>);
  assert.deepEqual(due(30_999), []);
  assert.deepEqual(due(31_000), [{ type: 'slices.wipe', driver: 'gpu' }]);
  assert.deepEqual([due(99_000), m.state.drivers], [[], {}]);
  m.take({ ...told('gpu', false, true), steady: 100_000 } as WithoutTime<ClaimMessage>);
  m.take(told('gpu'));
  assert.deepEqual(due(999_000), []);
});

/** Numbers from a seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % sides;
  };
}

const PODS = ['p', 'q', 'r', 's'];
const NAMES = ['a', 'b', 'c'];

test('whatever comes: prepared before it is told, given back after the last pod, nobody asks for a claim beside another, all returns', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const roll = dice(seed);
    const m = manager('gpu', 'net');
    const pods = Object.fromEntries(NAMES.map((name) => [name, PODS.filter(() => roll(2) === 0)]));
    const drivers = Object.fromEntries(
      NAMES.map((name) => [name, [['gpu'], ['net'], ['gpu', 'net'], []][roll(4)] ?? []]),
    );
    /** What drivers have: prepared and not given back, as they were asked. */
    const has = new Set<string>();
    const open = new Map<number, Extract<ClaimOrder, { type: 'driver.prepare' | 'driver.unprepare' }>>();
    const running = new Set<string>();
    const follow = (orders: ClaimOrder[]): void => {
      for (const order of orders) {
        if (order.type === 'driver.prepare' || order.type === 'driver.unprepare') {
          for (const other of open.values())
            assert.ok(
              !other.claims.some(({ uid }) => order.claims.some((mine) => mine.uid === uid)),
              `seed ${seed}: two ask at once`,
            );
          if (order.type === 'driver.unprepare')
            for (const { name } of order.claims)
              assert.ok(![...running].some((pod) => pods[name]?.includes(pod)), `seed ${seed}: ${name} is used`);
          open.set(order.work, order);
          // It may have been prepared from the moment of the call on.
          if (order.type === 'driver.prepare') for (const { name } of order.claims) has.add(`${order.driver}/${name}`);
        } else if (order.type === 'work.done') {
          const mine = NAMES.filter((name) => pods[name]?.includes(order.pod));
          if (wanting.delete(order.work)) {
            for (const name of mine)
              for (const driver of drivers[name] ?? [])
                assert.ok(has.has(`${driver}/${name}`), `seed ${seed}: ${order.pod} starts without ${name}`);
            running.add(order.pod);
          }
        } else if (order.type === 'work.failed') wanting.delete(order.work);
      }
    };
    const wanting = new Set<number>();
    const ended = new Set<string>();
    const close = (fails: boolean): void => {
      const [work, order] = [...open][roll(open.size || 1)] ?? [];
      if (work === undefined || order === undefined) return;
      open.delete(work);
      if (fails) return follow(m.take({ type: 'work.broke', work, message: 'hung' }));
      if (order.type === 'driver.unprepare') for (const { name } of order.claims) has.delete(`${order.driver}/${name}`);
      follow(
        m.take({
          type: 'driver.answered',
          work,
          results: order.claims.map(({ uid }) => ({ uid, error: '', devices: [device] })),
        }),
      );
    };
    for (let step = 0; step < 40; step++) {
      const pod = PODS[roll(PODS.length)] ?? '';
      switch (roll(4)) {
        case 0:
          if (running.has(pod) || ended.has(pod)) break;
          wanting.add(m.state.seq + 1);
          follow(
            m.take(
              prepares(pod, ...NAMES.filter((n) => pods[n]?.includes(pod)).map((n) => claim(n, PODS, drivers[n]))),
            ),
          );
          break;
        case 1:
          if (wanting.size > 0) break;
          running.delete(pod);
          ended.add(pod);
          follow(m.take({ type: 'pod.unprepares', uid: pod }));
          break;
        default:
          close(roll(5) === 0);
      }
    }
    for (let rounds = 0; Object.keys(m.state.claims).length > 0 || m.state.work.length > 0; rounds++) {
      assert.ok(rounds < 50, `seed ${seed}: something stays`);
      while (open.size > 0) close(false);
      running.clear();
      follow(m.take({ type: 'pods.active', uids: [] }));
      while (open.size > 0) close(false);
    }
    assert.deepEqual([...has], [], `seed ${seed}: a driver keeps something`);
  }
});

test('what an earlier agent left is known, and asked for again before the next pod starts', () => {
  const m = manager('gpu');
  const known: KnownClaim = {
    uid: 'u-a',
    name: 'a',
    namespace: 'ns',
    pods: ['p'],
    drivers: { gpu: [device] },
    prepared: false,
  };
  m.take({ type: 'checkpoint.found', claims: [known] });
  const orders = m.take(prepares('q', claim('a', ['p', 'q'])));
  assert.deepEqual(
    orders.map(({ type }) => type),
    ['checkpoint.write', 'driver.prepare'],
  );
  m.answer(1, 'a');
  assert.deepEqual(m.state.claims['ns/a']?.drivers, { gpu: [device] }, 'its devices stand there once');
});
