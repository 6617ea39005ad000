import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, ContainerStatus } from '../../../machines/protocol/api-types.ts';
import { withoutCreated } from '../../../machines/status/created-containers.ts';
import { pod, PodWorld } from './pod-world.ts';

const hooked = (over: Partial<Container> = {}): Container => ({
  name: 'c',
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  lifecycle: { postStart: { sleep: { seconds: 20 } } },
  ...over,
});

const first = (world: PodWorld): ContainerStatus | undefined => world.status?.containerStatuses?.[0];

test('a container is not told as running before its postStart hook has ended, nor its pod', () => {
  const definition = pod({ containers: [hooked()] });
  const world = new PodWorld(definition);
  world.run(10_000);
  assert.deepEqual(world.running(), ['c'], 'its process runs');
  assert.deepEqual(first(world)?.state, { waiting: {} });
  assert.equal(world.status?.phase, 'Pending');
  const shown = withoutCreated(world.status, {}, definition).containerStatuses?.[0]?.state;
  assert.deepEqual(shown, { waiting: { reason: 'ContainerCreating' } });
  world.run(15_000);
  assert.ok(first(world)?.state?.running);
  assert.equal(world.status.phase, 'Running');
  assert.equal(first(world)?.ready, true);
});

test('the end of the hook is told, also of a container that has not started by its startup probe', () => {
  const startupProbe = { exec: { command: ['x'] }, periodSeconds: 10, failureThreshold: 30, timeoutSeconds: 1 };
  const world = new PodWorld(pod({ containers: [hooked({ startupProbe })] }));
  world.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: 'not yet' } });
  world.run(10_000);
  assert.equal(first(world)?.state?.running, undefined);
  world.run(15_000);
  assert.ok(first(world)?.state?.running);
  assert.equal(first(world)?.started, false);
});

test('a restarted container waits for its hook with its last end told, and its pod stays Running', () => {
  const world = new PodWorld(pod({ containers: [hooked()] }));
  world.run(30_000);
  world.exit('c', 1);
  world.run(5_000);
  assert.deepEqual(world.running(), ['c']);
  assert.equal(first(world)?.state?.running, undefined);
  assert.equal(first(world)?.lastState?.terminated?.exitCode, 1);
  assert.equal(world.status?.phase, 'Running');
  world.run(20_000);
  assert.ok(first(world)?.state?.running);
});

test('a changed definition of a pod that is never restarted: the phase stays Running while the new hook runs', () => {
  const world = new PodWorld(pod({ restartPolicy: 'Never', containers: [hooked()] }));
  world.run(30_000);
  world.effects = [];
  world.definition = pod({ restartPolicy: 'Never', containers: [hooked({ image: 'img:2' })] });
  world.send({ type: 'pod.update', at: world.at, pod: world.definition });
  world.run(40_000);
  const phases = new Set(world.effects.flatMap((e) => (e.type === 'status.Publish' ? [e.params.status.phase] : [])));
  assert.deepEqual([...phases], ['Running']);
  assert.equal(first(world)?.restartCount, 1);
  assert.ok(first(world)?.state?.running);
});

test('a hook that fails: the container is never told as running', () => {
  const lifecycle = { postStart: { exec: { command: ['no'] } } };
  const world = new PodWorld(pod({ containers: [hooked({ lifecycle })] }));
  world.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: '' } });
  world.run(5_000);
  const told = world.effects.flatMap((e) =>
    e.type === 'status.Publish' ? (e.params.status.containerStatuses ?? []).map(({ state }) => state?.running) : [],
  );
  assert.ok(told.every((running) => running === undefined));
  assert.ok(world.events.includes('FailedPostStartHook: PostStartHook failed'));
});

test('a pod that ends while a hook runs tells its container as running, and how it ended', () => {
  const definition = pod({ restartPolicy: 'Never', containers: [hooked()] });
  const world = new PodWorld(definition, null, undefined, true, 'api');
  world.run(5_000);
  world.send({
    type: 'pod.terminate',
    at: world.at,
    order: { reason: 'Deleted', message: '', gracePeriodSeconds: 30 },
  });
  world.run(10_000);
  assert.equal(first(world)?.state?.terminated?.exitCode, 143);
  assert.equal(world.status?.phase, 'Failed');
});
