/** Gate RuntimeClassInImageCriApi (KEP-4216): for which runtime handler images are looked for, pulled and mounted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodSource } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { pod, PodWorld } from './pod-world.ts';

const ON = { imagesByHandler: true as const };
const definition = pod({
  runtimeClassName: 'gvisor',
  containers: [
    { name: 'c', image: 'far:1', imagePullPolicy: 'IfNotPresent', volumeMounts: [{ name: 'v', mountPath: '/v' }] },
  ],
  volumes: [{ name: 'v', image: { reference: 'far:2', pullPolicy: 'IfNotPresent' } }],
});

/** The pod once it runs; its RuntimeClass stands for the handler `runsc`. */
function run(source: PodSource, over: Partial<NodeSettings>): PodWorld {
  const world = new PodWorld(definition, null, undefined, false, source, over);
  // The worker tells what it looked up.
  world.answers['cri.RunPodSandbox'] = (effect) => {
    const { runtimeClass } = (effect as Extract<Effect, { type: 'cri.RunPodSandbox' }>).params;
    world.sandboxes = [
      {
        ...{ id: 'box', attempt: 0, state: 'ready', createdAt: world.at, ips: ['10.0.0.9'], hostNetwork: false },
        ...{ runtimeHandler: runtimeClass === undefined ? 'gvisor' : 'runsc', labels: {}, annotations: {} },
      },
    ];
    return { result: { podSandboxId: 'box', ...(runtimeClass !== undefined && { runtimeHandler: 'runsc' }) } };
  };
  world.begin(null, false);
  world.run(5_000);
  assert.deepEqual(world.running(), ['c']);
  return world;
}

/** What each look and each pull is made with, and what CreateContainer is told of the volume's image. */
function asked(world: PodWorld) {
  const runtimes = new Set<string>();
  let mounted: string | undefined;
  for (const effect of world.effects) {
    if (effect.type === 'image.Status' || effect.type === 'image.Pull') {
      const { runtimeHandler, runtimeClass } = effect.params;
      runtimes.add(JSON.stringify([runtimeHandler, runtimeClass ?? null]));
    }
    if (effect.type === 'cri.CreateContainer')
      mounted = effect.params.config.mounts.find(({ containerPath }) => containerPath === '/v')?.image?.runtimeHandler;
  }
  return { runtimes: [...runtimes], mounted };
}

test('the gate off, images are asked for without a handler, whatever runs the pod', () => {
  for (const source of ['api', 'file'] as const)
    assert.deepEqual(asked(run(source, {})), { runtimes: ['["",null]'], mounted: '' });
});

test('the gate on, who makes the call looks the RuntimeClass up; the mounted image has the handler of the sandbox', () => {
  assert.deepEqual(asked(run('api', ON)), { runtimes: ['["","gvisor"]'], mounted: 'runsc' });
});

test('the gate on, without an API server the name of the class is the handler', () => {
  assert.deepEqual(asked(run('file', ON)), { runtimes: ['["gvisor",null]'], mounted: 'gvisor' });
});

test('a journal of before goes by the handler of the sandbox that there was', () => {
  const { runtimes } = asked(run('file', { behaviour: [] }));
  assert.ok(runtimes.every((each) => each === '["",null]' || each === '["gvisor",null]'));
});

test("images are looked for and pulled with the pod's annotations", () => {
  const annotations = definition.metadata?.annotations;
  const seen = run('api', {}).effects.flatMap((effect) =>
    effect.type === 'image.Status' || effect.type === 'image.Pull' ? [[effect.type, effect.params.annotations]] : [],
  );
  assert.ok(annotations !== undefined && seen.length >= 4);
  for (const [type, told] of seen) assert.deepEqual(told, annotations, String(type));
});
