import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyMachineSnapshot } from 'xstate';
import fc from 'fast-check';
import type {
  ImageGcContext,
  ImageGcMessage,
  ImageGcOrder,
  ImageGcPolicy,
  ListedImage,
} from '../../../machines/images/image-gc-context.ts';
import { imageGcMachine } from '../../../machines/images/image-gc-machine.ts';
import { spokenSize } from '../../../machines/images/spoken-size.ts';
import { bornSnapshot, statePath, step } from '../../../machines/machine-step/step.ts';

const MINUTE = 60_000;
const USUAL: ImageGcPolicy = { highPercent: 90, lowPercent: 80, minAgeMs: 0, maxAgeMs: 0 };

const listed = (id: string, bytes = 1024, more: Partial<ListedImage> = {}): ListedImage => ({
  ...{ id, handler: '', bytes, pinned: false },
  ...more,
});

/** A node with images and a disk, whose collector works as long as it has something to do. */
class Node {
  snapshot = bornSnapshot(imageGcMachine, undefined) as AnyMachineSnapshot;
  images: ListedImage[];
  inUse: string[] = [];
  disk = { capacityBytes: 1000, availableBytes: 1000 };
  readonly stuck = new Set<string>();
  readonly removed: string[] = [];
  readonly events: string[] = [];
  pruned: readonly string[] | null = null;
  problems: (string | null)[] = [];

  constructor(policy: Partial<ImageGcPolicy>, ...images: ListedImage[]) {
    this.images = images;
    this.take({ type: 'gc.start', at: 0, policy: { ...USUAL, ...policy } });
  }
  get context(): ImageGcContext {
    return this.snapshot.context as ImageGcContext;
  }
  pass(at: number, all = false): void {
    this.take({ type: 'gc.begin', at, all });
  }
  take(message: ImageGcMessage): void {
    const stepped = step<AnyMachineSnapshot, ImageGcOrder>(imageGcMachine, this.snapshot, message);
    this.snapshot = stepped.snapshot;
    for (const order of stepped.effects) this.carryOut(order, message.at);
  }
  private carryOut(order: ImageGcOrder, at: number): void {
    switch (order.type) {
      case 'images.List':
        this.take({ type: 'images.listed', at, images: this.images, inUse: this.inUse });
        break;
      case 'disk.Measure':
        this.take({ type: 'disk.measured', at, ...this.disk });
        break;
      case 'image.Remove':
        if (this.stuck.has(order.id)) this.take({ type: 'image.kept', at, problem: `${order.id} stays` });
        else {
          this.removed.push(`${order.id} ${order.reason}`);
          this.images = this.images.filter(({ id, handler }) => id !== order.id || handler !== order.handler);
          this.take({ type: 'image.removed', at });
        }
        break;
      case 'records.Prune':
        this.pruned = order.images;
        break;
      case 'event.Record':
        this.events.push(`${order.reason}: ${order.message}`);
        break;
      case 'pass.Done':
        this.problems.push(order.problem);
        break;
    }
  }
}

test('where neither fullness nor age removes images it is seen since when they are there, for a disk that runs short', () => {
  const node = new Node(
    { highPercent: 100, lowPercent: 100, minAgeMs: 2 * MINUTE },
    listed('a'),
    listed('b'),
    listed('c'),
  );
  node.disk = { capacityBytes: 1000, availableBytes: 0 };
  node.inUse = ['c'];
  node.take({ type: 'gc.begin', at: MINUTE, all: false, look: true });
  assert.deepEqual([node.removed, node.events, node.problems], [[], [], [null]]);
  assert.equal(statePath(node.snapshot.value), 'resting');
  node.images.push(listed('new'));
  node.pass(4 * MINUTE, true);
  assert.deepEqual(node.removed, ['a space', 'b space']);
  // That looks fail is no failure of the collector, and no event says so.
  let { snapshot } = node;
  for (const at of [5, 6]) {
    const begun = step<AnyMachineSnapshot, ImageGcOrder>(imageGcMachine, snapshot, {
      ...{ type: 'gc.begin', at: at * MINUTE, all: false, look: true },
    });
    const failed = { type: 'gc.failed', at: at * MINUTE, problem: 'away' };
    const ended = step<AnyMachineSnapshot, ImageGcOrder>(imageGcMachine, begun.snapshot, failed);
    assert.deepEqual(ended.effects, [{ type: 'pass.Done', all: false, problem: 'away', bytesFreed: 0 }]);
    assert.equal((ended.snapshot.context as ImageGcContext).failed, false);
    ({ snapshot } = ended);
  }
});

test('below the high threshold nothing goes (TestGarbageCollectBelowLowThreshold)', () => {
  const node = new Node({}, listed('a'));
  node.disk.availableBytes = 600;
  node.pass(1);
  assert.deepEqual([node.removed, node.problems, node.pruned], [[], [null], null]);
});

test('a file system of no size is an error with an event (TestGarbageCollectCadvisorFailure, NotEnoughFreed)', () => {
  const node = new Node({}, listed('a'));
  node.disk = { capacityBytes: 0, availableBytes: 0 };
  node.pass(1);
  assert.deepEqual(node.problems, ['invalid capacity 0 on image filesystem']);
  assert.deepEqual(node.events, ['InvalidDiskCapacity: invalid capacity 0 on image filesystem']);
  node.pass(2);
  assert.deepEqual(node.events.slice(1), [
    'InvalidDiskCapacity: invalid capacity 0 on image filesystem',
    'ImageGCFailed: invalid capacity 0 on image filesystem',
  ]);
});

test('at the high threshold images go down to the low one (TestGarbageCollectBelowSuccess)', () => {
  const node = new Node({}, listed('0', 450), listed('1', 450));
  node.disk.availableBytes = 0;
  node.pass(1);
  assert.deepEqual(node.removed, ['0 space']);
  assert.deepEqual(node.problems, [null]);
  assert.deepEqual(node.pruned, ['1'], 'records of images that are there stay');
});

test('too little to free is said (TestGarbageCollectNotEnoughFreed)', () => {
  const node = new Node({}, listed('0', 50));
  node.disk.availableBytes = 0;
  node.pass(1);
  const message =
    "Insufficient free disk space on the node's image filesystem (100% of 1000 B used). Failed to free sufficient space by deleting unused images (freed 50 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.";
  assert.deepEqual(node.events, [`FreeDiskSpaceFailed: ${message}`]);
  assert.deepEqual(node.problems, [message]);
});

test('more available than there is counts as all of it', () => {
  const node = new Node({}, listed('0', 50));
  node.disk = { capacityBytes: 1000, availableBytes: 2000 };
  node.pass(1);
  assert.deepEqual([node.removed, node.problems], [[], [null]]);
});

test('images in use and pinned ones stay (TestDeleteUnusedImagesExemptSandboxImage, TestPinnedImage)', () => {
  const node = new Node({}, listed('idle'), listed('used'), listed('pinned', 1024, { pinned: true }));
  node.inUse = ['used'];
  node.pass(1, true);
  assert.deepEqual(node.removed, ['idle space']);
  assert.deepEqual(node.problems, [null]);
});

test('those used longest ago go first, then those that came first (TestFreeSpaceImagesAlsoDoesLookupByDetection)', () => {
  const node = new Node({}, listed('old'), listed('used'));
  node.inUse = ['used'];
  node.pass(1);
  node.images.push(listed('new'));
  node.inUse = [];
  node.pass(2);
  node.disk.availableBytes = 0;
  node.disk.capacityBytes = 10_000;
  node.pass(3);
  assert.deepEqual(node.removed, ['old space', 'new space']);
});

test('an image that has just come stays (TestGarbageCollectImageNotOldEnough)', () => {
  const node = new Node({ minAgeMs: MINUTE }, listed('0'), listed('1'));
  node.inUse = ['1'];
  node.pass(MINUTE, true);
  assert.deepEqual(node.removed, []);
  node.pass(2 * MINUTE, true);
  assert.deepEqual(node.removed, ['0 space']);
});

test('an image that nobody has used for too long goes (TestGarbageCollectImageTooOld)', () => {
  const node = new Node({ maxAgeMs: MINUTE }, listed('0'), listed('1'));
  node.inUse = ['1'];
  node.pass(1);
  node.pass(MINUTE);
  assert.deepEqual(node.removed, [], 'the agent is not as old yet');
  node.pass(MINUTE + 1);
  assert.deepEqual(node.removed, ['0 age']);
  node.inUse = [];
  node.pass(2 * MINUTE + 1);
  assert.deepEqual(node.removed, ['0 age'], 'used a minute ago');
  node.pass(2 * MINUTE + 2);
  assert.deepEqual(node.removed, ['0 age', '1 age']);
});

test('what cannot be removed is told, the others go all the same (TestFreeSpaceRemoveByLeastRecentlyUsedWithError)', () => {
  const node = new Node({}, listed('a', 100), listed('b', 100), listed('c', 100));
  node.stuck.add('a').add('b');
  node.disk.availableBytes = 0;
  node.pass(1);
  assert.deepEqual(node.removed, ['c space']);
  assert.deepEqual(node.problems, [
    'wanted to free 200 bytes, but freed 100 bytes space with errors in image deletion: [a stays, b stays]',
  ]);
  const old = new Node({ maxAgeMs: MINUTE }, listed('a'));
  old.stuck.add('a');
  old.pass(2 * MINUTE);
  assert.deepEqual(old.problems, [
    'wanted to free images older than 1m0s, encountered errors in image deletion: a stays',
  ]);
});

test('of two runtime handlers with one image only the idle one goes (TestDetectImagesInitialDetectWithRuntimeHandlerInImageCriAPIFeatureGate)', () => {
  const node = new Node({}, listed('a', 1, { handler: 'vm' }), listed('a', 1, { handler: 'wasm' }));
  node.inUse = ['a,vm'];
  node.pass(1, true);
  assert.deepEqual(node.images, [listed('a', 1, { handler: 'vm' })]);
});

test('who wants everything gone while a pass is under way is not heard', () => {
  const node = new Node({}, listed('a'));
  node.stuck.add('a');
  const begin: ImageGcMessage = { type: 'gc.begin', at: 1, all: false };
  const all: ImageGcMessage = { type: 'gc.begin', at: 1, all: true };
  const { snapshot } = step<AnyMachineSnapshot, ImageGcOrder>(imageGcMachine, node.snapshot, begin);
  const { snapshot: after, effects } = step<AnyMachineSnapshot, ImageGcOrder>(imageGcMachine, snapshot, all);
  assert.deepEqual([after.context, effects], [snapshot.context, []]);
});

test('whatever is there: no image in use, pinned or too young goes for room, and no more than is needed', () => {
  const image = fc.record({
    bytes: fc.integer({ min: 1, max: 500 }),
    pinned: fc.boolean(),
    used: fc.boolean(),
    young: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(image, { maxLength: 12 }), fc.integer({ min: 0, max: 1000 }), (drawn, availableBytes) => {
      const all = drawn.map(({ bytes, pinned }, i) => listed(String(i), bytes, { pinned }));
      const node = new Node({ minAgeMs: MINUTE }, ...all.filter((_, i) => !drawn[i]?.young));
      node.inUse = all.filter((_, i) => drawn[i]?.used).map(({ id }) => id);
      node.pass(1);
      node.images = [...all];
      node.disk.availableBytes = availableBytes;
      node.pass(1 + MINUTE);
      const gone = node.removed.map((line) => Number(line.split(' ')[0]));
      for (const i of gone) assert.ok(!drawn[i]?.used && !drawn[i]?.pinned && !drawn[i]?.young, `${i} had to stay`);
      const freed = gone.map((i) => drawn[i]?.bytes ?? 0);
      // Percents are whole ones, as kubelet's: with 109 of 1000 left the disk is 90 % full.
      const wanted = availableBytes < 110 ? 200 - availableBytes : 0;
      const sum = freed.reduce((a, b) => a + b, 0);
      assert.ok(gone.length === 0 || sum - (freed.at(-1) ?? 0) < wanted, 'the last one was still needed');
      if (sum < wanted)
        assert.equal(gone.length, drawn.filter((d) => !d.used && !d.pinned && !d.young).length, 'all that may go went');
      assert.equal(statePath(node.snapshot.value), 'resting');
    }),
  );
});

test('sizes are spoken as kubelet speaks them', () => {
  assert.deepEqual([0, 1023, 1024, 1536, 5 * 2 ** 20, 2.25 * 2 ** 30, 3 * 2 ** 40, 5000 * 2 ** 40].map(spokenSize), [
    '0 B',
    '1023 B',
    '1.0 KiB',
    '1.5 KiB',
    '5.0 MiB',
    '2.2 GiB',
    '3.0 TiB',
    '5000.0 TiB',
  ]);
});
