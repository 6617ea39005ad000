import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { describe, it } from 'node:test';
import { findProgram } from '../../../cri/private-containerd/binaries.ts';
import { BUSYBOX_IMAGE, PAUSE_IMAGE } from '../../../cri/image-maker/own-images.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import { withContainerd } from '../support/with-containerd.ts';

const dir = process.env['CONTAINERD2_DIR'] ?? `${homedir()}/.cache/node-lab/k8s-1.35.4/bin/containerd2`;
const containerd = await findProgram('containerd', dir);

describe('a private containerd of version 2', { skip: containerd === null ? `no containerd in ${dir}` : false }, () => {
  it('runs pods with the same images, pinned, and leaves nothing', async () => {
    const before = await machineState();
    await withContainerd(
      async ({ cri }) => {
        const images = (await cri.images()).map(({ repoTags, pinned }) => [repoTags[0], pinned]);
        assert.deepEqual(images.sort(), [
          [BUSYBOX_IMAGE, true],
          [PAUSE_IMAGE, true],
        ]);
        const portMappings = [{ protocol: 0, containerPort: 80, hostPort: 28081, hostIp: '' } as const];
        const sandbox = await cri.runSandbox({ name: 'two', portMappings });
        const id = await cri.runContainer(sandbox, 'c', ['sleep', '1000']);
        assert.equal((await cri.exec(id, ['echo', 'there'])).out, 'there\n');
      },
      { containerd: containerd ?? undefined, runtimeHandlers: ['test-handler'] },
    );
    await assertNothingLeft(before);
  });
});
