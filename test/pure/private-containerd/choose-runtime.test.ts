import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { chooseRuntime } from '../../../cri/private-containerd/choose-runtime.ts';
import { containerdLayout } from '../../../cri/private-containerd/layout.ts';

describe('chooseRuntime', () => {
  it('takes the endpoint given, then a usual socket, then the private containerd', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'choose-'));
    const socket = join(dir, 'usual.sock');
    const server = createServer();
    try {
      assert.deepEqual(await chooseRuntime('/srv/a', undefined, [socket]), { kind: 'private' });
      await new Promise<void>((resolve) => server.listen(socket, resolve));
      assert.deepEqual(await chooseRuntime('/srv/a', '', [socket]), { kind: 'endpoint', endpoint: `unix://${socket}` });
      const given = 'unix:///run/other.sock';
      assert.deepEqual(await chooseRuntime('/srv/a', given, [socket]), { kind: 'endpoint', endpoint: given });
      const own = containerdLayout('/srv/a').endpoint;
      assert.deepEqual(await chooseRuntime('/srv/a', own, [socket]), { kind: 'private' });
      assert.deepEqual(await chooseRuntime('/srv/b', own, [socket]), { kind: 'endpoint', endpoint: own });
    } finally {
      server.close();
      await rm(dir, { recursive: true, force: true });
    }
  });
});
