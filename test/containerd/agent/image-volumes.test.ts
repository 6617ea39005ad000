import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { BUSYBOX_IMAGE } from '../../../cri/private-containerd/own-images.ts';
import { lacksTool, referenceTool } from '../../tools/reference-tool.ts';
import { unmountBelow } from '../../../cri/private-containerd/mount-points.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady, statusOf } from './support/seen.ts';
import { podOf, runs, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

/** A pod whose container mounts an image at /all, and a folder of it at /some. */
function withImage(name: string, reference: string, pullPolicy: string, container = runs('c')): object {
  const volumeMounts = [
    { name: 'image', mountPath: '/all' },
    { name: 'image', mountPath: '/some', subPathExpr: '$(PART)' },
  ];
  return podOf(name, [{ ...container, env: [{ name: 'PART', value: 'bin' }], volumeMounts }, runs('beside')], {
    volumes: [{ name: 'image', image: { reference, pullPolicy } }],
  });
}

describe('image volumes (KEP-4639) on containerd v2', { skip: await lacksTool('containerd2') }, () => {
  let clean: MachineState;
  let node: TestNode;
  before(async () => {
    const containerd = await referenceTool('containerd2');
    clean = await machineState();
    node = await TestNode.make({ containerd: { containerd } });
    await node.startAgent();
  });
  after(async () => {
    await node?.stop();
    await assertNothingLeft(clean);
  });

  it('mounts an image and a folder of it, read-only, and leaves nothing of it', async () => {
    const script =
      'ls /all/bin/busybox /some/busybox; touch /all/x 2>&1 | grep -c Read-only; touch /some/x 2>&1 | grep -c Read-only;';
    const c = shell('c', `${script} trap "exit 0" TERM; while :; do sleep 1; done`);
    await node.write('image.json', withImage('image', BUSYBOX_IMAGE, 'IfNotPresent', c));
    const pod = await node.waitPod('image', 'ready', isReady);
    const lines = await waitFor('its words', async () => {
      const log = await node.log('image', 'c');
      return log.length >= 4 ? log : undefined;
    });
    assert.deepEqual(lines, ['/all/bin/busybox', '/some/busybox', '1', '1']);
    const events = await node.events('image');
    const present = `Pulled: Container image "${BUSYBOX_IMAGE}" already present on machine`;
    // The volume's and those of two containers.
    assert.equal(events.filter((e) => e.startsWith(present)).length, 3, events.join('\n'));
    await node.remove('image.json');
    await node.waitGone('image');
    const mounts = await readFile('/proc/self/mountinfo', 'utf8');
    assert.ok(!mounts.includes(pod.metadata?.uid ?? '-'));
  });

  it('an image that cannot be had holds back only who mounts it', async () => {
    await node.write('never.json', withImage('never', 'localhost/actorlet/none:1', 'Never'));
    const pod = await node.waitPod(
      'never',
      'held back',
      (p) => statusOf(p, 'c').state?.waiting?.reason === 'ErrImageNeverPull' && statusOf(p, 'beside').ready,
    );
    assert.equal(
      statusOf(pod, 'c').state?.waiting?.message,
      'Container image "localhost/actorlet/none:1" is not present with pull policy of Never',
    );
    await node.remove('never.json');
    await node.waitGone('never');
  });
});

it('a runtime that cannot mount images is told apart: containerd 1', async () => {
  const node = await TestNode.make();
  try {
    await node.startAgent();
    await node.write('old.json', withImage('old', BUSYBOX_IMAGE, 'IfNotPresent'));
    const pod = await node.waitPod('old', 'refused', (p) => statusOf(p, 'c').state?.waiting?.message !== undefined);
    const { reason, message } = statusOf(pod, 'c').state?.waiting ?? {};
    if (/^volume "image"/.test(message ?? '')) {
      assert.equal(reason, 'CreateContainerConfigError');
      assert.match(
        message ?? '',
        /^volume "image" is an image, which container runtime containerd v?[12]\.\S+ cannot mount/,
      );
    } else assert.fail(`${reason}: ${message}`);
    await node.remove('old.json');
    await node.waitGone('old');
  } finally {
    await node.stop();
    await unmountBelow(node.rootDir);
  }
});
