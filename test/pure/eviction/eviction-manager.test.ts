import assert from 'node:assert/strict';
import { it } from 'node:test';
import { thresholdsOf } from '../../../actors/resources/eviction/eviction-manager.ts';
import { makePod } from './eviction-bench.ts';
import { fakeNode, GI } from './fake-node.ts';
import { eviction } from '../../../actors/record/machines/eviction.ts';
import { failOn } from '../faults/failing-machine.ts';

it('ends one pod, looks each second whether it has, and then at once at what that brought', async () => {
  const pods = [makePod('small'), makePod('large')];
  const { manager, seen, pass } = fakeNode({ pods });
  manager.start?.();
  await pass(5_000);
  assert.equal(seen.told.length, 0);
  assert.equal(seen.wholeLooks, 0, 'a node that is well has no pods measured');
  seen.available = GI / 2;
  await pass(10_000);
  assert.deepEqual(
    seen.told.map(({ uid, message }) => [
      uid,
      message.type === 'pod.terminate' ? message.order.gracePeriodSeconds : '',
    ]),
    [['uid-large', 1]],
  );
  assert.equal(manager.pressure?.().memory, true);
  assert.equal(seen.posts, 1);
  assert.equal(manager.refuses?.(makePod('late'))?.message, 'The node had condition: [MemoryPressure]. ');
  seen.states.set('uid-large', 'terminating.stoppingContainers');
  await pass(3_000);
  assert.equal(seen.told.length, 1, 'its end is waited for');
  seen.states.set('uid-large', 'terminated.kept');
  await pass(1_000);
  assert.equal(seen.told.length, 2, 'it was not enough');
  assert.equal(seen.told[1]?.uid, 'uid-small');
  assert.deepEqual(
    seen.events.map(({ object, reason }) => `${object.kind} ${object.name} ${reason}`),
    ['Node n EvictionThresholdMet', 'Pod large Evicted', 'Node n EvictionThresholdMet', 'Pod small Evicted'],
  );
  manager.stop?.();
});

for (const [late, gone] of [
  [4_000, ['uid-first']],
  [18_000, ['uid-first', 'uid-second']],
] as const)
  it(`ends no other pod while the runtime frees the layers of the last one: ${late / 1000} s`, async () => {
    const pods = [makePod('first'), makePod('second')];
    const reclaim = () => Promise.resolve();
    const { manager, seen, pass } = fakeNode({ pods, reclaim, evictionHard: { 'nodefs.available': '4Gi' } });
    seen.disk = 8 * GI;
    manager.start?.();
    await pass(5_000);
    seen.disk = GI;
    await pass(10_000);
    assert.deepEqual(
      seen.told.map(({ uid }) => uid),
      ['uid-first'],
      'the first one goes at once',
    );
    seen.states.set('uid-first', 'terminated.kept');
    await pass(late);
    seen.disk = 8 * GI;
    await pass(20_000);
    assert.deepEqual(
      seen.told.map(({ uid }) => uid),
      gone,
    );
    manager.stop?.();
  });

it('waits for layers to be counted after the disk was short: who has filled it since the last count goes', async () => {
  const pods = [makePod('neighbour'), makePod('fills')];
  const { manager, seen, pass } = fakeNode({ pods, evictionHard: { 'nodefs.available': '4Gi' } });
  seen.disk = 8 * GI;
  manager.start?.();
  await pass(5_000);
  seen.disk = GI;
  seen.layers = { at: seen.now - 1_000, bytes: { neighbour: 10, fills: 9 } };
  await pass(12_000);
  assert.equal(seen.told.length, 0, 'the figures are of before');
  seen.layers = { at: seen.now, bytes: { neighbour: 10, fills: 7 * GI } };
  await pass(2_000);
  assert.deepEqual(
    seen.told.map(({ uid }) => uid),
    ['uid-fills'],
  );
  manager.stop?.();
});

it('ranks by old figures of layers when the runtime gives no new ones', async () => {
  const pods = [makePod('neighbour'), makePod('fills')];
  const { manager, seen, pass } = fakeNode({ pods, evictionHard: { 'nodefs.available': '4Gi' } });
  seen.disk = GI;
  seen.layers = { at: seen.now - 1_000, bytes: { neighbour: 1, fills: 9 } };
  manager.start?.();
  await pass(30_000);
  assert.deepEqual(
    seen.told.map(({ uid }) => uid),
    ['uid-fills'],
  );
  manager.stop?.();
});

for (const [how, byMs] of [
  ['forward', 3_600_000],
  ['back', -3_600_000],
] as const)
  it(`keeps grace and transition periods when the clock is set ${how}`, async () => {
    const pods = [makePod('one')];
    const config = {
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '1m' },
    };
    const { manager, seen, pass } = fakeNode({ pods, evictionHard: {}, config });
    manager.start?.();
    seen.available = GI / 2;
    await pass(30_000);
    seen.ahead = byMs;
    await pass(20_000);
    assert.equal(seen.told.length, 0, 'the grace period is not over');
    await pass(20_000);
    assert.equal(seen.told.length, 1, 'it is over');
    seen.states.set('uid-one', 'terminated.kept');
    seen.available = 8 * GI;
    await pass(30_000);
    seen.ahead = 0;
    await pass(20_000);
    assert.equal(manager.pressure?.().memory, true, 'the transition period is not over');
    await pass(20_000);
    assert.equal(manager.pressure?.().memory, false, 'it is over');
    manager.stop?.();
  });

it('measures pods each time only when one of them has a limit on local storage', async () => {
  const limited = makePod('limited', { volumes: [{ name: 'local', emptyDir: { sizeLimit: '1Mi' } }] });
  const { manager, seen, pass } = fakeNode({ pods: [limited], evictionHard: {} });
  manager.start?.();
  await pass(1_000);
  assert.equal(seen.wholeLooks, 1);
  assert.deepEqual(
    seen.events.map(({ message }) => message),
    ['Usage of EmptyDir volume "local" exceeds the limit "1Mi". '],
  );
  manager.stop?.();
});

it('has no threshold for all pods together where allocatable ignores eviction', () => {
  const { config } = fakeNode({ config: { enforceNodeAllocatable: ['pods'] } }).ground;
  const signals = (more: { allocatableIgnoresEviction?: true }) =>
    thresholdsOf({ config, ...more }).map(({ signal }) => signal);
  assert.deepEqual(signals({}), ['memory.available', 'allocatableMemory.available']);
  assert.deepEqual(signals({ allocatableIgnoresEviction: true }), ['memory.available']);
});

it('says once that it cannot look, and once that it can again', async () => {
  const { manager, seen, pass } = fakeNode();
  seen.failure = new Error('the runtime is away');
  manager.start?.();
  await pass(60_000);
  seen.failure = null;
  await pass(60_000);
  assert.deepEqual(seen.lines, ['Eviction manager: failed to synchronize', 'Eviction manager: synchronizes again']);
  manager.stop?.();
});

it('looks for the first time when all sources have spoken, or after ten seconds', async () => {
  const { manager, seen, pass } = fakeNode({ pods: [makePod('p')] });
  seen.sourcesReady = false;
  seen.available = 0;
  manager.start?.();
  await pass(9_000);
  assert.equal(manager.pressure?.().memory, false);
  await pass(1_500);
  assert.equal(manager.pressure?.().memory, true);
  manager.stop?.();
});

it('does nothing more once it is stopped, whatever is under way', async () => {
  const { manager, seen, looks, pass } = fakeNode({ pods: [makePod('p')] });
  seen.available = 0;
  manager.start?.();
  looks.shift()?.look();
  manager.stop?.();
  await pass(60_000);
  assert.equal(seen.told.length, 0);
  assert.deepEqual(looks, []);
});

for (const kind of ['eviction.measured', 'eviction.reclaimed'] as const)
  it(`a round in which the machine fails (${kind}) is over with the next look, and the node is relieved`, async (t) => {
    const pods = [makePod('small'), makePod('large')];
    const reclaim = () => Promise.resolve();
    const { manager, seen, pass } = fakeNode({ pods, reclaim, evictionHard: { 'nodefs.available': '4Gi' } });
    seen.disk = 8 * GI;
    manager.start?.();
    await pass(5_000);
    failOn(t, eviction, [kind], 1);
    seen.disk = GI;
    await pass(10_000);
    assert.equal(seen.told.length, 0);
    await pass(20_000);
    assert.equal(seen.told.length, 1);
    manager.stop?.();
  });
