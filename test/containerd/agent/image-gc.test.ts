import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import pino from 'pino';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { ImageGcManager } from '../../../actors/runtime/images/image-gc-manager.ts';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import { imageArchive } from '../../../cri/image-maker/image-archive.ts';
import { ImageServiceService } from '../../../cri/generated/runtime/v1/api.ts';
import { containerdLayout } from '../../../cri/private-containerd/layout.ts';
import { BUSYBOX_IMAGE, PAUSE_IMAGE, ownImages } from '../../../cri/private-containerd/own-images.ts';
import { runCommand } from '../../../cri/private-containerd/run-command.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import { isReady } from './support/seen.ts';
import { podOf, runs } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';

const OTHERS = ['localhost/actorlet/idle:1', 'localhost/actorlet/idle:2'];

it('an image that nobody uses goes when the disk is too full; those of containers and of sandboxes stay', async () => {
  const clean = await machineState();
  const node = await TestNode.make();
  try {
    const images = async () => {
      const { images: listed } = await node.containerd.cri.call(ImageServiceService.listImages, {});
      return listed.flatMap(({ repoTags }) => repoTags).sort();
    };
    const [, busybox] = await ownImages();
    assert.ok(busybox !== undefined);
    const idle = OTHERS.map((ref) => ({ ...busybox, ref, config: { ...busybox.config, Labels: { ref } } }));
    const archive = join(node.rootDir, 'idle.tar');
    await writeFile(archive, await imageArchive(idle));
    const socket = containerdLayout(node.rootDir).socket;
    const loaded = await runCommand('ctr', ['-a', socket, '-n', 'k8s.io', 'images', 'import', archive]);
    assert.equal(loaded.code, 0, loaded.stderr);
    await node.write('pod.json', podOf('user', [runs('c')]));
    await node.startAgent();
    await node.waitPod('user', 'ready', isReady);
    assert.deepEqual(await images(), [BUSYBOX_IMAGE, PAUSE_IMAGE, ...OTHERS].sort());

    // The agent's own collector comes each five minutes; this one's clock is the test's.
    const cri = createCriClient({ endpoint: node.containerd.endpoint, imageEndpoint: '', timeoutMs: 60_000 });
    const looks: (() => void)[] = [];
    let now = Date.now();
    const metrics = createMetrics();
    const events: string[] = [];
    const collector = new ImageGcManager({
      // Any disk is more than 1 % full; more than is there is to go.
      config: {
        imageGCHighThresholdPercent: 1,
        imageGCLowThresholdPercent: 0,
        imageMinimumGCAge: 60_000,
        imageMaximumGCAge: 0,
      },
      ...{ cri, metrics, log: pino({ level: 'silent' }), journal: null, settings: { nodeName: 'n' } },
      clock: {
        ...machineClock,
        now: () => now,
        lookAfter: (_ms, look) => (looks.push(look), { cancel: () => undefined }),
      },
      events: { record: (event) => void events.push(`${event.reason}: ${event.message}`) },
      pods: () => [],
      images: { records: null, disk: () => Promise.resolve({ capacityBytes: 1e12, availableBytes: 5e11 }) },
    });
    try {
      collector.start();
      await waitFor('the first pass to end', () => (events.length > 0 ? true : undefined));
      assert.deepEqual(await images(), [BUSYBOX_IMAGE, PAUSE_IMAGE, ...OTHERS].sort(), 'all of them are too young');
      now += 60_000;
      looks.shift()?.();
      await waitFor('the second pass to end', () => (events.length > 1 ? true : undefined));
      assert.deepEqual(await images(), [BUSYBOX_IMAGE, PAUSE_IMAGE].sort());
      assert.match(events[1] ?? '', /^FreeDiskSpaceFailed: .*\(50% of 931\.3 GiB used\)/);
      assert.match(await metrics.text(), /^kubelet_image_garbage_collected_total\{reason="space"\} 2$/m);
    } finally {
      collector.stop();
      cri.close();
    }
    await node.write('more.json', podOf('more', [runs('c')]));
    await node.waitPod('more', 'ready', isReady);
    await node.remove('pod.json');
    await node.remove('more.json');
    await node.waitGone('user', 'more');
  } finally {
    await node.stop();
  }
  await assertNothingLeft(clean);
});
