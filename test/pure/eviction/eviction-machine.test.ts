import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusedUnderPressure } from '../../../machines/eviction/admit-under-pressure.ts';
import type { Observations } from '../../../machines/eviction/observations.ts';
import { bytes, EvictionBench, hard, makePod, memory, MINUTE, names, soft, use } from './eviction-bench.ts';

/** The pods of kubelet's tests. */
function memoryPods() {
  const guaranteed = { cpu: '100m', memory: '1Gi' };
  return [
    {
      pod: makePod('guaranteed', { priority: -1, requests: guaranteed, limits: guaranteed }),
      figures: use({ memory: '900Mi' }),
    },
    { pod: makePod('below', { priority: 0, requests: { memory: '100Mi' } }), figures: use({ memory: '50Mi' }) },
    { pod: makePod('above', { priority: 0, requests: { memory: '100Mi' } }), figures: use({ memory: '400Mi' }) },
    { pod: makePod('high', { priority: 1 }), figures: use({ memory: '400Mi' }) },
    { pod: makePod('low', { priority: -1 }), figures: use({ memory: '100Mi' }) },
  ];
}

describe('memory (kubelet TestMemoryPressure)', () => {
  it('waits out the grace period of a soft threshold, acts on a hard one at once, and keeps the condition for its period', () => {
    const bench = new EvictionBench([hard('memory.available', '1Gi'), soft('memory.available', '2Gi')]);
    bench.pods = memoryPods();
    const under = () => bench.context.conditions;
    const bestEffort = makePod('best-admit');
    const burstable = makePod('burst-admit', { requests: { cpu: '100m', memory: '100Mi' } });
    const admits = () => [bestEffort, burstable].map((pod) => refusedUnderPressure(pod, under(), false) === null);

    assert.deepEqual(bench.look(memory('2Gi'), 0), []);
    assert.deepEqual(under(), []);
    assert.deepEqual(admits(), [true, true]);

    assert.deepEqual(bench.look(memory('1500Mi')), []);
    assert.deepEqual(under(), ['MemoryPressure']);

    const [first, ...more] = bench.look(memory('1500Mi'), 3 * MINUTE);
    assert.deepEqual([first?.name, first?.graceSeconds, more.length], ['low', 5, 0]);

    assert.deepEqual(bench.look(memory('3Gi'), 20 * MINUTE), []);
    assert.deepEqual(under(), []);

    const [second] = bench.look(memory('500Mi'));
    assert.deepEqual([second?.name, second?.graceSeconds], ['low', 1]);
    assert.deepEqual(under(), ['MemoryPressure']);
    assert.deepEqual(admits(), [false, true]);

    assert.deepEqual(bench.look(memory('2Gi')), []);
    assert.deepEqual(under(), ['MemoryPressure'], 'its transition period is not over');
    assert.deepEqual(admits(), [false, true]);

    assert.deepEqual(bench.look(memory('2Gi'), 5 * MINUTE), []);
    assert.deepEqual(under(), []);
    assert.deepEqual(admits(), [true, true]);
    assert.equal(bench.state, 'watching.calm');
  });

  it('gives a pod no more time than it asked for (the smaller grace period counts)', () => {
    const bench = new EvictionBench([soft('memory.available', '2Gi', 0.001)], { maxPodGraceSeconds: 30 });
    bench.pods = [{ pod: makePod('quick', { grace: 3 }), figures: use({ memory: '1Gi' }) }];
    bench.look(memory('1Gi'));
    assert.equal(bench.look(memory('1Gi'))[0]?.graceSeconds, 3);
  });

  it('goes on until the minimum was reclaimed (TestMinReclaim)', () => {
    const bench = new EvictionBench([hard('memory.available', '1Gi', '500Mi')]);
    bench.pods = memoryPods();
    assert.deepEqual(names(bench.look(memory('2Gi'))), []);
    assert.deepEqual(names(bench.look(memory('500Mi'))), ['low']);
    assert.deepEqual(names(bench.look(memory('1.2Gi'))), ['low']);
    assert.deepEqual(names(bench.look(memory('2Gi'))), []);
    assert.deepEqual(bench.context.conditions, ['MemoryPressure']);
    assert.deepEqual(names(bench.look(memory('2Gi'), 5 * MINUTE)), []);
    assert.deepEqual(bench.context.conditions, []);
  });

  it('tells of a pressure for its period alone, and of one that is over no more, when the clock is set back', () => {
    const bench = new EvictionBench([hard('memory.available', '1Gi')], { endsForGood: true });
    const under = () => bench.context.conditions;
    bench.look(memory('900Mi'));
    bench.look(memory('2Gi'), -MINUTE);
    assert.deepEqual(under(), ['MemoryPressure']);
    bench.look(memory('2Gi'), 4 * MINUTE);
    assert.deepEqual(under(), ['MemoryPressure'], 'the period begins anew by the clock of now');
    bench.look(memory('2Gi'), MINUTE);
    assert.deepEqual(under(), []);
    bench.look(memory('2Gi'), -5 * MINUTE);
    assert.deepEqual(under(), []);
  });

  it('watches the memory of all pods together (TestAllocatableMemoryPressure), which is the same condition', () => {
    const bench = new EvictionBench([hard('allocatableMemory.available', '1Gi')]);
    bench.pods = memoryPods();
    const seen: Observations = {
      'allocatableMemory.available': { available: bytes('500Mi'), capacity: bytes('2Gi'), at: 0 },
    };
    assert.deepEqual(names(bench.look(seen)), ['low']);
    assert.deepEqual(bench.context.conditions, ['MemoryPressure']);
  });

  it('does nothing on stats that are no newer than the last ones', () => {
    const bench = new EvictionBench([hard('memory.available', '1Gi')]);
    bench.pods = memoryPods();
    assert.deepEqual(names(bench.look(memory('500Mi', bench.now))), ['low']);
    const { at } = memory('500Mi', bench.context.seen['memory.available']?.at)['memory.available'] ?? { at: 0 };
    assert.deepEqual(names(bench.look(memory('500Mi', at))), []);
    assert.deepEqual(bench.context.conditions, ['MemoryPressure']);
    assert.deepEqual(names(bench.look(memory('500Mi', at + 1))), ['low']);
  });
});

it('process ids: by priority, then by how many (TestPIDPressure)', () => {
  const bench = new EvictionBench([hard('pid.available', '1200')]);
  bench.pods = [
    { pod: makePod('few', { priority: 0 }), figures: use({ pids: 10 }) },
    { pod: makePod('many', { priority: 0 }), figures: use({ pids: 300 }) },
    { pod: makePod('high', { priority: 5 }), figures: use({ pids: 9000 }) },
  ];
  const seen: Observations = { 'pid.available': { available: 700, capacity: 32768, at: 0 } };
  const [evicted] = bench.look(seen);
  assert.equal(evicted?.name, 'many');
  assert.equal(evicted.message, 'The node was low on resource: pids. Threshold quantity: 1200, available: 700. ');
  assert.deepEqual(bench.context.conditions, ['PIDPressure']);
});

describe('disk', () => {
  const disk = (available: string, fs = 'nodefs'): Observations => ({
    [`${fs}.available`]: { available: bytes(available), capacity: bytes('16Gi'), at: 0 },
  });
  const pods = () => [
    { pod: makePod('lots', { priority: -1 }), figures: use({ root: '900Mi' }) },
    { pod: makePod('some', { priority: -1 }), figures: use({ logs: '50Mi' }) },
    { pod: makePod('worthy', { priority: 1 }), figures: use({ root: '2Gi' }) },
  ];

  it('lets the node give back what it can first, and ends nobody when that is enough (TestNodeReclaimFuncs)', () => {
    const bench = new EvictionBench([hard('nodefs.available', '1Gi', '500Mi')]);
    bench.pods = pods();
    bench.look(disk('16Gi'));
    bench.afterReclaim = disk('16Gi');
    assert.deepEqual(names(bench.look(disk('750Mi'))), []);
    assert.deepEqual(bench.reclaimed, ['containers', 'images']);
    assert.deepEqual(bench.context.conditions, ['DiskPressure']);
    assert.equal(bench.state, 'watching.pressed');
    const events = bench.orders.flatMap((order) => (order.type === 'node.event' ? [order.message] : []));
    assert.deepEqual(events, ['Attempting to reclaim ephemeral-storage']);

    // Less than what is to be reclaimed at least is not enough.
    bench.afterReclaim = disk('1.1Gi');
    assert.deepEqual(names(bench.look(disk('750Mi'))), ['lots']);
  });

  it('ends a pod when it cannot be seen what was given back', () => {
    const bench = new EvictionBench([hard('nodefs.available', '1Gi')]);
    bench.pods = pods();
    bench.afterReclaim = null;
    assert.deepEqual(names(bench.look(disk('750Mi'))), ['lots']);
  });

  for (const [what, disks, fs, tried, victim] of [
    ['nodefs with images apart', { imageFs: true }, 'nodefs', [], 'some'],
    ['imagefs apart', { imageFs: true }, 'imagefs', ['containers', 'images'], 'lots'],
    ['nodefs of split disks', { imageFs: true, splitFs: true }, 'nodefs', ['containers'], 'lots'],
    ['imagefs of split disks', { imageFs: true, splitFs: true }, 'imagefs', ['images'], 'lots'],
  ] as const)
    it(`${what}: what is reclaimed, and who is in the way`, () => {
      const bench = new EvictionBench([hard(`${fs}.available`, '1Gi')], {}, disks);
      bench.pods = pods();
      bench.afterReclaim = disk('750Mi', fs);
      assert.deepEqual(names(bench.look(disk('750Mi', fs))), [victim]);
      assert.deepEqual(bench.reclaimed, tried);
    });

  it('containerfs has the thresholds of where writable layers are', () => {
    const bench = new EvictionBench([hard('imagefs.available', '1Gi')], {}, { imageFs: true });
    bench.pods = pods();
    bench.afterReclaim = disk('750Mi', 'containerfs');
    const [evicted] = bench.look(disk('750Mi', 'containerfs'));
    assert.deepEqual([evicted?.name, evicted?.signal], ['lots', 'containerfs.available']);
  });

  it('inodes: what a pod asked for is taken away in bytes, as kubelet does', () => {
    const bench = new EvictionBench([hard('nodefs.inodesFree', '1Mi')]);
    bench.pods = [
      {
        pod: makePod('asks', { requests: { 'ephemeral-storage': '1Gi' } }),
        figures: use({ root: '500k', inodes: true }),
      },
      { pod: makePod('asks-not'), figures: use({ root: '400k', inodes: true }) },
    ];
    const seen: Observations = { 'nodefs.inodesFree': { available: 500_000, capacity: 4_000_000, at: 0 } };
    bench.afterReclaim = seen;
    const [evicted] = bench.look(seen);
    assert.equal(evicted?.name, 'asks-not');
    assert.equal(evicted.message, 'The node was low on resource: inodes. Threshold quantity: 1Mi, available: 500k. ');
  });
});

it('memory comes before disk', () => {
  const bench = new EvictionBench([hard('nodefs.available', '1Gi'), hard('memory.available', '1Gi')]);
  bench.pods = memoryPods();
  const seen = { ...memory('500Mi'), 'nodefs.available': { available: 1, capacity: 2 ** 40, at: 0 } };
  const [evicted] = bench.look(seen);
  assert.equal(evicted?.signal, 'memory.available');
  assert.deepEqual(bench.context.conditions, ['MemoryPressure', 'DiskPressure']);
});

it('static, mirror and system pods are never evicted (TestStaticCriticalPodsAreNotEvicted); with only such pods nothing is done', () => {
  const bench = new EvictionBench([hard('memory.available', '1Gi')]);
  const huge = use({ memory: '3Gi' });
  bench.pods = [
    { pod: makePod('static', { annotations: { 'kubernetes.io/config.source': 'file' } }), figures: huge },
    { pod: makePod('mirror', { annotations: { 'kubernetes.io/config.mirror': 'x' } }), figures: huge },
    { pod: makePod('system', { priority: 2_000_000_000 }), figures: huge },
  ];
  assert.deepEqual(bench.look(memory('500Mi')), []);
  assert.equal(bench.state, 'watching.pressed');
  bench.pods.push({ pod: makePod('small'), figures: use({ memory: '1Mi' }) });
  assert.deepEqual(names(bench.look(memory('500Mi'))), ['small']);
});

describe('limits on local storage (TestStorageLimitEvictions)', () => {
  const limits = { 'ephemeral-storage': '1Gi' };
  const volumes = [{ name: 'local', emptyDir: { sizeLimit: '1Gi' } }];
  for (const [what, pod, figures, signal, message] of [
    [
      'a writable layer',
      makePod('p', { limits }),
      use({ root: '2Gi' }),
      'ephemeralpodfs.limit',
      'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ',
    ],
    [
      'logs',
      makePod('p', { limits }),
      use({ logs: '2Gi' }),
      'ephemeralpodfs.limit',
      'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ',
    ],
    [
      'an emptyDir',
      makePod('p', { volumes }),
      use({ volume: '2Gi' }),
      'emptydirfs.limit',
      'Usage of EmptyDir volume "local" exceeds the limit "1Gi". ',
    ],
  ] as const)
    it(`${what} over its limit, next to a pod that keeps its own`, () => {
      const bench = new EvictionBench([hard('nodefs.available', '1Gi')]);
      const neighbour = makePod('neighbour', { limits, volumes });
      bench.pods = [
        { pod: neighbour, figures: use({ root: '100Mi', volume: '200Mi' }) },
        { pod, figures },
      ];
      const [evicted, ...more] = bench.look({ 'nodefs.available': { available: 2 ** 40, capacity: 2 ** 41, at: 0 } });
      assert.deepEqual(
        [evicted?.name, evicted?.signal, evicted?.message, evicted?.graceSeconds, evicted?.disrupts, more.length],
        ['p', signal, message, 1, false, 0],
      );
      assert.deepEqual(bench.context.conditions, []);
    });

  it('a container over its own limit, where the pod as a whole is not', () => {
    const pod = makePod('p', { limits });
    pod.spec?.containers.push({ name: 'd', resources: { limits: { 'ephemeral-storage': '3Gi' } } });
    const bench = new EvictionBench([]);
    bench.pods = [{ pod, figures: use({ root: '1500Mi', logs: '500Mi' }) }];
    const [evicted] = bench.look({});
    assert.equal(evicted?.message, 'Container c exceeded its local ephemeral storage limit "1Gi". ');
    assert.equal(evicted.signal, 'ephemeralcontainerfs.limit');
    // On a disk of their own layers do not count for it.
    const apart = new EvictionBench([], {}, { imageFs: true });
    apart.pods = bench.pods;
    assert.deepEqual(apart.look({}), []);
  });

  it('all that break theirs go at once, critical ones stay', () => {
    const bench = new EvictionBench([]);
    const figures = use({ volume: '2Gi' });
    bench.pods = [
      { pod: makePod('a', { volumes }), figures },
      { pod: makePod('system', { volumes, priority: 2_000_000_001 }), figures },
      { pod: makePod('b', { volumes }), figures },
    ];
    assert.deepEqual(names(bench.look({})), ['a', 'b']);
  });
});

it('a node that is well tells its machine nothing, and one whose pressure has ended only that', () => {
  const bench = new EvictionBench([hard('memory.available', '1Gi')]);
  bench.pods = [];
  const told = () => bench.orders.length;
  bench.look(memory('2Gi'));
  assert.equal(bench.context.seen['memory.available'], undefined);
  bench.look(memory('500Mi'));
  bench.look(memory('2Gi'));
  const before = told();
  bench.look(memory('2Gi'), 1000);
  assert.equal(told(), before);
  bench.look(memory('2Gi'), 5 * MINUTE);
  assert.deepEqual(bench.orders.slice(before), [{ type: 'status.post' }]);
});
