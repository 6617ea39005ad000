import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodWorld, pod } from './pod-world.ts';

/** The pod's only container in the status. */
function told({ status }: PodWorld): number | undefined {
  return status?.containerStatuses?.[0]?.restartCount;
}

/** A world in which a start was broken off by the end of the runtime, and the next one by the end of the agent. */
function twoLeftOver(): PodWorld {
  const first = new PodWorld(pod({}));
  first.answers['cri.StartContainer'] = () => ({ error: { code: 'Unavailable', message: 'Connection dropped' } });
  first.run(1_000);
  first.pleg();
  first.answers['cri.CreateContainer'] = () => 'hang';
  first.run(15_000);
  const [made] = first.containers;
  assert.ok(made !== undefined && made.state === 'created' && made.restartCount === 0);
  // the runtime made it, and nobody heard of it
  first.containers = [{ ...made, id: 'unheard', restartCount: 1, createdAt: first.at }, made];
  return first;
}

test('a restart count never falls when several containers that never ran are removed together', () => {
  const next = new PodWorld(pod({}), null, twoLeftOver());
  const counts: number[] = [];
  for (let i = 0; i < 100; i++) {
    next.run(20);
    next.pleg();
    const count = told(next);
    if (count !== undefined) counts.push(count);
  }
  assert.equal(next.state, 'syncing.running');
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
  );
  assert.deepEqual(
    next.containers.map((c) => [c.state, c.restartCount]),
    [['running', 1]],
    'both were removed, and the new one has the number that was told',
  );
});

test('what the API server knows of restarts counts when the runtime has lost the container', () => {
  const status = {
    containerStatuses: [
      { name: 'c', image: 'img:1', imageID: '', ready: false, restartCount: 4, state: {}, lastState: {} },
    ],
  };
  const world = new PodWorld({ ...pod({}), status }, null, undefined, false, 'api');
  world.begin(null, true);
  world.run(5_000);
  assert.equal(world.state, 'syncing.running');
  assert.equal(told(world), 4);
  assert.equal(world.containers[0]?.restartCount, 4);
});

test('logs tell of restarts that neither the runtime nor the API server knows of', () => {
  const world = new PodWorld(pod({}), null, undefined, false);
  const asked: (number | undefined)[] = [];
  world.answers['host.PrepareContainer'] = (effect) => {
    if (effect.type !== 'host.PrepareContainer') return undefined;
    asked.push(effect.params.attempt);
    return { result: { subPaths: {}, ...(effect.params.attempt === 0 && { attempt: 5 }) } };
  };
  world.begin(null, true);
  world.run(5_000);
  assert.equal(world.state, 'syncing.running');
  assert.equal(told(world), 5);
  const create = world.effects.find((e) => e.type === 'cri.CreateContainer');
  assert.ok(create?.type === 'cri.CreateContainer');
  const { metadata, logPath, mounts } = create.params.config;
  assert.deepEqual([metadata.attempt, logPath], [5, 'c/5.log']);
  assert.ok(mounts.some(({ hostPath }) => hostPath.endsWith('/containers/c/00000005')));
  world.exit('c', 1);
  world.run(5_000);
  assert.equal(told(world), 6);
  assert.deepEqual(asked, [0, undefined], 'the runtime tells of it now');
});
