import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSource } from '../../../machines/protocol/messages.ts';
import { pod, PodWorld } from './pod-world.ts';

/** Params of the pod's RunPodSandbox. */
function runtimeOf(source: PodSource, runtimeClassName?: string) {
  const world = new PodWorld(
    pod({ containers: [{ name: 'c', image: 'img:1' }], ...(runtimeClassName !== undefined && { runtimeClassName }) }),
    null,
    undefined,
    true,
    source,
  );
  world.run(1_000);
  for (const effect of world.effects) {
    if (effect.type !== 'cri.RunPodSandbox') continue;
    const { config: _, ...rest } = effect.params;
    return rest;
  }
  return null;
}

test('with an API server the worker looks the RuntimeClass up; without one its name is the handler', () => {
  assert.deepEqual(runtimeOf('api', 'gvisor'), { runtimeHandler: '', runtimeClass: 'gvisor' });
  assert.deepEqual(runtimeOf('file', 'runsc'), { runtimeHandler: 'runsc' });
  for (const source of ['api', 'file'] as const) assert.deepEqual(runtimeOf(source), { runtimeHandler: '' });
});
