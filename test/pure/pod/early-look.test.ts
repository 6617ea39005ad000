import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, PodWorld } from './pod-world.ts';

/** Ends a container in the runtime without anybody being told. */
function endQuietly(world: PodWorld, name: string): void {
  world.containers = world.containers.map((c) =>
    c.name === name ? { ...c, state: 'exited', exitCode: 0, finishedAt: world.at, reason: 'Completed' } : c,
  );
}

test('the end of an init container is noticed without the observer', () => {
  const world = new PodWorld(pod({ initContainers: [{ name: 'i', image: 'img:1' }] }));
  while (!world.running().includes('i')) world.run(5);
  world.run(60);
  endQuietly(world, 'i');
  world.run(200);
  assert.deepEqual(world.running(), ['c']);
});

test('looking early ends after a second: a container that runs on is left to the observer', () => {
  const world = new PodWorld(pod({ restartPolicy: 'Never' }));
  world.run(5_000);
  const looks = world.count('cri.ContainerStatus');
  assert.ok(looks > 1 && looks < 10, String(looks));
  world.run(600_000);
  assert.equal(world.count('cri.ContainerStatus'), looks);
});

test('a container that is always restarted is not looked at early', () => {
  const world = new PodWorld(pod({}));
  world.run(60_000);
  assert.equal(world.count('cri.ContainerStatus'), 1);
});

test('no sandbox is made before the cgroup and the volumes are there, whatever comes first', () => {
  for (const late of ['host.EnsurePodCgroup', 'host.SetUpVolumes'] as const) {
    const slow = new PodWorld(pod({}), null, undefined, false);
    slow.answers[late] = () => 'hang';
    slow.begin(null, false);
    slow.run(60_000);
    assert.equal(slow.count('cri.RunPodSandbox'), 0, late);
    assert.equal(slow.count('image.Status'), 1, 'the image is looked for meanwhile');
  }
});

test('a pod that lacks a volume has no address and is not ready to start containers; it goes on when the volume is there', () => {
  const world = new PodWorld(pod({}), null, undefined, false);
  world.answers['host.SetUpVolumes'] = () => ({ error: { code: 'ENOENT', message: 'configmap "later" not found' } });
  world.begin(null, false);
  world.run(10_000);
  const ready = () => world.status?.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')?.status;
  assert.equal(world.state, 'syncing.mountingVolumes');
  assert.equal(ready(), 'False');
  assert.equal(world.status?.podIP, undefined);
  assert.equal(world.count('cri.RunPodSandbox'), 0);
  delete world.answers['host.SetUpVolumes'];
  world.send({ type: 'pod.refresh', at: world.at });
  world.run(1_000);
  assert.equal(ready(), 'True');
  assert.equal(world.state, 'syncing.running');
});

test('a cgroup that cannot be made leaves no sandbox behind', () => {
  const world = new PodWorld(pod({}), null, undefined, false);
  world.answers['host.EnsurePodCgroup'] = () => ({ error: { code: 'EACCES', message: 'no' } });
  world.begin(null, false);
  world.run(10_000);
  assert.equal(world.state, 'syncing.creatingCgroup');
  assert.equal(world.count('cri.RunPodSandbox'), 0);
  assert.ok(world.events.includes('FailedCreatePodContainer: unable to ensure pod container exists: no'));
});

test('the image is pulled for the sandbox that is made after the volumes', () => {
  const spec = { containers: [{ name: 'c', image: 'none:1', imagePullPolicy: 'IfNotPresent' }] };
  const world = new PodWorld(pod(spec), null, undefined, false);
  world.answers['host.SetUpVolumes'] = () => 'hang';
  world.begin(null, false);
  world.run(60);
  const pulls = world.effects.flatMap((e) => (e.type === 'image.Pull' ? [e.params.sandboxConfig?.metadata.name] : []));
  assert.deepEqual(pulls, ['web-node1']);
});
