import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bench, manifest, until } from './support/bench.ts';

test('a pod of which the runtime does not say how its container is: told as by kubelet, and others go on', async (t) => {
  const silent = {
    match: { pod: 'silent-node', rpc: 'ContainerStatus' },
    fail: { code: 'Internal', message: 'no answer' },
  };
  const b = await bench(t, { script: { faults: [silent] } as never });
  await b.put('pods.yaml', manifest('silent'), manifest('other'));
  const told = await until('the event', async () =>
    (await b.agent.events()).find(({ reason }) => reason === 'FailedSync'),
  );
  assert.deepEqual(
    [told.type, told.message],
    ['Warning', 'error determining status: rpc error: code = Internal desc = no answer'],
  );
  await until('the other to run', async () =>
    (await b.agent.rows()).some(({ name, state }) => name === 'other-node' && state === 'syncing.running'),
  );
});
