import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Clock } from '../../../actors/host/time/clock.ts';
import { MemoryWatch } from '../../../actors/resources/eviction/memory-watch.ts';
import { makePod } from './eviction-bench.ts';
import { fakeNode, GI } from './fake-node.ts';

it('memory that goes between two looks wakes eviction: within 100 ms when little was left', async () => {
  for (const watched of [true, false]) {
    const { manager, seen, pass } = fakeNode({ pods: [makePod('only')], watched });
    manager.start?.();
    seen.available = 1.25 * GI;
    await pass(1_000);
    const before = seen.now;
    seen.available = 0.75 * GI;
    await pass(100);
    assert.equal(seen.told.length, watched ? 1 : 0);
    if (!watched) {
      // Kubelet's way: the next look.
      await pass(9_900);
      assert.equal(seen.told.length, 1);
    }
    assert.equal(manager.pressure?.().memory, true);
    assert.ok(seen.now - before <= 10_000);
    manager.stop?.();
  }
});

it('far from the threshold it is looked for once a second, and a fall that meets nothing wakes nobody', async () => {
  const { manager, seen, pass } = fakeNode({ pods: [makePod('only')], watched: true });
  manager.start?.();
  await pass(1_000);
  const { looks } = seen;
  seen.available = 3 * GI;
  await pass(5_000);
  assert.equal(seen.looks, looks, 'nothing is met');
  seen.available = 0.5 * GI;
  await pass(1_000);
  assert.equal(seen.told.length, 1);
  manager.stop?.();
});

it('right above the threshold it is looked at twice a second at most', async () => {
  const { manager, seen, pass } = fakeNode({ pods: [makePod('only')], watched: true });
  manager.start?.();
  seen.available = GI + 1_000;
  await pass(1_000);
  const { looks } = seen;
  // Stats that do not see what the kernel says: each look finds it as it was.
  for (let i = 0; i < 100; i++) {
    seen.available = i % 2 === 0 ? GI + 1_000 : GI + 10;
    await pass(100);
  }
  assert.ok(seen.looks - looks <= 22, String(seen.looks - looks));
  assert.equal(seen.told.length, 0);
  manager.stop?.();
});

it('a stopped manager watches no more', async () => {
  const { manager, seen, pass, looks } = fakeNode({ pods: [makePod('only')], watched: true });
  manager.start?.();
  await pass(1_000);
  manager.stop?.();
  seen.available = 0;
  await pass(60_000);
  assert.equal(seen.told.length, 0);
  assert.equal(looks.length, 0);
});

it('pods that take what they may have wake it, whatever the rest of the machine gives back meanwhile', () => {
  let now = { node: 4 * GI, pods: -GI };
  let ring: () => void = () => undefined;
  let woken = 0;
  const clock = { steady: () => 10_000, lookAfter: (_: number, then: () => void) => ((ring = then), { cancel() {} }) };
  const watch = new MemoryWatch({ clock: clock as unknown as Clock, read: () => now, wake: () => woken++ });
  watch.arm({ node: 3 * GI, pods: GI / 2 });
  now = { node: 6 * GI, pods: -1.4 * GI };
  ring();
  assert.equal(woken, 0);
  now = { node: 6 * GI, pods: -1.6 * GI };
  ring();
  assert.equal(woken, 1);
});

it('memory that goes while figures of the disk are waited for ends that wait, and a pod goes for memory', async () => {
  const evictionHard = { 'memory.available': '1Gi', 'nodefs.available': '4Gi' };
  const { manager, seen, pass } = fakeNode({ pods: [makePod('one'), makePod('two')], watched: true, evictionHard });
  seen.disk = GI;
  seen.layers = { at: seen.now - 1_000, bytes: { one: 2, two: 1 } };
  manager.start?.();
  await pass(3_000);
  assert.equal(seen.told.length, 0, 'layers are waited for');
  seen.available = GI / 2;
  await pass(2_000);
  assert.deepEqual(
    seen.told.map(({ uid }) => uid),
    ['uid-two'],
    'who takes more of memory, whoever has written more',
  );
  manager.stop?.();
});

for (const watched of [true, false])
  it(`memory that runs short while images are removed waits for no disk (${watched ? 'watched' : 'by regular looks'})`, async () => {
    const evictionHard = { 'memory.available': '1Gi', 'nodefs.available': '4Gi' };
    const removed = Promise.withResolvers<undefined>();
    const reclaim = () => removed.promise;
    const pods = [makePod('one'), makePod('two')];
    const { manager, seen, pass } = fakeNode({ pods, watched, evictionHard, reclaim });
    seen.disk = GI;
    manager.start?.();
    await pass(8_000);
    seen.available = GI / 2;
    await pass(1_000);
    assert.equal(manager.pressure?.().memory, watched);
    await pass(2_000);
    assert.equal(manager.pressure?.().memory, true);
    assert.deepEqual(
      seen.told.map(({ uid }) => uid),
      ['uid-two'],
      'it goes for memory',
    );
    assert.deepEqual(
      seen.events.slice(0, 2).map(({ message }) => message),
      ['Attempting to reclaim ephemeral-storage', 'Attempting to reclaim memory'],
    );
    // The removal ends while a pod is waited for: nobody hears of it, and the disk has its next round.
    removed.resolve(undefined);
    await pass(3_000);
    assert.equal(seen.told.length, 1);
    seen.available = 8 * GI;
    seen.disk = 8 * GI;
    seen.states.set('uid-two', 'terminated.kept');
    await pass(30_000);
    assert.equal(seen.told.length, 1);
    manager.stop?.();
  });

it('a fall of memory that meets nothing ends no wait for a disk', async () => {
  const evictionHard = { 'memory.available': '1Gi', 'nodefs.available': '4Gi' };
  const { manager, seen, pass } = fakeNode({ pods: [makePod('one'), makePod('two')], watched: true, evictionHard });
  seen.disk = GI;
  seen.layers = { at: seen.now - 1_000, bytes: { one: 2, two: 1 } };
  manager.start?.();
  await pass(3_000);
  seen.available = 1.5 * GI;
  await pass(5_000);
  assert.equal(seen.told.length, 0, 'layers are waited for on');
  seen.layers = { at: seen.now, bytes: { one: 1, two: 2 } };
  await pass(2_000);
  assert.deepEqual(
    seen.told.map(({ uid }) => uid),
    ['uid-two'],
  );
  manager.stop?.();
});

it('a round is over when nothing is short any more, however long a removal takes', async () => {
  const evictionHard = { 'memory.available': '1Gi', 'nodefs.available': '4Gi' };
  const reclaim = () => new Promise<void>(() => undefined);
  const { manager, seen, pass } = fakeNode({ pods: [makePod('one'), makePod('two')], evictionHard, reclaim });
  seen.disk = GI;
  manager.start?.();
  await pass(25_000);
  assert.equal(manager.pressure?.().disk, true);
  seen.disk = 8 * GI;
  await pass(10_000);
  assert.equal(seen.lines.at(-1), 'Eviction manager: able to reduce resource pressure without evicting pods.');
  await pass(60_000);
  assert.equal(manager.pressure?.().disk, false);
  seen.available = GI / 2;
  await pass(10_000);
  assert.equal(seen.told.length, 1, 'the next round begins as ever');
  manager.stop?.();
});
