import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TerminationOrder } from '../../../machines/protocol/messages.ts';
import { pod, PodWorld } from './pod-world.ts';

const GIVEN_UP: TerminationOrder = { reason: 'Removed', message: '' };
const NAMED_AGAIN: TerminationOrder = { ...GIVEN_UP, comesBack: true };
const tell = (world: PodWorld, order: TerminationOrder): void =>
  world.send({ type: 'pod.terminate', at: world.at, order });

/** Its next life: another machine, which knows only what the runtime holds. */
function nextLife(before: PodWorld): PodWorld {
  const after = new PodWorld(before.definition, null, before);
  after.run(5_000);
  return after;
}
const counts = ({ status }: PodWorld) =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
    ({ name, restartCount }) => `${name} ${restartCount}`,
  );

const definition = pod({
  initContainers: [{ name: 'i', image: 'img:1', imagePullPolicy: 'IfNotPresent' }],
  containers: [
    { name: 'a', image: 'img:1', imagePullPolicy: 'IfNotPresent' },
    { name: 'b', image: 'img:2', imagePullPolicy: 'IfNotPresent' },
  ],
});

function running(): PodWorld {
  const world = new PodWorld(definition);
  world.run(1_000);
  world.exit('i', 0);
  world.run(1_000);
  assert.deepEqual(world.running().sort(), ['a', 'b']);
  return world;
}

test('a pod that its source names again while it ends: volumes and cgroup go, what is dead of it stays, its next life counts on', () => {
  const world = running();
  tell(world, GIVEN_UP);
  tell(world, NAMED_AGAIN);
  world.run(60_000);
  assert.equal(world.finished, true, world.state);
  assert.deepEqual([world.count('host.TearDownPod'), world.count('host.RemovePodCgroup')], [1, 1]);
  assert.deepEqual([world.count('cri.RemoveContainer'), world.count('host.RemovePodLogs')], [0, 0]);
  assert.deepEqual(world.running(), []);

  const next = nextLife(world);
  assert.deepEqual(next.running(), ['i'], 'it begins from its first init container');
  next.exit('i', 0);
  next.run(5_000);
  assert.deepEqual(next.running().sort(), ['a', 'b']);
  assert.deepEqual(counts(next), ['i 1', 'a 1', 'b 1']);
  assert.ok(next.status?.containerStatuses?.every(({ lastState }) => lastState?.terminated !== undefined));
});

test('a pod that is named again and given up again leaves nothing', () => {
  const world = running();
  tell(world, GIVEN_UP);
  tell(world, NAMED_AGAIN);
  tell(world, GIVEN_UP);
  world.run(60_000);
  assert.equal(world.finished, true, world.state);
  assert.deepEqual([world.containers, world.sandboxes], [[], []]);
});

test('an agent that ends in between: the next one knows by the source whether the pod comes back', () => {
  for (const source of ['file', 'orphan'] as const)
    for (const last of [GIVEN_UP, NAMED_AGAIN]) {
      const world = running();
      tell(world, GIVEN_UP);
      tell(world, last);
      const next = new PodWorld(definition, world.memory, world, false);
      next.source = source;
      next.begin(world.memory, true);
      next.run(60_000);
      assert.equal(next.finished, true, next.state);
      assert.equal(next.containers.length > 0, source === 'file');
    }
});
