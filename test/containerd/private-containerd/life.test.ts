import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUSYBOX_IMAGE, PAUSE_IMAGE } from '../../../cri/private-containerd/own-images.ts';
import { isAlive } from '../../../cri/private-containerd/processes.ts';
import { silentLog } from '../../../cri/private-containerd/runtime-log.ts';
import { startPrivateContainerd } from '../../../cri/private-containerd/start-private-containerd.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { startTestContainerd, withContainerd } from '../support/with-containerd.ts';
import type { TestContainerd } from '../support/with-containerd.ts';

describe('a private containerd', { concurrency: false }, () => {
  let clean: MachineState;
  before(async () => {
    clean = await machineState();
  });
  after(async () => {
    await assertNothingLeft(clean);
  });

  it('serves CRI with its own images and a network that reaches the host', async () => {
    await withContainerd(async ({ cri, rootDir }) => {
      const tags = (await cri.images()).flatMap((image) => image.repoTags);
      assert.deepEqual(tags.sort(), [BUSYBOX_IMAGE, PAUSE_IMAGE]);
      const sandbox = await cri.runSandbox({ name: 'net', logDirectory: `${rootDir}/logs` });
      const id = await cri.runContainer(sandbox, 'c', ['sh', '-c', 'echo started; exec sleep 1000'], 'c.log');
      const route = await cri.exec(id, ['ip', 'route']);
      const gateway = /default via (\S+)/.exec(route.out)?.[1] ?? '';
      assert.match(gateway, /^\d+\./);
      const ping = await cri.exec(id, ['ping', '-c', '1', '-W', '5', gateway]);
      assert.equal(ping.code, 0, ping.out);
      assert.match(await readFile(`${rootDir}/logs/c.log`, 'utf8'), / stdout F started\n/);
    });
  });

  it('is taken over by a later agent, with its containers untouched', async () => {
    await withContainerd(async ({ cri, rootDir, containerd }) => {
      const sandbox = await cri.runSandbox({ name: 'stays' });
      const id = await cri.runContainer(sandbox, 'c', ['sleep', '1000']);
      containerd.detach();
      const later = await startPrivateContainerd({ rootDir, log: silentLog });
      try {
        assert.equal(later.adopted, true);
        assert.equal(later.pid, containerd.pid);
        const [container] = await cri.containers();
        assert.deepEqual([container?.id, container?.state], [id, 1]);
      } finally {
        later.detach();
      }
    });
  });

  it('is started again when it dies, first own and then adopted, and its containers go on', async () => {
    const restarts: number[] = [];
    await withContainerd(
      async ({ cri, rootDir, containerd }) => {
        const sandbox = await cri.runSandbox({ name: 'goes-on' });
        const id = await cri.runContainer(sandbox, 'c', ['sleep', '1000']);
        const killAndWait = async (pid: number, seen: number) => {
          process.kill(pid, 'SIGKILL');
          for (let i = 0; restarts.length === seen && i < 1_800; i++) await sleep(50);
          assert.equal(restarts.length, seen + 1);
          const [container] = await cri.containers();
          assert.deepEqual([container?.id, container?.state], [id, 1]);
        };
        await killAndWait(containerd.pid, 0);
        assert.equal(restarts[0], containerd.pid);
        containerd.detach();
        const later = await startPrivateContainerd({ rootDir, log: silentLog, onRestart: (pid) => restarts.push(pid) });
        try {
          assert.equal(later.adopted, true);
          await killAndWait(later.pid, 1);
        } finally {
          later.detach();
        }
      },
      { onRestart: (pid) => restarts.push(pid) },
    );
  });

  describe('when it is stopped', () => {
    let c: TestContainerd;
    before(async () => {
      c = await startTestContainerd();
    });
    after(() => c.stop());

    it('leaves nothing of running pods with host ports, also when it was killed before', async () => {
      const portMappings = [{ protocol: 0, containerPort: 80, hostPort: 28080, hostIp: '' } as const];
      const sandbox = await c.cri.runSandbox({ name: 'port', portMappings });
      await c.cri.runContainer(sandbox, 'c', ['sleep', '1000']);
      c.containerd.detach();
      process.kill(c.containerd.pid, 'SIGKILL');
      await c.containerd.stop();
      assert.equal(await isAlive(c.containerd.pid), false);
      await c.stop();
      await assertNothingLeft(clean);
    });
  });

  it('keeps its images over a stop without purge, and does not import them again', async () => {
    await withContainerd(async ({ rootDir, containerd }) => {
      await containerd.stop();
      const said: string[] = [];
      const log = { ...silentLog, info: (_: object, message: string) => void said.push(message) };
      const again = await startPrivateContainerd({ rootDir, log });
      assert.equal(again.adopted, false);
      assert.deepEqual(said, ['Started a private containerd']);
      await again.stop();
    });
  });
});
