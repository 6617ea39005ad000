import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, PodWorld } from './pod-world.ts';

/** The runtime says of its newest sandbox that it is ready and has no address. */
function loseAddress(world: PodWorld): void {
  world.sandboxes = world.sandboxes.map((s, i) => (i === 0 ? { ...s, ips: [], unaddressed: true } : s));
}

const changed = (world: PodWorld) => world.events.filter((e) => e.startsWith('SandboxChanged')).length;

test('a sandbox that is ready and has no address is replaced, and what runs in it', () => {
  const first = new PodWorld(pod({}));
  first.run(1_000);
  assert.equal(first.state, 'syncing.running');
  loseAddress(first);
  // An agent that begins finds it so.
  const world = new PodWorld(pod({}), first.memory, first);
  world.run(5_000);
  assert.equal(world.state, 'syncing.running');
  assert.equal(changed(world), 1);
  assert.deepEqual(
    world.sandboxes.map(({ attempt, state }) => [attempt, state]),
    [
      [1, 'ready'],
      [0, 'notReady'],
    ],
  );
  const [now] = world.containers.filter((c) => c.state === 'running');
  assert.deepEqual([now?.sandboxId, now?.restartCount], [world.sandboxes[0]?.id, 1]);
  assert.equal(world.status?.podIP, '10.88.0.2');
});

test('a pod on the network of the node has none of its own', () => {
  const world = new PodWorld(pod({ hostNetwork: true }), null, undefined, false);
  world.answers['cri.RunPodSandbox'] = (_effect, { at }) => {
    world.sandboxes = [
      {
        ...{ id: 's', attempt: 0, state: 'ready', createdAt: at, ips: [], hostNetwork: true },
        ...{ runtimeHandler: '', labels: {}, annotations: {} },
      },
    ];
    return { result: { podSandboxId: 's' } };
  };
  world.begin(null, false);
  world.run(2_000);
  world.pleg();
  world.run(2_000);
  assert.equal(world.state, 'syncing.running');
  assert.equal(world.count('cri.RunPodSandbox'), 1);
});

test('the first answer after it was made decides nothing; the look that follows does', () => {
  for (const late of [true, false]) {
    const world = new PodWorld(pod({}), null, undefined, false);
    let runs = 0;
    world.answers['cri.RunPodSandbox'] = () => {
      runs++;
      return undefined;
    };
    world.answers['cri.PodSandboxStatus'] = () => {
      if (runs > 1) return undefined;
      // Its address comes before the look does, or never.
      if (!late) loseAddress(world);
      return { result: { ips: [], ready: true } };
    };
    world.begin(null, false);
    world.run(5_000);
    assert.equal(world.state, 'syncing.running');
    assert.equal(runs, late ? 1 : 2);
    assert.equal(changed(world), late ? 0 : 1);
    assert.equal(world.sandboxes[0]?.attempt, late ? 0 : 1);
  }
});
