import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ask } from '../../../machines/protocol/ask.ts';
import { handlerOf } from '../../../actors/pods/shard/runtime-class.ts';

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
