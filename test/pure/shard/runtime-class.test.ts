import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ask } from '../../../machines/protocol/ask.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { criEffects } from '../../../actors/pods/shard/cri-effects.ts';
import { handlerOf, withHandler } from '../../../actors/pods/shard/runtime-class.ts';

const main = (answer: { handler: string } | null | Error) =>
  (() => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve({ found: answer }))) as unknown as Ask;

test('a RuntimeClass names its handler; what is missing or cannot be asked for, in kubelet’s words', async () => {
  assert.equal(await handlerOf('gvisor', main({ handler: 'runsc' })), 'runsc');
  await assert.rejects(handlerOf('gvisor', main(null)), { message: 'runtimeclass.node.k8s.io "gvisor" not found' });
  await assert.rejects(handlerOf('gvisor', main(new Error('down'))), {
    code: 'ERUNTIMECLASS',
    message: 'failed to lookup RuntimeClass gvisor: down',
  });
});

test('without an API server the name is the handler', async () => {
  assert.equal(await handlerOf('runsc', undefined), 'runsc');
  assert.equal(await handlerOf('runsc', main(Object.assign(new Error('no'), { code: 'NoClient' }))), 'runsc');
});

test('calls for sandbox and images are made with the handler that a class stands for', async () => {
  const calls: unknown[] = [];
  const cri = {
    runtime: {
      runPodSandbox: ({ runtimeHandler }: { runtimeHandler: string }) => {
        calls.push(['sandbox', runtimeHandler]);
        return Promise.resolve({ podSandboxId: 'box' });
      },
    },
    image: {
      imageStatus: ({ image }: { image: object }) => {
        calls.push(['image', image]);
        return Promise.resolve({ image: undefined });
      },
    },
  } as unknown as CriClient;
  const ask = main({ handler: 'runsc' });
  const by = { runtimeHandler: '', runtimeClass: 'gvisor' };
  const config = {} as never;
  const log = {} as never;
  assert.deepEqual(await criEffects['cri.RunPodSandbox']({ config, ...by }, cri, log, ask), {
    podSandboxId: 'box',
    runtimeHandler: 'runsc',
  });
  assert.deepEqual(await criEffects['cri.RunPodSandbox']({ config, runtimeHandler: 'kata' }, cri, log, ask), {
    podSandboxId: 'box',
  });
  await criEffects['image.Status']({ image: 'a', ...by }, cri, log, ask);
  const annotations = { team: 'blue' };
  await criEffects['image.Status']({ image: 'a', runtimeHandler: '', annotations }, cri, log, ask);
  assert.deepEqual(calls, [
    ['sandbox', 'runsc'],
    ['sandbox', 'kata'],
    ['image', { image: 'a', runtimeHandler: 'runsc' }],
    ['image', { image: 'a', runtimeHandler: '', annotations }],
  ]);
  assert.deepEqual(await withHandler({ image: 'a', ...by }, ask), { image: 'a', runtimeHandler: 'runsc' });
});
