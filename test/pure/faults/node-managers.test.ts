/** A machine of the node that throws costs what the message was about, and neither the agent nor what comes later. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { csi } from '../../../actors/record/machines/csi.ts';
import { imageGc } from '../../../actors/record/machines/image-gc.ts';
import { pulls } from '../../../actors/record/machines/pulls.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { CsiDrivers } from '../../../actors/resources/csi/csi-drivers.ts';
import { ImageGcManager } from '../../../actors/runtime/images/image-gc-manager.ts';
import { SharedPulls } from '../../../actors/runtime/images/shared-pulls.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { memoryLog } from '../journal/journal-fixture.ts';
import { BROKEN, failOn } from './failing-machine.ts';

/** Lets what is under way come to its end. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn();
}

/** The messages of the errors that a log was told. */
const errors = (lines: readonly string[]) =>
  lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message);

/** A queue of one pull at a time; each pull answers its image. */
function queue() {
  const { log, lines } = memoryLog();
  const shared = new SharedPulls<string>({ limit: 1, now: () => 0, log }, ({ image }) => Promise.resolve(image));
  const ask = (asker: string, image: string, onTurn = () => undefined) =>
    shared
      .ask({ asker, right: image, image, fresh: false, retry: false }, onTurn)
      .catch((error: Error) => error.message);
  return { ask, lines };
}

test('whoever asks the queue of pulls for what it fails at is told so; the next one gets its image', async (t) => {
  const { ask, lines } = queue();
  failOn(t, pulls, ['pull.ask'], 1);
  assert.match(
    await ask('a', 'x'),
    new RegExp(`^NOD015: The machine pulls failed on a message \\(pull.ask\\).*${BROKEN}`),
  );
  assert.equal(await ask('b', 'x'), 'x');
  assert.equal(errors(lines).length, 1);
});

test('the place of a pull whose end the queue cannot take in is free again, and nobody waits for ever', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { ask, lines } = queue();
  const { mend } = failOn(t, pulls, ['pull.ended']);
  assert.match(await ask('a', 'x'), /NOD015/);
  assert.match(await ask('b', 'x'), /NOD015/, 'who joins it would wait for ever');
  const behind = ask('c', 'y');
  t.mock.timers.tick(10_000);
  await settle();
  assert.equal(errors(lines).length, 2, 'the queue was told once more');
  mend();
  t.mock.timers.tick(10_000);
  assert.equal(await behind, 'y');
  assert.equal(await ask('d', 'x'), 'x');
});

test('a pull whose asker cannot be told where it stands goes on all the same', async () => {
  const { ask, lines } = queue();
  const first = ask('a', 'x');
  const second = ask('b', 'y', () => {
    throw new Error('its shard is gone');
  });
  assert.deepEqual(await Promise.all([first, second]), ['x', 'y']);
  assert.match(errors(lines)[0] ?? '', /^NOD016: .*turn\.tell.*its shard is gone/);
});

/** A collector of images for a runtime that has one image which nobody uses; `looks`: its timers. */
function collector() {
  const { log, lines } = memoryLog();
  const removed: string[] = [];
  const looks: (() => void)[] = [];
  let images = ['a', 'b'];
  const cri = {
    image: {
      listImages: () =>
        Promise.resolve({ images: images.map((id) => ({ id, repoTags: [], repoDigests: [], size: '1' })) }),
      removeImage: ({ image }: { image: { image: string } }) => {
        removed.push(image.image);
        images = images.filter((id) => id !== image.image);
        return Promise.resolve({});
      },
      imageFsInfo: () => Promise.resolve({ imageFilesystems: [{ fsId: { mountpoint: '/i' } }] }),
    },
    runtime: {
      status: () => Promise.resolve({ info: {} }),
      listContainers: () => Promise.resolve({ containers: [] }),
      listPodSandbox: () => Promise.resolve({ items: [] }),
    },
  };
  const manager = new ImageGcManager({
    config: {
      imageGCHighThresholdPercent: 85,
      imageGCLowThresholdPercent: 80,
      imageMinimumGCAge: 0,
      imageMaximumGCAge: 0,
    },
    ...{ cri: cri as unknown as CriClient, log, journal: null, settings: { nodeName: 'n' }, pods: () => [] },
    clock: { ...machineClock, lookAfter: (_ms, look) => (looks.push(look), { cancel: () => undefined }) },
    metrics: createMetrics({ processMetrics: false }),
    events: { record: () => undefined },
    images: { records: null, disk: () => Promise.resolve({ capacityBytes: 100, availableBytes: 90 }) },
  });
  return { manager, lines, removed, looks };
}

test('a pass of the collector of images in which its machine fails is over: who waits is told, and the next one begins', async (t) => {
  const { manager, lines, removed } = collector();
  manager.start();
  await settle();
  for (const [kinds, times] of [
    [['images.listed'], 1],
    [['images.listed', 'gc.failed'], 2],
  ] as const) {
    const { mend } = failOn(t, imageGc, kinds, times);
    await assert.rejects(manager.reclaim.images(), /the machine failed on images\.listed/);
    mend();
  }
  failOn(t, imageGc, ['image.removed'], 1);
  await assert.rejects(manager.reclaim.images(), /the machine failed on image\.removed/);
  await settle();
  assert.deepEqual(removed, ['a', 'b'], 'the other image is removed all the same');
  await manager.reclaim.images();
  assert.equal(errors(lines.filter((line) => line.includes('NOD015'))).length, 4);
  manager.stop();
});

/** The keeper of drivers of a node with an API server that takes everything; its drivers cannot be reached. */
function drivers() {
  const { log, lines } = memoryLog();
  const written: string[] = [];
  const api = {
    changeDrivers: () => Promise.resolve(void written.push('csiNode')),
    nodeMarks: () => Promise.resolve({ labels: {}, annotations: {} }),
    patchMarks: () => Promise.resolve(void written.push('node')),
    driver: () => Promise.resolve({ spec: null }),
    driversChange: () => undefined,
  };
  const keeper = new CsiDrivers({ api: () => api as never, clock: { now: () => 0 }, refreshes: true, log });
  return { keeper, lines, written };
}

test('a CSI driver on whose registration the machine fails is told so, and may register again', async (t) => {
  const { keeper, lines } = drivers();
  t.after(() => keeper.stop());
  const { mend } = failOn(t, csi, ['driver.came']);
  await assert.rejects(keeper.registered('d', '/none.sock', ['1.0.0']), /^ActorletError: NOD015: .*csi.*driver\.came/);
  mend();
  // Nobody listens there: its outcome is what the machine fails at next.
  const again = failOn(t, csi, ['driver.failed']);
  await assert.rejects(keeper.registered('d', '/none.sock', ['1.0.0']), /NOD015: .*driver\.failed/);
  again.mend();
  keeper.deregistered('d', '/none.sock');
  await settle();
  await assert.rejects(
    keeper.registered('d', '/none.sock', ['1.0.0']),
    (error: Error) => !error.message.includes('NOD015'),
  );
  assert.equal(errors(lines.filter((line) => line.includes('NOD015'))).length, 2);
});
