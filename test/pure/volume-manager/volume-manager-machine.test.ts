import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compiledMachine } from '../../../machines/machine-step/compiled-machine.ts';
import type { KnownVolume } from '../../../machines/volume-manager/mount-context.ts';
import { nextVolumeDeadline } from '../../../machines/volume-manager/volume-manager-machine.ts';
import { NOT_ATTACHED, NOT_GROWN, PATIENCE_MS } from '../../../machines/volume-manager/volume-waits.ts';
import { deviceMachine } from '../../../machines/volume-manager/device-machine.ts';
import { mountMachine } from '../../../machines/volume-manager/mount-machine.ts';
import {
  volumeManagerStateName,
  volumeManagerWhy,
  volumesInUse,
} from '../../../machines/volume-manager/volume-manager-state.ts';
import { VolumeWorld, known } from './world.ts';
import type { Fate } from './world.ts';

const want = (world: VolumeWorld, uid: string, volume: string) =>
  world.take({ type: 'volume.wanted', uid, pod: `ns/${uid}`, volume });
const leave = (world: VolumeWorld, uid: string) => world.take({ type: 'pod.left', uid, found: [] });

/** Two volumes on one attachable disk with a step of its own. */
const disk = () =>
  new VolumeWorld((_uid, volume) => known(volume, { device: 'test/p/d', attachable: true, stages: true }));

const moves = new Set<string>();

describe('a volume of a pod', () => {
  test('is looked up, attached, staged, published and told of, in this order', () => {
    const world = disk();
    want(world, 'a', 'v');
    for (const type of ['volume.resolve', 'device.attach', 'device.stage', 'volume.publish']) {
      const call = world.only();
      assert.equal(call.type, type);
      world.end(call.key);
    }
    assert.deepEqual(world.told.at(-1), { type: 'worker.mounted', uid: 'a', volume: 'v', path: '/pods/a/v' });
    assert.equal(world.value('a/v'), 'mounted');
    assert.equal(volumeManagerStateName(world.state), 'settled');
    assert.deepEqual(want(world, 'a', 'v'), [world.told.at(-1)], 'one that is there is told of at once');
  });

  test('waits for its claim with delays that grow from 500 ms to 4 s, and its pod hears when it is there', () => {
    const world = disk();
    want(world, 'a', 'v');
    const waits: number[] = [];
    for (let i = 0; i < 10; i++) {
      world.end(world.only().key, 'fails');
      assert.equal(world.value('a/v'), 'unresolved');
      if (i === 0)
        assert.deepEqual(world.told.at(-1), {
          ...{ type: 'worker.failed', uid: 'a', volume: 'v', code: 'E', text: 'no volume.resolve' },
        });
      waits.push((nextVolumeDeadline(world.state) ?? 0) - world.at);
      world.wait();
    }
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 4000, 4000, 4000, 4000, 4000, 4000]);
    assert.equal(world.told.length, 1, 'a worker that does not wait is told nothing');
    while (world.calls.size > 0) world.end(world.only().key);
    assert.equal(world.told.at(-1)?.type, 'worker.mounted');
  });

  test('is published again with delays that grow from 500 ms to 122 s', () => {
    const world = new VolumeWorld((_uid, volume) => known(volume));
    want(world, 'a', 'v');
    world.end(world.only().key);
    const waits: number[] = [];
    for (let i = 0; i < 10; i++) {
      world.end(world.only().key, 'fails');
      waits.push((nextVolumeDeadline(world.state) ?? 0) - world.at);
      world.wait();
    }
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 122_000, 122_000]);
  });

  test('whose device is not attached is looked at again as soon as the node’s object names it', () => {
    const world = disk();
    want(world, 'a', 'v');
    world.end(world.only().key);
    const told = () => world.take({ type: 'node.told', devices: ['test/p/d', 'test/p/unknown'] });
    assert.deepEqual(told(), [], 'a look is under way');
    world.take({ type: 'call.failed', key: world.only().key, code: NOT_ATTACHED, text: 'not attached', done: true });
    world.calls.clear();
    assert.equal(world.state.devices['test/p/d']?.value, 'attachFailed');
    told();
    assert.equal(world.only().type, 'device.attach');
    world.end(world.only().key, 'fails');
    assert.deepEqual(told(), [], 'what has failed otherwise waits out its delay');
  });

  test("that takes too long is told of after kubelet's 2 min 3 s, and goes on", () => {
    const world = disk();
    want(world, 'a', 'v');
    world.end(world.only().key);
    const { key } = world.only();
    world.wait();
    assert.equal(world.at, 1_000 + PATIENCE_MS);
    assert.deepEqual(world.told.at(-1), {
      ...{ type: 'worker.failed', uid: 'a', volume: 'v', code: 'VolumeUnattached' },
      text: 'timed out waiting for the condition',
    });
    assert.equal(nextVolumeDeadline(world.state), null);
    world.end(key);
    assert.equal(world.only().type, 'device.stage');
  });

  test('is waited for no longer when another of its pod cannot be looked up, and goes on', () => {
    const world = disk();
    want(world, 'a', 'v');
    world.end(world.only().key);
    const [{ key }, { state }] = [world.only(), world];
    assert.deepEqual(world.take({ type: 'wait.over', uid: 'b' }), []);
    assert.equal(world.state, state);
    const over = { type: 'worker.failed', uid: 'a', volume: 'v', code: 'VolumeUnattached' };
    assert.deepEqual(world.take({ type: 'wait.over', uid: 'a' }), [
      { ...over, text: 'timed out waiting for the condition' },
    ]);
    assert.deepEqual(world.take({ type: 'wait.over', uid: 'a' }), [], 'its worker has gone');
    world.end(key);
    assert.equal(world.only().type, 'device.stage');
  });

  test('one that hangs holds up no other', () => {
    const world = new VolumeWorld((uid, volume) => known(volume, { device: `test/p/${uid}${volume}`, stages: true }));
    for (const [uid, volume] of [
      ['a', 'slow'],
      ['a', 'quick'],
      ['b', 'v'],
    ] as const)
      want(world, uid, volume);
    for (let i = 0; i < 30; i++)
      for (const call of [...world.calls.values()])
        if (!('volume' in call && call.volume === 'slow' && call.type === 'device.stage')) world.end(call.key);
    assert.deepEqual([world.value('a/quick'), world.value('b/v')], ['mounted', 'mounted']);
    assert.equal(world.value('a/slow'), 'waitingForDevice');
    assert.equal(world.only().type, 'device.stage');
  });

  test('of ReadWriteOncePod is not given to a second pod while the first has it', () => {
    const world = new VolumeWorld((_uid, volume) => known(volume, { device: 'test/p/d', stages: true, alone: true }));
    want(world, 'a', 'v');
    while (world.calls.size > 0) world.end(world.only().key);
    want(world, 'b', 'v');
    world.end(world.only().key);
    assert.equal(world.calls.size, 0);
    const text =
      'MountVolume.SetUp failed for volume "v" : volume uses the ReadWriteOncePod access mode and is already in use by another pod';
    assert.deepEqual(world.told.at(-1), { type: 'worker.failed', uid: 'b', volume: 'v', code: 'FailedMount', text });
    const blocks = new VolumeWorld((_uid, volume) =>
      known(volume, { device: 'test/p/d', stages: true, alone: true, mode: 'Block', mapped: true }),
    );
    want(blocks, 'a', 'v');
    while (blocks.calls.size > 0) blocks.end(blocks.only().key);
    want(blocks, 'b', 'v');
    blocks.end(blocks.only().key);
    const ofBlock = text.replace('MountVolume.SetUp', 'MapVolume.SetUpDevice');
    assert.deepEqual(blocks.told.at(-1), { ...world.told.at(-1), text: ofBlock });
    assert.match(volumeManagerWhy(world.state), /volume v of ns\/b is waitingForDevice since .*: .*already in use/);
    leave(world, 'a');
    world.end(world.only().key);
    world.wait();
    assert.equal(world.only().type, 'volume.publish');
  });

  for (const aloneAtEachTry of [true, undefined])
    test(`nor to both when it has failed at each of them${aloneAtEachTry ? '' : ' (as older agents did)'}`, () => {
      const more = { device: 'test/p/d', stages: true, alone: true, ...(aloneAtEachTry && { aloneAtEachTry }) };
      const world = new VolumeWorld((_uid, volume) => known(volume, more));
      want(world, 'a', 'v');
      while (world.only().type !== 'volume.publish') world.end(world.only().key);
      world.end(world.only().key, 'fails');
      want(world, 'b', 'v');
      while (world.only().type !== 'volume.publish') world.end(world.only().key);
      world.end(world.only().key, 'fails');
      for (let i = 0; i < 5 && world.calls.size === 0; i++) world.wait();
      for (let i = 0; i < 5; i++) world.wait();
      const publishing = [...world.calls.values()].filter(({ type }) => type === 'volume.publish');
      assert.equal(publishing.length, aloneAtEachTry ? 1 : 2);
    });
});

describe('a pod that ends', () => {
  test('its volume is unpublished and the device unstaged, in this order, and volumesInUse follows', () => {
    const world = disk();
    for (const uid of ['a', 'b']) {
      want(world, uid, 'v');
      while (world.calls.size > 0) world.end(world.only().key);
    }
    assert.deepEqual(volumesInUse(world.state), ['test/p/d']);
    leave(world, 'a');
    world.end(world.only().key);
    assert.equal(world.calls.size, 0, 'the other pod still has it');
    assert.deepEqual(world.told.at(-1), { type: 'worker.left', uid: 'a', problem: null });
    leave(world, 'b');
    world.end(world.only().key, 'fails');
    assert.deepEqual(world.told.at(-1), {
      type: 'worker.left',
      uid: 'b',
      problem: { code: 'E', text: 'no volume.unpublish' },
    });
    world.wait();
    world.end(world.only().key);
    assert.equal(world.only().type, 'device.unstage');
    assert.deepEqual(volumesInUse(world.state), ['test/p/d']);
    world.end(world.only().key);
    assert.deepEqual([world.state.mounts, world.state.devices], [{}, {}]);
    assert.equal(world.told.at(-1)?.type, 'node.tell');
  });

  test('while its device is staged: the call is given up, its outcome waited for, and the device given back', () => {
    const world = disk();
    want(world, 'a', 'v');
    for (let i = 0; i < 2; i++) world.end(world.only().key);
    const { key, type } = world.only();
    assert.equal(type, 'device.stage');
    leave(world, 'a');
    assert.ok(world.told.some((order) => order.type === 'call.giveUp' && order.key === key));
    assert.deepEqual(world.state.mounts, {});
    assert.equal(world.calls.size, 1);
    world.end(key, 'worksUnheard');
    assert.equal(world.only().type, 'device.unstage');
    world.end(world.only().key);
    assert.equal(world.staged.size, 0);
  });

  test('of an earlier agent: what it had staged is staged again before a pod has it, since a boot takes its mount', () => {
    const world = disk();
    const device = {
      ...{ device: 'test/p/d', plugin: 'test/p', name: 'v', mode: 'Filesystem' as const },
      ...{ stagedPath: '/s', attachable: true },
    };
    const volume = {
      ...{ plugin: 'test/p', name: 'v', mode: 'Filesystem' as const },
      path: '/pods/a/v',
      attachable: true,
    };
    world.take({
      type: 'node.found',
      pods: [{ uid: 'a', volumes: [{ ...volume, device: 'test/p/d' }] }],
      devices: [device],
    });
    assert.equal(world.calls.size, 0, 'nobody has asked for it yet');
    want(world, 'a', 'v');
    const types: string[] = [];
    while (world.calls.size > 0) {
      types.push(world.only().type);
      world.end(world.only().key);
    }
    assert.deepEqual(types, ['volume.resolve', 'device.attach', 'device.stage', 'volume.publish']);
    for (const move of world.seen) moves.add(move);
  });

  test('of an earlier agent: what lies in its folder is taken away, and devices that nobody has with it', () => {
    const world = disk();
    world.published.add('a/v');
    for (const each of ['d', 'lonely']) world.staged.add(`test/p/${each}`);
    const volume = {
      plugin: 'test/p',
      name: 'v',
      mode: 'Filesystem',
      path: '/pods/a/v',
      device: 'test/p/d',
      attachable: true,
    } as const;
    const device = (name: string) =>
      ({
        device: `test/p/${name}`,
        plugin: 'test/p',
        name,
        mode: 'Filesystem',
        stagedPath: '/s',
        attachable: false,
      }) as const;
    world.take({
      type: 'node.found',
      pods: [{ uid: 'a', volumes: [volume] }],
      devices: [device('d'), device('lonely')],
    });
    const lonely = world.only();
    assert.equal(
      lonely.type === 'device.unstage' && lonely.device,
      'test/p/lonely',
      'died between unpublish and unstage',
    );
    world.end(lonely.key);
    world.take({ type: 'pod.left', uid: 'a', found: [volume] });
    assert.equal(world.only().type, 'volume.unpublish');
    world.end(world.only().key);
    assert.equal(world.only().type, 'device.unstage');
    world.end(world.only().key);
    assert.equal(world.staged.size + world.published.size, 0);
  });

  test('of an earlier agent: a device that was attached and never staged is in use until its volume is taken away', () => {
    const world = disk();
    const volume = {
      ...{ plugin: 'test/p', name: 'v', mode: 'Filesystem' as const, path: '/pods/a/v' },
      ...{ device: 'test/p/d' as const, attachable: true },
    };
    const others = [
      { ...volume, name: 'unknown', device: '?' as const },
      { ...volume, name: 'inline', device: '' as const },
      { ...volume, name: 'plain', device: 'test/p/plain' as const, attachable: false },
    ];
    world.take({ type: 'node.found', pods: [{ uid: 'a', volumes: [volume, ...others] }], devices: [] });
    assert.deepEqual(volumesInUse(world.state), ['test/p/d']);
    assert.deepEqual(world.told, [{ type: 'node.tell' }]);
    leave(world, 'a');
    const call = [...world.calls.values()].find((each) => each.type === 'volume.unpublish' && each.name === 'v');
    world.end(call?.key ?? '', 'fails');
    assert.deepEqual(volumesInUse(world.state), ['test/p/d']);
    while (world.calls.size > 0 || world.wait()) for (const key of [...world.calls.keys()]) world.end(key);
    assert.deepEqual(volumesInUse(world.state), []);
  });

  test('of an earlier agent: no device of the kind is unstaged while a folder does not tell its device', () => {
    const world = disk();
    const volume = {
      plugin: 'test/p',
      name: 'v',
      mode: 'Filesystem',
      path: '/p',
      device: '?',
      attachable: false,
    } as const;
    const device = {
      device: 'test/p/d',
      plugin: 'test/p',
      name: 'd',
      mode: 'Filesystem',
      stagedPath: '/s',
      attachable: false,
    } as const;
    world.take({ type: 'node.found', pods: [{ uid: 'a', volumes: [volume] }], devices: [device] });
    assert.equal(world.calls.size, 0);
    leave(world, 'a');
    world.end(world.only().key);
    assert.equal(world.only().type, 'device.unstage');
  });
});

test('a device that could not be given back is staged again at once for the next pod, as long as its look-up says so', () => {
  for (const attachable of [true, false]) {
    const world = new VolumeWorld((uid, volume) =>
      known(volume, {
        device: 'test/p/d',
        attachable,
        stages: true,
        ...(uid !== 'old' && { stagesAnew: true as const }),
      }),
    );
    const comeAndGo = (uid: string): void => {
      want(world, uid, 'v');
      while (world.calls.size > 0) world.end(world.only().key);
      leave(world, uid);
      world.end(world.only().key);
      for (let i = 0; i < 3; i++) {
        if (i > 0) world.wait();
        assert.equal(world.only().type, 'device.unstage');
        world.end(world.only().key, 'fails');
      }
      assert.equal(world.state.devices['test/p/d']?.value, 'unstageFailed');
    };
    comeAndGo('a');
    const retryAt = nextVolumeDeadline(world.state) ?? 0;
    want(world, 'b', 'v');
    world.end(world.only().key);
    if (attachable) {
      assert.equal(world.only().type, 'device.attach');
      world.end(world.only().key);
    }
    assert.equal(world.only().type, 'device.stage');
    assert.ok(world.at < retryAt, 'the delay was that of another call');
    world.end(world.only().key, 'fails');
    leave(world, 'b');
    assert.equal(
      world.only().type,
      'device.unstage',
      'what may be staged is given back, whatever became of the last call',
    );
    world.end(world.only().key);
    assert.deepEqual([world.state.mounts, world.state.devices], [{}, {}]);
    comeAndGo('a');
    want(world, 'old', 'v');
    world.end(world.only().key);
    assert.equal(world.calls.size, 0, 'an older agent waited for its next try to give it back');
    world.wait();
    assert.equal(world.only().type, 'device.unstage');
  }
});

test('a device that nobody has to attach any more is staged, and is not in use for those who attach', () => {
  const world = disk();
  for (const uid of ['a', 'b']) want(world, uid, 'v');
  for (const { key } of [...world.calls.values()]) world.end(key);
  assert.equal(world.only().type, 'device.attach');
  assert.deepEqual(volumesInUse(world.state), ['test/p/d']);
  world.more = { unattachable: true };
  world.end(world.only().key);
  assert.equal(world.only().type, 'device.stage');
  assert.deepEqual(volumesInUse(world.state), []);
  assert.ok(world.told.some(({ type }) => type === 'node.tell'));
  while (world.calls.size > 0) world.end([...world.calls.keys()][0] ?? '');
  assert.deepEqual([world.value('a/v'), world.value('b/v')], ['mounted', 'mounted']);
});

test('two volumes of a pod that are of one claim are one: published and taken away once', () => {
  const world = new VolumeWorld(() => known('pv', { device: 'test/p/d', stages: true }));
  want(world, 'a', 'v');
  want(world, 'a', 'w');
  for (const call of [...world.calls.values()]) world.end(call.key);
  world.end(world.only().key);
  world.end(world.only().key, 'fails');
  assert.deepEqual(
    world.told.map((order) => order.type === 'worker.failed' && order.volume),
    ['v', 'w'],
  );
  want(world, 'a', 'w');
  world.wait();
  world.end(world.only().key);
  assert.deepEqual([world.value('a/v'), world.value('a/w')], ['mounted', 'mounted']);
  leave(world, 'a');
  assert.equal(world.only().type, 'volume.unpublish');
  world.end(world.only().key);
  assert.equal(world.only().type, 'device.unstage');
});

test('a volume that has grown is made larger once, where a pod has it', () => {
  const sizes = { wantedBytes: 10, knownBytes: 10 };
  const world = new VolumeWorld((_uid, volume) => known(volume, { device: 'test/p/d', stages: true, ...sizes }));
  want(world, 'a', 'v');
  while (world.calls.size > 0) world.end(world.only().key);
  world.take({ type: 'volume.grown', uid: 'a', volume: 'v', wantedBytes: 20, knownBytes: 10 });
  const call = world.only();
  assert.equal(
    call.type === 'device.expand' && `${call.oldBytes} ${call.newBytes} ${call.publishedPath}`,
    '10 20 /pods/a/v',
  );
  world.end(call.key, 'fails');
  assert.equal(world.calls.size, 0);
  world.wait();
  world.end(world.only().key);
  world.take({ type: 'volume.grown', uid: 'a', volume: 'v', wantedBytes: 20, knownBytes: 10 });
  assert.equal(world.calls.size, 0);
});

test('a volume grows on this node though its claim was told by another one, and a failure is no other pod’s', () => {
  const sizes = { wantedBytes: 10, knownBytes: 10, growsHere: true } as const;
  const world = new VolumeWorld((_uid, volume) => known(volume, { device: 'test/p/d', stages: true, ...sizes }));
  want(world, 'a', 'v');
  while (world.calls.size > 0) world.end(world.only().key);
  world.take({ type: 'volume.grown', uid: 'a', volume: 'v', wantedBytes: 20, knownBytes: 20 });
  const call = world.only();
  assert.equal(call.type === 'device.expand' && `${call.oldBytes} ${call.newBytes}`, '10 20');
  want(world, 'b', 'v');
  const told = world.told.length;
  const look = [...world.calls.values()].find(({ type }) => type === 'volume.resolve');
  world.calls.delete(call.key);
  world.take({ type: 'call.failed', key: call.key, code: NOT_GROWN, text: 'not its turn', done: true });
  world.end(look?.key ?? '');
  world.end(world.only().key);
  assert.deepEqual(world.told.slice(told), [{ type: 'worker.mounted', uid: 'b', volume: 'v', path: '/pods/b/v' }]);
  world.wait();
  assert.equal(world.only().type, 'device.expand', 'it is asked for again');
  world.end(world.only().key);
  world.take({ type: 'volume.grown', uid: 'a', volume: 'v', wantedBytes: 20, knownBytes: 30 });
  assert.equal(world.calls.size, 0);
});

describe('a volume that has grown while it is brought up to date', () => {
  const grown = (world: VolumeWorld, volume: string) =>
    world.take({ type: 'volume.grown', uid: 'a', volume, wantedBytes: 20, knownBytes: 10 });
  const stale = (world: VolumeWorld) => world.take({ type: 'volume.stale', uid: 'a', volume: 'v' });
  /** Two volumes of one pod that are of one claim, both there. */
  const twins = () => {
    const sizes = { wantedBytes: 10, knownBytes: 10 };
    const world = new VolumeWorld(() => known('pv', { device: 'test/p/d', stages: true, ...sizes }));
    for (const volume of ['v', 'w']) want(world, 'a', volume);
    while (world.calls.size > 0) for (const key of [...world.calls.keys()]) world.end(key);
    return world;
  };

  test('is made larger after that, though a second volume of the pod that is the same one does nothing', () => {
    const world = twins();
    stale(world);
    for (const volume of ['v', 'w']) grown(world, volume);
    assert.equal(world.only().type, 'volume.publish');
    world.end(world.only().key);
    const call = world.only();
    assert.equal(call.type === 'device.expand' && call.volume, 'v');
  });

  test('is not brought up to date while it is made larger, not even when a try that failed is due again', () => {
    const world = twins();
    stale(world);
    world.end(world.only().key, 'fails');
    grown(world, 'v');
    const { key, type } = world.only();
    assert.equal(type, 'device.expand');
    world.wait();
    stale(world);
    assert.equal(world.only().key, key);
    world.end(key);
    stale(world);
    assert.equal(world.only().type, 'volume.publish');
  });
});

test('a pod that ends while its volume is made larger: the device is given back when that call has ended', () => {
  const sizes = { wantedBytes: 20, knownBytes: 10 };
  const world = new VolumeWorld((_uid, volume) => known(volume, { device: 'test/p/d', stages: true, ...sizes }));
  want(world, 'a', 'v');
  while (world.only().type !== 'device.expand') world.end(world.only().key);
  const { key } = world.only();
  leave(world, 'a');
  const unpublish = [...world.calls.values()].find(({ type }) => type === 'volume.unpublish');
  world.end(unpublish?.key ?? '');
  assert.equal(world.only().key, key);
  assert.ok(world.told.some((order) => order.type === 'call.giveUp' && order.key === key));
  world.end(key, 'failsUnsure');
  assert.equal(world.only().type, 'device.unstage');
  for (const move of world.seen) moves.add(move);
});

test('whatever calls come to, rules hold, everything comes to its end, and every move of both machines is made', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = randomOf(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const shape = (uid: string, volume: string): KnownVolume => {
      const kind = volume.slice(0, 1);
      if (kind === 'n') return known(kind);
      const device = `test/p/${kind}`;
      const sizes = kind === 'g' ? { wantedBytes: 20, knownBytes: 10 } : {};
      const anew = seed % 2 === 0 && kind !== 'a' ? { stagesAnew: true as const } : {};
      return known(kind, {
        device,
        attachable: kind !== 's',
        stages: kind !== 'a',
        alone: uid === 'z',
        ...sizes,
        ...anew,
      });
    };
    const world = new VolumeWorld(shape);
    const uids = ['a', 'b', 'z'];
    const volumes = ['n', 's', 'a', 'g', 'x', 'x2'];
    const living = new Set<string>();
    if (random() < 0.3) {
      const [uid, name] = [pick(uids), pick(['s', 'x'])];
      const device = shape(uid, name).device;
      world.published.add(`${uid}/${name}`);
      for (const each of [device, 'test/p/s']) world.staged.add(each);
      world.attached.add(device);
      const volume = {
        plugin: 'test/p',
        name,
        mode: 'Filesystem',
        path: '/f',
        device,
        attachable: name === 'x',
      } as const;
      const found = [...world.staged].map((id) => ({
        ...{ device: id, plugin: 'test/p', name: id.slice(7), mode: 'Filesystem' as const, stagedPath: '/s' },
        attachable: id === device && name === 'x',
      }));
      living.add(uid);
      world.take({ type: 'node.found', pods: [{ uid, volumes: [volume] }], devices: found });
    }
    for (let i = 0; i < 60; i++) {
      const what = random();
      const uid = pick(uids);
      if (what < 0.25) {
        living.add(uid);
        want(world, uid, pick(volumes));
      } else if (what < 0.35) {
        living.delete(uid);
        leave(world, uid);
      } else if (what < 0.36) world.take({ type: 'wait.over', uid });
      else if (what < 0.37) world.take({ type: 'node.told', devices: Object.keys(world.state.devices) });
      else if (what < 0.4) world.take({ type: 'volume.stale', uid, volume: pick(volumes) });
      else if (what < 0.55) world.wait();
      else if (world.calls.size > 0) {
        const fates: Fate[] = ['works', 'works', 'works', 'fails', 'worksUnheard', 'failsUnsure'];
        const key = pick([...world.calls.keys()]);
        const { type } = world.calls.get(key) ?? {};
        const fate = pick(fates);
        // A look-up changes nothing, so it is never in doubt.
        world.end(
          key,
          type === 'volume.resolve' || type === 'device.attach' ? (fate === 'works' ? 'works' : 'fails') : fate,
        );
      }
    }
    for (const uid of uids) leave(world, uid);
    for (let i = 0; i < 200 && (world.calls.size > 0 || world.wait()); i++)
      for (const key of [...world.calls.keys()]) world.end(key);
    assert.deepEqual([world.state.mounts, world.state.devices], [{}, {}], `seed ${seed}`);
    assert.deepEqual([[...world.published], [...world.staged]], [[], []], `seed ${seed}`);
    for (const move of world.seen) moves.add(move);
  }
  const missing = [mountMachine, deviceMachine].flatMap((machine) =>
    [...(compiledMachine(machine)?.values() ?? [])].flatMap((from) =>
      [...from.on.values()].flat().flatMap(({ target }) => {
        const move = `${machine.id} ${from.path} -> ${target?.path ?? from.path}`;
        // It leaves this state in the step that makes it.
        if (target === null || target.path === from.path || from.path === 'wanted') return [];
        return moves.has(move) ? [] : [move];
      }),
    ),
  );
  assert.deepEqual([...new Set(missing)], []);
});

function randomOf(seed: number): () => number {
  let x = seed * 2654435761 + 1;
  return () => {
    x = (Math.imul(x ^ (x >>> 15), x | 1) + 0x6d2b79f5) | 0;
    let t = x ^ (x + Math.imul(x ^ (x >>> 7), x | 61));
    t = (t ^ (t >>> 14)) >>> 0;
    return t / 4294967296;
  };
}
