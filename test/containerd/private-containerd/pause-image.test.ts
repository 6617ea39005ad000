import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ContainerConfig, RuntimeServiceService } from '../../../cri/generated/runtime/v1/api.ts';
import { PAUSE_IMAGE } from '../../../cri/private-containerd/own-images.ts';
import { startTestContainerd } from '../support/with-containerd.ts';
import type { TestContainerd } from '../support/with-containerd.ts';

describe('the pause image', { concurrency: false }, () => {
  let c: TestContainerd;
  before(async () => {
    c = await startTestContainerd();
  });
  after(() => c.stop());

  async function runPause(): Promise<{ id: string; pid: number }> {
    const sandbox = await c.cri.runSandbox({ name: 'pause' });
    const config = ContainerConfig.fromPartial({
      metadata: { name: 'pause', attempt: 0 },
      image: { image: PAUSE_IMAGE },
      linux: { resources: {}, securityContext: { namespaceOptions: { network: 0, pid: 1, ipc: 0 } } },
    });
    const request = { podSandboxId: sandbox.id, config, sandboxConfig: sandbox.config };
    const { containerId } = await c.cri.call(RuntimeServiceService.createContainer, request);
    await c.cri.call(RuntimeServiceService.startContainer, { containerId });
    const status = await c.cri.call(RuntimeServiceService.containerStatus, { containerId, verbose: true });
    const pid = Number(/"pid":(\d+)/.exec(status.info['info'] ?? '')?.[1]);
    assert.ok(pid > 1);
    return { id: containerId, pid };
  }

  it('uses no processor time, reaps what is left to it, and ends with 0 on SIGTERM', async () => {
    const { id, pid } = await runPause();
    // a grandchild whose parent ends becomes a child of pid 1, and a zombie when pid 1 does not wait for it
    const orphan = await c.cri.exec(id, ['sh', '-c', 'for i in 1 2 3; do (sleep 0.2 &); done']);
    assert.equal(orphan.code, 0, orphan.out);
    await sleep(1_000);
    const zombies = await c.cri.exec(id, ['sh', '-c', 'grep -l "^State:.Z" /proc/[0-9]*/status | wc -l']);
    assert.equal(zombies.out.trim(), '0');

    const ticks = async () => {
      const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
      return Number(fields[11]) + Number(fields[12]);
    };
    const earlier = await ticks();
    await sleep(1_000);
    assert.equal(await ticks(), earlier);

    await c.cri.call(RuntimeServiceService.stopContainer, { containerId: id, timeout: '30' });
    const { status } = await c.cri.call(RuntimeServiceService.containerStatus, { containerId: id, verbose: false });
    // SIGKILL after the grace period would have given 137
    assert.equal(status?.exitCode, 0);
  });
});
