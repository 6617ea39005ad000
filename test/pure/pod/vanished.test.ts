import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, PodWorld } from './pod-world.ts';

test('a pod that is not restarted, and whose containers vanish with its sandbox, has failed and ends (kubelet SyncPod)', () => {
  const world = new PodWorld(pod({ restartPolicy: 'Never' }));
  world.run(2_000);
  assert.deepEqual(world.running(), ['c']);
  // Somebody removes them behind the agent's back (crictl rmp -f).
  world.sandboxes = [];
  world.containers = [];
  world.pleg();
  assert.equal(world.status?.phase, 'Failed');
  const created = world.count('cri.CreateContainer');
  world.run(5_000);
  world.pleg();
  world.run(60_000);
  assert.equal(world.count('cri.CreateContainer'), created, 'it is not made again');
  assert.equal(world.status?.phase, 'Failed');
  assert.equal(world.state, 'terminated.kept');
});

test('so has one whose containers vanish while the runtime is not ready: told to have failed, it is not made again', () => {
  const world = new PodWorld(pod({ restartPolicy: 'Never' }));
  world.run(2_000);
  const ready = (runtimeReady: boolean): void =>
    world.send({ type: 'runtime.state', at: world.at, runtimeReady, networkReady: true });
  ready(false);
  world.sandboxes = [];
  world.containers = [];
  world.pleg();
  const created = world.count('cri.CreateContainer');
  ready(true);
  world.run(60_000);
  assert.equal(world.count('cri.CreateContainer'), created);
  assert.deepEqual([world.status?.phase, world.state], ['Failed', 'terminated.kept']);
});

test('a pod that is not restarted, whose sandbox and containers died with the machine: its sandbox is stopped, which gives its address back', () => {
  const world = new PodWorld(pod({ restartPolicy: 'Never' }));
  world.run(2_000);
  world.sandboxes = world.sandboxes.map((s) => ({ ...s, state: 'notReady' as const }));
  world.containers = world.containers.map((c) => ({
    ...c,
    state: 'exited' as const,
    exitCode: 255,
    reason: 'Unknown',
  }));
  world.pleg();
  world.run(5_000);
  assert.equal(world.status?.phase, 'Failed');
  assert.equal(world.count('cri.RunPodSandbox'), 1);
  assert.equal(world.count('cri.StopPodSandbox'), 1);
});

/** What the API server has of a container. */
const told = (name: string, state: object) => ({
  name,
  image: 'img:1',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
});
const ended = { terminated: { exitCode: 0, reason: 'Completed' } };

for (const [policy, state, phase] of [
  ['Never', { running: {} }, 'Failed'],
  ['OnFailure', ended, 'Succeeded'],
] as const)
  test(`one of which a sandbox is left and no container, and nobody remembers it: ${phase}, with ${policy}`, () => {
    const before = new PodWorld(pod({ restartPolicy: policy }), null, undefined, true, 'api');
    before.run(2_000);
    before.sandboxes = before.sandboxes.map((s) => ({ ...s, state: 'notReady' as const }));
    before.containers = [];
    const known = {
      ...pod({ restartPolicy: policy }),
      status: { phase: 'Running', containerStatuses: [told('c', state)] },
    };
    const world = new PodWorld(known, null, before, true, 'api');
    world.run(60_000);
    assert.equal(world.count('cri.RunPodSandbox'), 0);
    assert.equal(world.count('cri.CreateContainer'), 0, 'it does not run a second time');
    assert.deepEqual([world.status?.phase, world.state], [phase, 'terminated.kept']);
  });

test('nobody is woken for the probe of a container that a static pod does not name any more', () => {
  const probed = {
    name: 'probed',
    image: 'img:1',
    livenessProbe: { exec: { command: ['ok'] }, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3 },
  };
  const plain = { name: 'c', image: 'img:1' };
  const world = new PodWorld(pod({ containers: [plain, probed] }));
  world.run(5_000);
  assert.deepEqual(world.running().sort(), ['c', 'probed']);
  world.send({ type: 'pod.update', at: world.at, pod: pod({ containers: [plain] }) });
  // It never comes to rest if a deadline that has passed stays.
  world.run(120_000);
  assert.equal(world.state, 'syncing.running');
});
