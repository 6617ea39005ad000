import assert from 'node:assert/strict';
import { test } from 'node:test';
import { criEffects } from '../../../actors/pods/shard/cri-effects.ts';

test('what is left of a grace period is asked for in whole seconds: CRI knows no others', async () => {
  const asked: unknown[] = [];
  const runtime = {
    execSync: (request: { timeout: string }) => {
      asked.push(BigInt(request.timeout));
      return Promise.resolve({ stdout: new Uint8Array(), stderr: new Uint8Array(), exitCode: 0 });
    },
  };
  const run = criEffects['cri.ExecSync'] as (params: unknown, cri: unknown, ask: unknown) => Promise<unknown>;
  for (const timeoutSeconds of [4.409, 0, 8])
    await run({ containerId: 'c', cmd: ['sleep', '1'], timeoutSeconds }, { runtime }, undefined);
  assert.deepEqual(asked, [5n, 0n, 8n]);
});
