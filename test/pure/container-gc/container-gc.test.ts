import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fateOf, isEndedByNode } from '../../../actors/resources/container-gc/pod-fate.ts';
import { deadContainers } from '../../../actors/resources/container-gc/seen-containers.ts';
import { Container, ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import { containerGc } from '../../../actors/record/machines/container-gc.ts';
import type { ContainerGcSnapshot } from '../../../actors/record/machines/container-gc.ts';
import type {
  ContainerGcMessage,
  ContainerGcOrder,
  DeadContainer,
} from '../../../machines/container-gc/container-gc-context.ts';
import { containerGcMachine } from '../../../machines/container-gc/container-gc-machine.ts';
import { containersToRemove } from '../../../machines/container-gc/evictable.ts';
import { bornSnapshot } from '../../../machines/machine-step/step.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';

const dead = (over: Partial<DeadContainer>): DeadContainer => ({
  ...{ id: 'c', uid: 'u', name: 'app', attempt: 0, createdAt: 0, unknown: false, fate: 'lives', needed: false },
  ...over,
});

/** The machine, and what it ordered. */
function collector() {
  let state = bornSnapshot(containerGcMachine, undefined) as ContainerGcSnapshot;
  return {
    name: () => containerGc.stateName(state),
    why: () => containerGc.why(state),
    take(message: ContainerGcMessage): ContainerGcOrder[] {
      const { state: next, outputs } = containerGc.step(state, message);
      state = next;
      return outputs;
    },
  };
}

test('a pass removes what is not kept, part by part', () => {
  const gc = collector();
  gc.take({ type: 'gc.start', at: 0, policy: { minAgeMs: 0, maxPerContainer: 1, maxContainers: -1 } });
  const look = { at: 1, all: false, ready: true } as const;
  const two = [dead({ id: 'old' }), dead({ id: 'new', attempt: 1, unknown: true })];
  assert.deepEqual(gc.take({ type: 'containers.listed', ...look, dead: two.slice(1) }), []);
  assert.equal(gc.name(), 'resting');
  assert.deepEqual(gc.take({ type: 'containers.listed', ...look, dead: two }), [
    { type: 'containers.Remove', containers: [{ id: 'old', uid: 'u', name: 'app', stop: false }] },
  ]);
  assert.equal(gc.name(), 'removing.containers');
  gc.take({ type: 'gc.removed', at: 2 });
  assert.equal(gc.name(), 'resting');
  const sandbox = { id: 's', uid: 'u', createdAt: 0, active: false, fate: 'gone' } as const;
  assert.deepEqual(gc.take({ type: 'sandboxes.listed', at: 3, all: false, sandboxes: [sandbox] }), [
    { type: 'sandboxes.Remove', sandboxes: [{ id: 's', uid: 'u' }] },
  ]);
  gc.take({ type: 'gc.removed', at: 4 });
  const links = [
    { name: 'a_b_c-1.log', ended: true },
    { name: 'a_b_c-2.log', ended: false },
  ];
  const folders = [{ name: 'b_a_u', fate: 'gone' } as const];
  assert.deepEqual(gc.take({ type: 'logs.listed', at: 5, ready: false, folders, links }), [
    { type: 'logs.Remove', folders: [], links: ['a_b_c-1.log'] },
  ]);
  gc.take({ type: 'gc.removed', at: 6 });
  assert.deepEqual(gc.take({ type: 'pass.ended', at: 7 }), []);
});

test('each pass that fails is told once, with all that went wrong; one that does not ends it', () => {
  const gc = collector();
  gc.take({ type: 'gc.failed', at: 1, problem: 'rpc error: gone' });
  gc.take({ type: 'gc.failed', at: 2, problem: 'rpc error: gone' });
  gc.take({ type: 'gc.failed', at: 3, problem: 'no folder' });
  assert.deepEqual(gc.take({ type: 'pass.ended', at: 4 }), [
    { type: 'event.Record', message: '[rpc error: gone, no folder]' },
  ]);
  assert.equal(gc.why(), '[rpc error: gone, no folder]');
  assert.deepEqual(gc.take({ type: 'pass.ended', at: 5 }), []);
  assert.equal(gc.why(), '');
});

test('what a pod goes by stays whatever the limits are, and counts', () => {
  const none = { minAgeMs: 0, maxPerContainer: 0, maxContainers: 0 };
  const all = [dead({ id: '0' }), dead({ id: '1', attempt: 1 }), dead({ id: '2', attempt: 2, needed: true })];
  const look = { at: 1, all: true, ready: true };
  assert.deepEqual(
    containersToRemove(all, none, look).map(({ id }) => id),
    ['0', '1'],
  );
  const three = { ...none, maxPerContainer: 2 };
  assert.deepEqual(
    containersToRemove(all, { ...three, maxContainers: -1 }, look).map(({ id }) => id),
    ['0'],
  );
});

test('none that is needed or too young goes, none goes twice, and at most the limits of all others stay', () => {
  const container = fc.record({
    uid: fc.constantFrom('a', 'b', 'c'),
    name: fc.constantFrom('x', 'y'),
    attempt: fc.nat(6),
    createdAt: fc.nat(100),
    unknown: fc.boolean(),
    needed: fc.boolean(),
  });
  const limit = fc.integer({ min: -1, max: 5 });
  fc.assert(
    fc.property(
      fc.array(container, { maxLength: 25 }),
      fc.nat(50),
      limit,
      limit,
      fc.boolean(),
      (raw, age, per, most, ready) => {
        const fates = { a: 'lives', b: 'ended', c: 'gone' } as const;
        const list = raw.map((c, i) =>
          dead({ ...c, id: String(i), fate: fates[c.uid], needed: c.needed && c.uid === 'a' }),
        );
        const policy = { minAgeMs: age, maxPerContainer: per, maxContainers: most };
        const gone = containersToRemove(list, policy, { at: 100, all: false, ready });
        assert.equal(new Set(gone).size, gone.length);
        for (const c of gone) assert.ok(!c.needed && c.createdAt <= 100 - age);
        const left = list.filter((c) => !gone.includes(c) && c.createdAt <= 100 - age);
        const free = left.filter(({ needed }) => !needed);
        if (ready) assert.ok(free.every(({ fate }) => fate !== 'gone'));
        if (per >= 0)
          for (const unit of Map.groupBy(left, ({ uid, name }) => uid + name).values())
            assert.ok(unit.length <= per || unit.every(({ needed }) => needed));
        if (most >= 0) assert.ok(left.length <= most || free.length === 0);
        // The youngest of a name stays longest.
        for (const c of gone)
          for (const other of free)
            if (c.fate !== 'gone' && other.uid === c.uid && other.name === c.name && most < 0)
              assert.ok(other.attempt >= c.attempt);
      },
    ),
  );
});

test('what becomes of a pod', () => {
  const reason = (text: string) => ({ status: { reason: text } });
  assert.equal(fateOf(null, undefined, true), 'gone');
  assert.equal(fateOf(null, undefined, false), 'lives', 'no source has spoken: it may be named yet');
  assert.equal(fateOf('waiting', undefined, true), 'lives');
  assert.equal(fateOf('terminating.stoppingSandbox', reason('Evicted'), true), 'lives');
  assert.equal(fateOf('terminated.kept', reason('Completed'), true), 'ended');
  assert.equal(fateOf('terminated.kept', reason('Evicted'), true), 'gone');
  const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' }];
  assert.equal(fateOf('terminated.kept', { status: { phase: 'Succeeded', conditions } }, true), 'gone');
  assert.equal(fateOf('terminated.kept', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }, true), 'gone');
});

test('the last containers of a pod that has ended are needed until the API server has heard how', () => {
  const exited = (id: string, attempt: number): Container =>
    Container.fromPartial({
      ...{ id, metadata: { name: 'app', attempt }, labels: { [LABEL.podUid]: 'u' } },
      state: ContainerState.CONTAINER_EXITED,
    });
  const needed = (fate: 'ended' | 'gone', owes: boolean) =>
    deadContainers([exited('first', 0), exited('last', 1)], {
      fate: () => fate,
      pod: () => undefined,
      owes: () => owes,
    })
      .filter((each) => each.needed)
      .map(({ id }) => id);
  assert.deepEqual([needed('ended', true), needed('gone', true)], [['last'], ['last']]);
  assert.deepEqual([needed('ended', false), needed('gone', false)], [[], []]);
  assert.ok(isEndedByNode({ status: { reason: 'Evicted' } }), 'that one is told as failed without them');
  assert.ok(!isEndedByNode({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }));
});
