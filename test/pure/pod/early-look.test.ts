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

test('no container starts before the cgroup and the volumes are there, whatever comes first', () => {
  for (const late of ['host.EnsurePodCgroup', 'host.SetUpVolumes'] as const) {
    const slow = new PodWorld(pod({}), null, undefined, false);
    slow.answers[late] = () => 'hang';
    slow.begin(null, false);
    slow.run(60_000);
    assert.equal(slow.count('cri.RunPodSandbox'), 1, 'the sandbox does not wait');
    assert.equal(slow.count('cri.CreateContainer'), 0, late);
  }
});
