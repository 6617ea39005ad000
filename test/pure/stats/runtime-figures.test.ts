import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStats } from '../../../cri/generated/runtime/v1/api.ts';
import { RuntimeUsage } from '../../../actors/resources/stats/runtime-figures.ts';
import { NOW, container, criStats, fakeNode, reading, sandbox } from './support/fake-node.ts';

/** Figures of a layer that was measured so many ms after NOW. */
function layerAt(id: string, ms: number): ContainerStats {
  return criStats(id, 'main', { writableLayer: { timestamp: String(BigInt(NOW + ms) * 1_000_000n) } });
}

/** A runtime with these figures, its callers' clocks, and the ids that it was asked for ('' = all). */
function fakeUsage(stats: ContainerStats[]) {
  const world = { stats, asked: [] as string[], now: NOW, steady: 0 };
  const listContainerStats = ({ filter }: { filter?: { id?: string } }) => {
    const id = filter?.id ?? '';
    world.asked.push(id);
    return Promise.resolve({ stats: world.stats.filter(({ attributes }) => id === '' || attributes?.id === id) });
  };
  const cri = { runtime: { listContainerStats } } as unknown as ConstructorParameters<typeof RuntimeUsage>[0];
  const usage = new RuntimeUsage(
    cri,
    () => world.now,
    () => world.steady,
  );
  return { world, usage };
}

describe('writable layers', () => {
  it('are asked for by the one that was measured first, until it has another figure', async () => {
    const { world, usage } = fakeUsage([layerAt('b', -2000), layerAt('a', -3000), layerAt('c', -1000)]);
    assert.deepEqual(await usage.layers(), { stats: world.stats, fresh: true });
    const first = world.stats;
    world.now += 1000;
    assert.deepEqual(await usage.layers(), { stats: first, fresh: false });
    assert.deepEqual(world.asked, ['', 'a']);
    // The next round of the runtime has begun: only the first has been measured again
    world.stats = [layerAt('b', -2000), layerAt('a', 1000), layerAt('c', -1000)];
    assert.deepEqual(await usage.layers(), { stats: world.stats, fresh: true });
    assert.deepEqual(world.asked, ['', 'a', 'a', '']);
    world.stats = [layerAt('b', 1001), layerAt('a', 1000), layerAt('c', -1000)];
    assert.deepEqual((await usage.layers()).stats, world.stats, 'b, now the eldest, has another figure');
    assert.deepEqual(world.asked.slice(4), ['b', '']);
  });

  it('are all asked for when they are old, the clock was set back, or the first is gone', async () => {
    const { world, usage } = fakeUsage([layerAt('a', 0), layerAt('b', 1)]);
    await usage.layers();
    world.now = NOW + 10_001;
    assert.equal((await usage.layers()).fresh, true);
    world.now = NOW - 1;
    assert.equal((await usage.layers()).fresh, true);
    assert.deepEqual(world.asked, ['', '', ''], 'nobody asked for one alone');
    world.now = NOW + 5000;
    world.stats = [layerAt('b', 1)];
    assert.deepEqual(await usage.layers(), { stats: world.stats, fresh: true });
  });

  it('are all asked for as long as one has no figure, or none is told', async () => {
    const none = criStats('b', 'main');
    none.writableLayer = undefined;
    const notYet = criStats('b', 'main', { writableLayer: { timestamp: '0' } });
    for (const stats of [[layerAt('a', 0), none], [layerAt('a', 0), notYet], []]) {
      const { world, usage } = fakeUsage(stats);
      await usage.layers();
      await usage.layers();
      assert.deepEqual(world.asked, ['', '']);
    }
  });

  it('of a runtime that measures when it is asked are new each time', async () => {
    const { world, usage } = fakeUsage([layerAt('a', 0)]);
    await usage.layers();
    world.stats = [layerAt('a', 100)];
    world.now += 100;
    assert.deepEqual(await usage.layers(), { stats: world.stats, fresh: true });
  });
});

describe('swap of a runtime', () => {
  it('that tells none is not asked for again within a minute', async () => {
    const { world, usage } = fakeUsage([layerAt('a', 0)]);
    assert.equal((await usage.swap()).fresh, true);
    world.steady = 59_999;
    assert.deepEqual(await usage.swap(), { stats: null, fresh: false });
    world.steady = 60_000;
    assert.equal((await usage.swap()).fresh, true);
    assert.deepEqual(world.asked, ['', '']);
  });

  it('that tells it of one, or has no container, is asked for each time', async () => {
    const swap = criStats('b', 'main', { swap: { timestamp: '1', swapUsageBytes: { value: '5' } } });
    for (const stats of [[layerAt('a', 0), swap], []]) {
      const { world, usage } = fakeUsage(stats);
      await usage.swap();
      await usage.swap();
      assert.deepEqual(world.asked, ['', '']);
    }
  });
});

const onePod = {
  sandboxes: [sandbox('s1', 'web')],
  containers: [container('c1', 's1', 'main')],
  stats: [criStats('c1', 'main')],
};
const podCgroup = '/kubepods/burstable/poduid-web';
const cgroups = { [podCgroup]: reading(20), [`${podCgroup}/c1`]: reading(10), [`${podCgroup}/s1`]: reading(1) };

describe('what is asked and read for a summary', () => {
  it('the counters: nothing of the runtime’s figures from the second time on, and no limits, processes and pressure', async () => {
    const { stats, calls, reader } = fakeNode({ ...onePod, cgroups });
    const first = await stats.cpuAndMemory(false);
    calls.length = 0;
    const second = await stats.cpuAndMemory(false);
    assert.deepEqual(calls.toSorted(), ['ListContainers', 'ListPodSandbox']);
    assert.deepEqual(second.pods[0]?.containers[0]?.swap, first.pods[0]?.containers[0]?.swap);
    assert.equal(second.pods[0]?.containers[0]?.name, 'main');
    for (const key of ['limits', 'processes', 'pressure', 'createdAt', 'files', 'blockIo', 'details'] as const)
      assert.equal(reader.without.get(`${podCgroup}/c1`)?.[key], true, key);
  });

  it('the whole: processes of containers alone, and when the node’s cgroups were made, not the pods’', async () => {
    const { stats, reader } = fakeNode({ ...onePod, cgroups });
    await stats.summary();
    const without = (path: string) => {
      const { processes = false, createdAt = false, limits = false, pressure = false } = reader.without.get(path) ?? {};
      return { processes, createdAt, limits, pressure };
    };
    const all = { limits: false, pressure: false };
    assert.deepEqual(without(`${podCgroup}/c1`), { ...all, processes: false, createdAt: true });
    assert.deepEqual(without(podCgroup), { ...all, processes: true, createdAt: true });
    assert.deepEqual(without('/'), { ...all, processes: true, createdAt: false });
    assert.equal(reader.without.has(`${podCgroup}/s1`), false);
  });

  it('a container that has no cgroup, or is new to the runtime’s figures, has all asked for', async () => {
    for (const form of ['summary', 'cpuAndMemory'] as const) {
      const { stats, calls, reader } = fakeNode({ ...onePod, cgroups });
      await stats[form]();
      calls.length = 0;
      reader.cgroups.delete(`${podCgroup}/c1`);
      const { pods } = await stats[form]();
      assert.equal(pods[0]?.containers[0]?.memory?.workingSetBytes, 1000, 'what the runtime tells');
      assert.equal(calls.at(-1), 'ListContainerStats', form);
    }
    const runs = { ...onePod, containers: [...onePod.containers] };
    const stats = [...onePod.stats];
    const node = fakeNode({ ...runs, stats, cgroups: { ...cgroups, [`${podCgroup}/c2`]: reading(5) } });
    await node.stats.summary();
    runs.containers.push(container('c2', 's1', 'other'));
    stats.push(criStats('c2', 'other'));
    const [pod] = (await node.stats.summary()).pods;
    assert.deepEqual(pod?.containers.map(({ name }) => name).toSorted(), ['main', 'other']);
  });
});
