import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObservedContainer } from '../../../machines/protocol/observed.ts';
import { pod, PodWorld } from './pod-world.ts';

/** A pod whose runtime once told of a container that is not there, in place of the one of that name that runs. */
function deceived(preStop: boolean): { world: PodWorld; real: ObservedContainer } {
  const lifecycle = { preStop: { exec: { command: ['bye'] } } };
  const definition = pod({
    containers: [{ name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', ...(preStop && { lifecycle }) }],
  });
  const first = new PodWorld(definition);
  first.run(2_000);
  const real = first.containers[0];
  assert.ok(real?.state === 'running');
  const world = new PodWorld(definition, null, first, false);
  world.send({
    type: 'pod.start',
    at: world.at,
    pod: definition,
    source: 'file',
    observed: { ...world.observe(), containers: [{ ...real, id: 'ghost', restartCount: 1 }] },
    memory: null,
    runtimeReady: true,
    networkReady: true,
  });
  assert.equal(world.snapshot.context.containers['c']?.context.id, 'ghost');
  world.answers['cri.StopContainer'] = (e) =>
    e.type === 'cri.StopContainer' && e.params.containerId === 'ghost' ? 'hang' : undefined;
  world.send({
    type: 'pod.terminate',
    at: world.at,
    order: { reason: 'Removed', message: '', gracePeriodSeconds: 20 },
  });
  return { world, real };
}

const stopped = (world: PodWorld): string[] =>
  world.effects.flatMap((e) => (e.type === 'cri.StopContainer' ? [e.params.containerId] : []));

test('what runs in place of the container that is being stopped is stopped in its turn', () => {
  // StopContainer was called for the one that is not there until somebody removed the other one by hand.
  const { world, real } = deceived(false);
  world.run(5_000);
  world.pleg();
  world.run(30_000);
  assert.deepEqual(stopped(world), ['ghost', real.id]);
  assert.deepEqual(world.running(), []);
  assert.equal(world.finished, true, `${world.state}: ${world.snapshot.context.why}`);
});

test('it has its own preStop hook, and what is left of the grace period', () => {
  const { world, real } = deceived(true);
  world.run(5_000);
  world.pleg();
  world.run(30_000);
  const hooks = world.effects.flatMap((e) => (e.type === 'cri.ExecSync' ? [e.params.containerId] : []));
  assert.deepEqual(hooks, ['ghost', real.id]);
  const last = world.effects.findLast((e) => e.type === 'cri.StopContainer');
  assert.equal(last?.type === 'cri.StopContainer' ? last.params.timeoutSeconds : 0, 15);
  assert.equal(world.finished, true, `${world.state}: ${world.snapshot.context.why}`);
});
