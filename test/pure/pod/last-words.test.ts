import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../../machines/protocol/api-types.ts';
import type { ObservedContainer } from '../../../machines/protocol/observed.ts';
import { ANNOTATION } from '../../../machines/protocol/runtime-labels.ts';
import { pod, PodWorld } from './pod-world.ts';

/** A container that ends like this, as the runtime tells it, and what its pod says of the end. */
function toldOf(end: Partial<ObservedContainer>, words: string): { message: string | undefined; reads: number } {
  const container: Container = { name: 'c', image: 'img:1', terminationMessagePolicy: 'FallbackToLogsOnError' };
  const world = new PodWorld(pod({ restartPolicy: 'Never', containers: [container] }));
  world.answers['host.ReadTerminationMessage'] = () => ({ result: { message: words } });
  world.run(1_000);
  const annotations = { [ANNOTATION.terminationMessagePolicy]: 'FallbackToLogsOnError' };
  world.containers = world.containers.map((c) => ({
    ...{ ...c, state: 'exited', exitCode: 128, finishedAt: world.at, annotations },
    ...end,
  }));
  world.pleg();
  world.run(10_000);
  const [status] = world.status?.containerStatuses ?? [];
  return { message: status?.state?.terminated?.message, reads: world.count('host.ReadTerminationMessage') };
}

test('what a container said last stands behind what the runtime says of its end', () => {
  const end = { reason: 'StartError', message: 'failed to start' };
  assert.equal(toldOf(end, 'its log').message, 'failed to start: its log');
  assert.equal(toldOf(end, '').message, 'failed to start');
  assert.equal(toldOf({ reason: 'Error', message: '' }, 'its log').message, 'its log');
});

test('of a container that could not run no log is read', () => {
  assert.deepEqual(toldOf({ reason: 'ContainerCannotRun', message: 'no such program' }, 'its log'), {
    message: 'no such program',
    reads: 0,
  });
});
