import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NO_ORPHANS, stepOrphans } from '../../../machines/housekeeping/orphans-machine.ts';
import type { OrphanOrder, Orphans } from '../../../machines/housekeeping/orphans-machine.ts';

/** Housekeeping at a moment of the steady clock. */
class Told {
  state: Orphans = NO_ORPHANS;

  found(steady: number, ...uids: string[]): string[] {
    return this.take({ type: 'orphans.found', at: 0, steady, what: 'folder', uids }).map(({ uid }) => uid);
  }

  /** True: it is told why. */
  stays(steady: number, uid: string, text = 'why'): boolean {
    return this.take({ type: 'orphan.stays', at: 0, steady, what: 'folder', uid, text }).length > 0;
  }

  private take(message: Parameters<typeof stepOrphans>[1]): OrphanOrder[] {
    const { state, outputs } = stepOrphans(this.state, message);
    this.state = state;
    return outputs;
  }
}

test('a removal that failed waits twice as long each time, and is told once', () => {
  const told = new Told();
  assert.deepEqual(told.found(0, 'a', 'b'), ['a', 'b']);
  assert.equal(told.stays(0, 'a'), true);
  assert.deepEqual(told.found(1_999, 'a', 'b'), ['b'], 'each pod by itself');
  assert.deepEqual(told.found(2_000, 'a'), ['a']);
  assert.equal(told.stays(2_000, 'a'), false);
  assert.deepEqual(told.found(5_999, 'a'), []);
  assert.equal(told.stays(6_000, 'a', 'other'), true);
  let now = 6_000;
  for (let i = 0; i < 20; i++) told.stays((now += 122_000), 'a', 'other');
  assert.deepEqual(told.found(now + 122_000, 'a'), ['a'], 'two minutes at most');
  assert.deepEqual(told.found(0), []);
  assert.equal(told.found(0, 'a').length, 1, 'what was gone meanwhile is new');
});

test('folders and cgroups fail apart; a UID may be any word', () => {
  const told = new Told();
  for (const uid of ['__proto__', 'toString']) {
    assert.deepEqual(told.found(0, uid), [uid]);
    assert.ok(told.stays(0, uid));
    assert.deepEqual(told.found(1, uid), []);
    const cgroups = { type: 'orphans.found', at: 0, steady: 1, what: 'cgroup', uids: [uid] } as const;
    assert.equal(stepOrphans(told.state, cgroups).outputs.length, 1);
  }
});

test('whatever fails: an orphan is removed at most once in its wait, and none waits for ever', () => {
  const failing = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(failing, (rounds) => {
      const told = new Told();
      let steady = 0;
      for (const [uid, fails] of rounds) {
        const copy = JSON.parse(JSON.stringify(told.state)) as Orphans;
        const due = told.found((steady += 2_000), 'a', 'b', 'c');
        const same = stepOrphans(copy, { type: 'orphans.found', at: 0, steady, what: 'folder', uids: ['a', 'b', 'c'] });
        assert.deepEqual(
          same.outputs.map((order) => order.uid),
          due,
          'it is plain JSON',
        );
        if (fails && due.includes(uid)) {
          told.stays(steady, uid);
          assert.ok(!told.found(steady, 'a', 'b', 'c').includes(uid));
        }
      }
      assert.deepEqual(told.found(steady + 122_000, 'a', 'b', 'c'), ['a', 'b', 'c']);
    }),
  );
});
