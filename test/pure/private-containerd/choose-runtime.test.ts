import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { chooseRuntime } from '../../../cri/private-containerd/choose-runtime.ts';

describe('chooseRuntime', () => {
  it('takes the endpoint given, then a usual socket, then the private containerd', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'choose-'));
    const socket = join(dir, 'usual.sock');
    const server = createServer();
    try {
      const usual = { kind: 'endpoint', endpoint: `unix://${socket}` };
      const given = { kind: 'endpoint', endpoint: 'unix:///run/other.sock' };
      const byDefault = { kind: 'endpoint', endpoint: 'unix:///run/containerd/containerd.sock' };
      assert.deepEqual(await chooseRuntime('auto', undefined, [socket]), { kind: 'private' });
      assert.deepEqual(await chooseRuntime('never', undefined, [socket]), byDefault);
      await new Promise<void>((resolve) => server.listen(socket, resolve));
      assert.deepEqual(await chooseRuntime('auto', '', [socket]), usual);
      assert.deepEqual(await chooseRuntime('never', '', [socket]), usual);
      assert.deepEqual(await chooseRuntime('auto', given.endpoint, [socket]), given);
      assert.deepEqual(await chooseRuntime('always', given.endpoint, [socket]), { kind: 'private' });
    } finally {
      server.close();
      await rm(dir, { recursive: true, force: true });
    }
  });
});
