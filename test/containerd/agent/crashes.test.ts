import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { conditionOf, isReady, statusOf } from './support/seen.ts';
import { podOf, runs, shell } from './support/test-pod.ts';
import { NODE_NAME, TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

describe('containers that end, on a real node', { concurrency: 10 }, () => {
  let clean: MachineState;
  let node: TestNode;
  before(async () => {
    clean = await machineState();
    node = await TestNode.make();
    await node.startAgent();
  });
  after(async () => {
    await node.stop();
    await assertNothingLeft(clean);
  });

  it('restarts a crashing container at once, then after 10 s, then after 20 s, and says why', async () => {
    const keep = join(node.rootDir, 'starts');
    await mkdir(keep);
    const script = 'cut -d" " -f1 /proc/uptime >> /keep/starts; echo dying; exit 3';
    await node.write(
      'crash.json',
      podOf('crash', [shell('a', script, { volumeMounts: [{ name: 'keep', mountPath: '/keep' }] }), runs('b')], {
        volumes: [{ name: 'keep', hostPath: { path: keep } }],
      }),
    );
    const waiting = await node.waitPod(
      'crash',
      'CrashLoopBackOff',
      (p) => statusOf(p, 'a').state?.waiting?.reason === 'CrashLoopBackOff',
    );
    const uid = waiting.metadata?.uid ?? '';
    const first = statusOf(waiting, 'a');
    assert.equal(first.restartCount, 1);
    assert.equal(first.ready, false);
    assert.equal(
      first.state?.waiting?.message,
      `back-off 10s restarting failed container=a pod=crash-${NODE_NAME}_default(${uid})`,
    );
    assert.equal(waiting.status?.phase, 'Running');
    assert.equal(conditionOf(waiting, 'ContainersReady'), 'False');
    const last = first.lastState?.terminated;
    assert.deepEqual([last?.exitCode, last?.reason], [3, 'Error']);
    assert.ok(last?.containerID?.startsWith('containerd://'));

    const second = await node.waitPod(
      'crash',
      'the second delay',
      (p) => statusOf(p, 'a').state?.waiting?.message?.startsWith('back-off 20s') ?? false,
    );
    assert.equal(statusOf(second, 'a').restartCount, 2);
    const third = await node.waitPod(
      'crash',
      'the third delay',
      (p) => statusOf(p, 'a').state?.waiting?.message?.startsWith('back-off 40s') ?? false,
    );
    assert.equal(statusOf(third, 'a').restartCount, 3);
    assert.equal(statusOf(third, 'b').restartCount, 0);

    const starts = (await readFile(join(keep, 'starts'), 'utf8')).trim().split('\n').map(Number);
    const gaps = starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
    const [one = 0, two = 0, three = 0] = gaps;
    assert.equal(gaps.length, 3);
    // the first without a delay; how long a start takes besides is a matter of the machine
    assert.ok(one < two && two >= 10 && three >= 20, `pauses of ${gaps.join(', ')} s`);
    const events = await node.events('crash');
    assert.ok(
      events.includes(`BackOff: Back-off restarting failed container a in pod crash-${NODE_NAME}_default(${uid})`),
    );
    // one dead container is kept for its log
    const dead = (await node.containers('crash')).filter((c) => c.name === 'a');
    assert.ok(dead.length <= 2, JSON.stringify(dead));
    await waitFor('one dead container', async () =>
      (await node.containers('crash')).filter((c) => c.name === 'a').length === 1 ? true : undefined,
    );
    assert.deepEqual(await node.log('crash', 'a', 3), ['dying']);
    await assert.rejects(node.log('crash', 'a', 1), /ENOENT/);
  });

  it('tells the termination message from its file, or from the log when that is wanted', async () => {
    await node.write(
      'words.json',
      podOf(
        'words',
        [
          shell('file', 'echo not this; printf "from the file" > /dev/termination-log; exit 4'),
          shell('own-path', 'printf mine > /tmp/why; exit 5', { terminationMessagePath: '/tmp/why' }),
          shell('log', 'echo line one; echo last words; exit 6', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
          shell('well', 'echo fine; exit 0', { terminationMessagePolicy: 'FallbackToLogsOnError' }),
        ],
        { restartPolicy: 'Never' },
      ),
    );
    const pod = await node.waitPod(
      'words',
      'all ended',
      (p) =>
        p.status?.phase === 'Failed' &&
        p.status.containerStatuses?.every((c) => c.state?.terminated !== undefined) === true,
    );
    const ends = Object.fromEntries(
      (pod.status?.containerStatuses ?? []).map(({ name, state }) => [
        name,
        [state?.terminated?.exitCode, state?.terminated?.reason, state?.terminated?.message],
      ]),
    );
    assert.deepEqual(ends, {
      file: [4, 'Error', 'from the file'],
      'own-path': [5, 'Error', 'mine'],
      log: [6, 'Error', 'line one\nlast words\n'],
      well: [0, 'Completed', undefined],
    });
  });

  it('says OOMKilled of a container that went beyond its memory', async () => {
    await node.write(
      'oom.json',
      podOf('oom', [shell('a', 'exec tail /dev/zero', { resources: { limits: { memory: '16Mi' } } })], {
        restartPolicy: 'Never',
      }),
    );
    const pod = await node.waitPod('oom', 'ended', (p) => statusOf(p, 'a').state?.terminated !== undefined);
    const end = statusOf(pod, 'a').state?.terminated;
    assert.deepEqual([end?.exitCode, end?.reason], [137, 'OOMKilled']);
  });

  it('ends pods by their restart policy: Succeeded, Failed, and restarts only after a failure', async () => {
    await node.write(
      'done.json',
      podOf('done', [shell('a', 'exit 0'), shell('b', 'exit 0')], { restartPolicy: 'OnFailure' }),
    );
    await node.write(
      'failed.json',
      podOf('failed', [shell('a', 'exit 0'), shell('b', 'exit 2')], { restartPolicy: 'Never' }),
    );
    await node.write(
      'again.json',
      podOf(
        'again',
        [
          shell('a', 'test -e /d/ran && exit 0; touch /d/ran; exit 1', {
            volumeMounts: [{ name: 'd', mountPath: '/d' }],
          }),
        ],
        {
          restartPolicy: 'OnFailure',
          volumes: [{ name: 'd', emptyDir: {} }],
        },
      ),
    );
    const done = await node.waitPod('done', 'Succeeded', (p) => p.status?.phase === 'Succeeded');
    assert.deepEqual(
      done.status?.containerStatuses?.map((c) => [c.state?.terminated?.reason, c.restartCount]),
      [
        ['Completed', 0],
        ['Completed', 0],
      ],
    );
    const failed = await node.waitPod('failed', 'Failed', (p) => p.status?.phase === 'Failed');
    assert.deepEqual(
      failed.status?.containerStatuses?.map((c) => c.state?.terminated?.exitCode),
      [0, 2],
    );
    const again = await node.waitPod('again', 'Succeeded at the second go', (p) => p.status?.phase === 'Succeeded');
    assert.deepEqual([statusOf(again, 'a').restartCount, statusOf(again, 'a').lastState?.terminated?.exitCode], [1, 1]);
  });

  it('backs a failing init container off and starts nothing after it', async () => {
    await node.write(
      'init.json',
      podOf('init', [runs('a')], { initContainers: [shell('i', 'exit 7'), shell('j', 'exit 0')] }),
    );
    const pod = await node.waitPod(
      'init',
      'back-off of its init container',
      (p) => statusOf(p, 'i').state?.waiting?.reason === 'CrashLoopBackOff',
    );
    assert.equal(pod.status?.phase, 'Pending');
    assert.equal(statusOf(pod, 'i').lastState?.terminated?.exitCode, 7);
    assert.equal(statusOf(pod, 'j').state?.waiting?.reason, 'PodInitializing');
    assert.equal(statusOf(pod, 'a').state?.waiting?.reason, 'PodInitializing');
    assert.equal(conditionOf(pod, 'Initialized'), 'False');
    assert.deepEqual(
      (await node.containers('init')).filter((c) => c.name !== 'i'),
      [],
    );
  });

  it('starts a repaired container without waiting for the delay of the broken one', async () => {
    const uid = '22222222-2222-4333-8444-555555555555';
    await node.write('repair.json', podOf('repair', [shell('a', 'exit 1')], {}, { uid }));
    await node.waitPod(
      'repair',
      'the third delay',
      (p) => statusOf(p, 'a').state?.waiting?.message?.startsWith('back-off 20s') ?? false,
    );
    const since = Date.now();
    // the delay belongs to name and image of a container, as its hash does
    await node.write('repair.json', podOf('repair', [runs('a', { image: 'localhost/actorlet/pause:1' })], {}, { uid }));
    const pod = await node.waitPod('repair', 'ready', isReady);
    const started = Date.parse(String(statusOf(pod, 'a').state?.running?.startedAt));
    assert.ok(started - since < 15_000, `it waited ${started - since} ms`);
  });

  it('tells of images that cannot be had, and runs the pod beside', async () => {
    await node.write(
      'never.json',
      podOf('never', [runs('a', { image: 'localhost/none:1', imagePullPolicy: 'Never' }), runs('b')]),
    );
    await node.write('nopull.json', podOf('nopull', [runs('a', { image: '127.0.0.1:1/none:1' })]));
    await node.write('badname.json', podOf('badname', [runs('a', { image: 'NOT/an image' })]));
    const never = await node.waitPod(
      'never',
      'ErrImageNeverPull',
      (p) => statusOf(p, 'a').state?.waiting?.reason === 'ErrImageNeverPull' && statusOf(p, 'b').ready,
    );
    assert.equal(
      statusOf(never, 'a').state?.waiting?.message,
      'Container image "localhost/none:1" is not present with pull policy of Never',
    );
    await node.waitPod('nopull', 'ErrImagePull', (p) => statusOf(p, 'a').state?.waiting?.reason === 'ErrImagePull');
    const bad = await node.waitPod(
      'badname',
      'InvalidImageName',
      (p) => statusOf(p, 'a').state?.waiting?.reason === 'InvalidImageName',
    );
    assert.match(
      statusOf(bad, 'a').state?.waiting?.message ?? '',
      /^Failed to apply default image tag "NOT\/an image": /,
    );
    const back = await node.waitPod(
      'nopull',
      'ImagePullBackOff',
      (p) => statusOf(p, 'a').state?.waiting?.reason === 'ImagePullBackOff',
    );
    assert.match(
      statusOf(back, 'a').state?.waiting?.message ?? '',
      /^Back-off pulling image "127\.0\.0\.1:1\/none:1": ErrImagePull: /,
    );
  });

  it('tells of a command that cannot be run', async () => {
    await node.write('nocommand.json', podOf('nocommand', [runs('a', { command: ['/no/such/program'] })]));
    const pod = await node.waitPod(
      'nocommand',
      'RunContainerError',
      (p) => statusOf(p, 'a').state?.waiting?.reason === 'RunContainerError',
    );
    assert.match(statusOf(pod, 'a').state?.waiting?.message ?? '', /no such file or directory/);
    const later = await node.waitPod(
      'nocommand',
      'its end',
      (p) => statusOf(p, 'a').lastState?.terminated !== undefined,
    );
    assert.deepEqual(
      [statusOf(later, 'a').lastState?.terminated?.exitCode, statusOf(later, 'a').lastState?.terminated?.reason],
      [128, 'StartError'],
    );
  });
});
