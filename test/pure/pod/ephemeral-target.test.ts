/** Kubelet getTargetID: an ephemeral container joins the processes of its target, so that must have been made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, PodWorld } from './pod-world.ts';

const definition = pod({
  initContainers: [{ name: 'i', image: 'img:1', imagePullPolicy: 'IfNotPresent' }],
  ephemeralContainers: [
    { name: 'debug', image: 'img:2', imagePullPolicy: 'IfNotPresent', targetContainerName: 'c' },
  ] as never,
});

test('an ephemeral container whose target was not made yet waits for it, with CreateContainerConfigError', () => {
  const world = new PodWorld(definition);
  world.run(5_000);
  assert.deepEqual(world.running(), ['i']);
  const debug = () => world.status?.ephemeralContainerStatuses?.[0]?.state;
  assert.deepEqual(debug()?.waiting, {
    reason: 'CreateContainerConfigError',
    message: 'unable to find target container c',
  });
  assert.ok(world.events.includes('Failed: Error: unable to find target container c'));
  world.exit('i', 0);
  world.pleg();
  world.run(30_000);
  assert.deepEqual(world.running().sort(), ['c', 'debug']);
  const made = world.effects.flatMap((e) => (e.type === 'cri.CreateContainer' ? [e.params.config] : []));
  const options = made.find(({ metadata }) => metadata.name === 'debug')?.linux?.securityContext?.namespaceOptions;
  assert.equal(options?.targetId, world.containers.find(({ name }) => name === 'c')?.id);
});
