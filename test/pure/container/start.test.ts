import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_BEHAVIOUR, BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { ContainerBench, find, reasons, seen } from './container-bench.ts';

const present = { present: { imageRef: 'img:1', uid: null, username: '' } };
const pulled = { imageRef: 'img:1', uid: null, username: '', ms: 1500, waitedMs: 1600, sizeBytes: 7 };

test('the way up: image, pod, preparation, creation, start, running', () => {
  const bench = new ContainerBench();
  find(bench.tell({ type: 'start' }), 'image.Status');
  assert.equal(bench.state, 'starting.checkingImage');
  assert.deepEqual(reasons(bench.done('image.Status', present)), ['Pulled']);
  find(bench.tell({ type: 'proceed' }), 'host.PrepareContainer');
  assert.equal(find(bench.done('host.PrepareContainer', { subPaths: {} }), 'cri.CreateContainer').podSandboxId, 's1');
  const created = bench.done('cri.CreateContainer', { containerId: 'c1' });
  assert.deepEqual(reasons(created), ['Created']);
  assert.deepEqual(find(created, 'cri.StartContainer'), { containerId: 'c1' });
  const started = bench.done('cri.StartContainer', {});
  assert.deepEqual(reasons(started), ['Started']);
  assert.deepEqual(find(started, 'cri.ContainerStatus'), { containerId: 'c1' });
  assert.equal(find(started, 'host.LinkLog').linkName, 'web-node1_default_c-c1.log');
  assert.equal(bench.state, 'running');
});

const policies = [
  { policy: 'IfNotPresent', image: 'img:1', there: true, path: ['starting.checkingImage', 'starting.awaitingPod'] },
  { policy: 'IfNotPresent', image: 'img:1', there: false, path: ['starting.checkingImage', 'starting.pullingImage'] },
  { policy: 'Never', image: 'img:1', there: true, path: ['starting.checkingImage', 'starting.awaitingPod'] },
  { policy: 'Never', image: 'img:1', there: false, path: ['starting.checkingImage', 'retrying'] },
  { policy: 'Always', image: 'img:1', there: true, path: ['starting.pullingImage'] },
] as const;
for (const { policy, image, there, path } of policies) {
  test(`imagePullPolicy ${policy}, image ${there ? 'there' : 'not there'}: ${path.join(' -> ')}`, () => {
    const bench = new ContainerBench({ image, imagePullPolicy: policy });
    bench.tell({ type: 'start' });
    assert.equal(bench.state, path[0]);
    if (path.length === 1) return;
    bench.done('image.Status', there ? present : { present: null });
    assert.equal(bench.state, path[1]);
    if (policy === 'Never' && !there) {
      assert.deepEqual(bench.context.waiting, {
        reason: 'ErrImageNeverPull',
        message: 'Container image "img:1" is not present with pull policy of Never',
      });
      assert.deepEqual(reasons(bench.effects), ['ErrImageNeverPull', 'Failed']);
    }
  });
}

test('a pull tells how long it took', () => {
  const bench = new ContainerBench({ imagePullPolicy: 'Always' });
  assert.deepEqual(reasons(bench.tell({ type: 'start' })), ['Pulling']);
  const effects = bench.done('image.Pull', pulled);
  assert.equal(
    find(effects, 'event.Record').message,
    'Successfully pulled image "img:1" in 1.5s (1.6s including waiting). Image size: 7 bytes.',
  );
  assert.equal(bench.state, 'starting.awaitingPod');
});

test('pull failures: ErrImagePull for a moment, then ImagePullBackOff, doubling to 300 s', () => {
  const bench = new ContainerBench({ imagePullPolicy: 'Always' });
  bench.tell({ type: 'start' });
  const delays: number[] = [];
  for (let i = 0; i < 7; i++) {
    const from = bench.at;
    bench.failed('image.Pull', 'NotFound', 'no such image');
    assert.equal(bench.context.waiting?.reason, 'ErrImagePull');
    assert.equal(bench.context.waiting?.message, 'rpc error: code = NotFound desc = no such image');
    bench.ring();
    assert.equal(bench.state, 'starting.imageBackOff');
    assert.equal(bench.context.waiting?.reason, 'ImagePullBackOff');
    assert.equal(
      bench.context.waiting?.message,
      'Back-off pulling image "img:1": ErrImagePull: rpc error: code = NotFound desc = no such image',
    );
    bench.ring();
    assert.equal(bench.state, 'starting.pullingImage');
    delays.push((bench.at - from) / 1000);
  }
  assert.deepEqual(delays, [10, 20, 40, 80, 160, 300, 300]);
});

test('a pull that is held back is not tried early, whatever the policy', () => {
  for (const imagePullPolicy of ['Always', 'IfNotPresent']) {
    const bench = new ContainerBench({ imagePullPolicy });
    bench.snapshot = {
      ...bench.snapshot,
      context: { ...bench.context, imageBackOff: { delayMs: 40_000, since: bench.at - 10_000, error: 'e' } },
    } as never;
    bench.tell({ type: 'start' });
    if (imagePullPolicy === 'IfNotPresent') bench.done('image.Status', { present: null });
    assert.equal(bench.state, 'starting.imageBackOff');
    const since = bench.at;
    if (imagePullPolicy === 'IfNotPresent') {
      for (const afterMs of [10_000, 20_000, 30_000]) {
        bench.ring();
        assert.equal(bench.at, since + afterMs);
        assert.equal(bench.state, 'starting.checkingImage');
        bench.done('image.Status', { present: null });
      }
    } else {
      assert.equal(bench.context.deadline, since + 30_000);
      bench.ring();
    }
    assert.equal(bench.state, 'starting.pullingImage');
  }
});

test('an image that somebody brings while its pull is held back is found within 10 s', () => {
  const bench = new ContainerBench();
  bench.tell({ type: 'start' });
  bench.done('image.Status', { present: null });
  for (let pulls = 0; pulls < 3; pulls++) {
    bench.failed('image.Pull', 'NotFound', 'no such image');
    while (bench.state !== 'starting.pullingImage') {
      bench.ring();
      bench.done('image.Status', { present: null });
    }
  }
  bench.failed('image.Pull', 'NotFound', 'no such image');
  const failedAt = bench.at;
  bench.ring();
  assert.equal(bench.context.waiting?.reason, 'ErrImagePull');
  assert.deepEqual(reasons(bench.done('image.Status', { present: null })), ['BackOff', 'Failed']);
  assert.equal(bench.context.waiting?.reason, 'ImagePullBackOff');
  bench.ring();
  assert.ok(bench.at - failedAt <= 12_000);
  // Meanwhile it is told as before.
  assert.equal(bench.context.waiting?.reason, 'ImagePullBackOff');
  const effects = bench.done('image.Status', { present: { imageRef: 'img:1', uid: null, username: '' } });
  assert.equal(
    find(effects, 'event.Record').message,
    'Container image "img:1" already present on machine and can be accessed by the pod',
  );
  assert.equal(bench.state, 'starting.awaitingPod');
  assert.equal(bench.context.imageBackOff, null);
});

test('InvalidImageName holds the container back and is tried again', () => {
  const bench = new ContainerBench({ image: 'UPPER/Case' });
  bench.tell({ type: 'start' });
  assert.equal(bench.state, 'retrying');
  assert.equal(bench.context.waiting?.reason, 'InvalidImageName');
  assert.deepEqual(reasons(bench.effects), ['InspectFailed', 'Failed']);
  bench.ring();
  assert.equal(bench.state, 'waiting');
});

const failures = [
  ['starting.checkingImage', 'image.Status', 'ImageInspectError'],
  ['starting.preparing', 'host.PrepareContainer', 'CreateContainerConfigError'],
  ['starting.creating', 'cri.CreateContainer', 'CreateContainerError'],
] as const;
for (const [state, effect, reason] of failures) {
  test(`a failure in ${state} is ${reason}, and is tried again after a pause`, () => {
    const bench = new ContainerBench().to(state);
    const effects = bench.failed(effect, 'Unknown', 'boom');
    assert.equal(bench.state, 'retrying');
    assert.equal(bench.context.waiting?.reason, reason);
    assert.match(bench.context.waiting?.message ?? '', /boom/);
    assert.ok(reasons(effects).includes('Failed'));
    assert.equal(bench.context.deadline, bench.at + 10_000);
    bench.ring();
    assert.equal(bench.state, 'waiting');
  });
}

test('the event of a start that failed has the name of the container in place of its id, which its status tells', () => {
  const said = 'failed to start containerd task "c1": mount /run/c1';
  for (const [behaviour, told] of [
    [ALL_BEHAVIOUR, 'Error: failed to start containerd task "c": mount /run/c'],
    [ALL_BEHAVIOUR.filter((n) => n !== BEHAVIOUR.failedStartsNameTheContainer), `Error: ${said}`],
  ] as const) {
    const bench = new ContainerBench();
    bench.over.settings = { ...bench.world.settings, behaviour: [...behaviour] };
    bench.to('starting.started');
    const events = bench.failed('cri.StartContainer', 'Unknown', said).filter(({ type }) => type === 'event.Record');
    assert.deepEqual(
      events.map((e) => e.type === 'event.Record' && e.params.message),
      [told],
    );
    assert.equal(bench.context.waiting?.message, said);
  }
});

test('a failure in starting.started is RunContainerError, and is tried again after a look and a pause', () => {
  const bench = new ContainerBench().to('starting.started');
  const began = bench.at;
  const effects = bench.failed('cri.StartContainer', 'Unknown', 'boom');
  assert.equal(bench.state, 'inDoubt');
  assert.equal(bench.context.waiting?.reason, 'RunContainerError');
  assert.match(bench.context.waiting?.message ?? '', /boom/);
  assert.ok(reasons(effects).includes('Failed'));
  assert.deepEqual(find(effects, 'cri.ContainerStatus'), { containerId: 'c1' });
  bench.at += 100;
  bench.failed('cri.ContainerStatus', 'Unavailable', 'away');
  assert.equal(bench.state, 'inDoubt');
  assert.match(bench.context.waiting?.message ?? '', /boom; whether it runs is not known/);
  assert.equal(bench.context.deadline, bench.at + 5_000);
  assert.deepEqual(find(bench.ring(), 'cri.ContainerStatus'), { containerId: 'c1' });
  bench.over.observed = seen({ state: 'exited' });
  bench.done('cri.ContainerStatus', bench.over.observed as never);
  assert.equal(bench.state, 'retrying');
  assert.doesNotMatch(bench.context.waiting?.message ?? '', /not known/);
  assert.equal(bench.context.deadline, began + 1_000, 'kubelet hears of an end that soon');
  bench.ring();
  assert.equal(bench.state, 'waiting');
});

const everyStart = [
  'starting.checkingImage',
  'starting.awaitingPod',
  'starting.preparing',
  'starting.creating',
  'starting.started',
  'running',
];
for (const state of everyStart) {
  test(`${state}: foreign, late and double outcomes move nothing`, () => {
    const bench = new ContainerBench().to(state);
    const before = JSON.stringify([bench.snapshot.value, bench.context]);
    for (const key of ['container/c/0', 'container/other/1', 'nonsense', 'container/c/99']) {
      assert.deepEqual(bench.done('cri.CreateContainer', { containerId: 'zz' }, key), []);
      assert.deepEqual(bench.done('image.Status', present, key), []);
      assert.deepEqual(bench.failed('cri.StartContainer', 'Unknown', 'x', key), []);
      assert.deepEqual(bench.failed('image.Pull', 'Unknown', 'x', key), []);
    }
    assert.equal(JSON.stringify([bench.snapshot.value, bench.context]), before);
  });
}

test('without sandbox or volumes it waits in awaitingPod, and goes back there when the sandbox goes away', () => {
  const bench = new ContainerBench().to('starting.awaitingPod');
  bench.over.sandboxId = '';
  bench.tell({ type: 'proceed' });
  assert.equal(bench.state, 'starting.awaitingPod');
  bench.over = { volumePaths: null };
  bench.tell({ type: 'proceed' });
  assert.equal(bench.state, 'starting.awaitingPod');
  bench.over = {};
  bench.tell({ type: 'proceed' });
  bench.over = { sandboxId: '' };
  assert.deepEqual(bench.done('host.PrepareContainer', { subPaths: {} }), []);
  assert.equal(bench.state, 'starting.awaitingPod', 'no container is made in a sandbox that is gone');
  bench.over = { sandboxId: 's2' };
  bench.tell({ type: 'proceed' });
  assert.equal(find(bench.done('host.PrepareContainer', { subPaths: {} }), 'cri.CreateContainer').podSandboxId, 's2');
});

test('a configuration that cannot be made: runAsNonRoot with a root image', () => {
  const bench = new ContainerBench({ securityContext: { runAsNonRoot: true } });
  bench.tell({ type: 'start' });
  bench.done('image.Status', { present: { imageRef: 'img:1', uid: 0, username: '' } });
  bench.tell({ type: 'proceed' });
  bench.done('host.PrepareContainer', { subPaths: {} });
  assert.equal(bench.state, 'retrying');
  assert.equal(bench.context.waiting?.reason, 'CreateContainerConfigError');
  assert.equal(bench.context.deadline, bench.at + 10_000);
});

for (const state of [
  'retrying',
  'backingOff',
  'starting.checkingImage',
  'starting.imageBackOff',
  'starting.awaitingPod',
  'starting.preparing',
]) {
  test(`a changed definition frees a container from ${state}`, () => {
    const bench = new ContainerBench(state === 'starting.imageBackOff' ? { imagePullPolicy: 'Always' } : {});
    if (state === 'retrying') bench.to('starting.creating').failed('cri.CreateContainer', 'Unknown', 'x');
    else if (state === 'backingOff') {
      bench.to('running').ended();
      bench.tell({ type: 'start' });
      bench.snapshot = new ContainerBench().snapshot;
      bench.snapshot = {
        ...bench.snapshot,
        context: { ...bench.context, backOff: { delayMs: 20_000, since: bench.at, hash: bench.world.hash } },
      } as never;
      bench.tell({ type: 'start' });
    } else if (state === 'starting.imageBackOff') {
      bench.tell({ type: 'start' });
      bench.failed('image.Pull', 'NotFound', 'x');
    } else bench.to(state);
    assert.equal(bench.state, state);
    bench.container = { ...bench.container, image: 'img:2' };
    bench.tell({ type: 'changed' });
    assert.equal(bench.state, 'waiting');
    assert.equal(bench.context.deadline, null);
    bench.tell({ type: 'start' });
    assert.match(bench.state, /^starting\.(checkingImage|pullingImage)$/);
  });
}

test('what already runs is adopted from every resting state, its hooks are not run again', () => {
  for (const state of ['waiting', 'retrying', 'exited']) {
    const bench = new ContainerBench({ lifecycle: { postStart: { exec: { command: ['x'] } } } });
    if (state === 'retrying') bench.to('starting.creating').failed('cri.CreateContainer', 'Unknown', 'x');
    if (state === 'exited') bench.ended();
    assert.equal(bench.state, state);
    bench.over.observed = seen({ id: 'c9', restartCount: 4 });
    assert.deepEqual(bench.tell({ type: 'observed' }), []);
    assert.equal(bench.state, 'running');
    assert.equal(bench.context.id, 'c9');
    assert.equal(bench.context.attempt, 4);
    assert.equal(bench.context.deadline, null);
  }
});
