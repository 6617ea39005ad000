import assert from 'node:assert/strict';
import { readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { BUSYBOX_IMAGE, PAUSE_IMAGE } from '../../../cri/private-containerd/own-images.ts';
import { findShims } from '../../../cri/private-containerd/processes.ts';
import { lacksTool, referenceTool } from '../../tools/reference-tool.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import { withContainerd } from '../support/with-containerd.ts';

describe('a private containerd of version 2', { skip: await lacksTool('containerd2') }, () => {
  it('runs pods with the same images, pinned, and leaves nothing', async () => {
    const path = await referenceTool('containerd2');
    const before = await machineState();
    await withContainerd(
      async ({ cri, containerd: { layout } }) => {
        const images = (await cri.images()).map(({ repoTags, pinned }) => [repoTags[0], pinned]);
        assert.deepEqual(images.sort(), [
          [BUSYBOX_IMAGE, true],
          [PAUSE_IMAGE, true],
        ]);
        const portMappings = [{ protocol: 0, containerPort: 80, hostPort: 28081, hostIp: '' } as const];
        const sandbox = await cri.runSandbox({ name: 'two', portMappings });
        const id = await cri.runContainer(sandbox, 'c', ['sleep', '1000']);
        // The shim beside the binary, not the one of the containerd that the machine has.
        const shims = await findShims(layout.socket);
        const programs = await Promise.all(shims.map((pid) => readlink(`/proc/${pid}/exe`)));
        assert.deepEqual(programs, [join(dirname(path), 'containerd-shim-runc-v2')]);
        assert.equal((await cri.exec(id, ['echo', 'there'])).out, 'there\n');
      },
      { containerd: path, runtimeHandlers: ['test-handler'] },
    );
    await assertNothingLeft(before);
  });
});
