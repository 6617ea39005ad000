import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unmountBelow } from '../../cri/private-containerd/mount-points.ts';
import { startSimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import { CriCalls } from '../containerd/support/cri-calls.ts';
import type { TestRuntime } from '../containerd/support/with-containerd.ts';

/**
 * What the simulated runtime makes of the suite's images: it cannot know what a command does, so tools of one command
 * (busybox) end well after a moment, and servers (agnhost, nginx, pause) run.
 */
const SCRIPT = {
  runtime: { handlers: [{ name: '' }, { name: 'runc' }, { name: 'test-handler' }] },
  images: [{ image: 'registry.k8s.io/pause:3.10.1', present: true }],
  containers: [
    {
      match: { image: ['*busybox*', '*nonroot*', '*nonewprivs*'] },
      attempts: [{ exit: { after: 700, code: 0 } }],
    },
  ],
};

/** A simulated runtime for a cluster's node: pods without containers. The caller stops it. */
export async function startSimulatedNodeRuntime(): Promise<TestRuntime> {
  const rootDir = await mkdtemp(join(tmpdir(), 'act-'));
  const socket = join(rootDir, 'sim.sock');
  const runtime = await startSimulatedRuntime({ socket, script: SCRIPT });
  const endpoint = `unix://${socket}`;
  const cri = new CriCalls(endpoint);
  const stop = async (): Promise<void> => {
    cri.close();
    await runtime.stop();
    await unmountBelow(rootDir);
    await rm(rootDir, { recursive: true, force: true });
  };
  return { endpoint, rootDir, cri, stop };
}
