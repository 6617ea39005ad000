import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unmountBelow } from '../../cri/private-containerd/mount-points.ts';
import type { SimScript } from '../../cri/sim/script.ts';
import { startSimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import { CriCalls } from '../containerd/support/cri-calls.ts';
import type { TestRuntime } from '../containerd/support/with-containerd.ts';

/**
 * What the simulated runtime makes of the suite's images: commands of which it knows enough are played (a few shell tools,
 * agnhost's mounttest); a tool that it does not know fails at once, so that nobody waits for it, and servers run without
 * serving anything.
 */
const SCRIPT: SimScript = {
  runtime: { handlers: [{ name: '' }, { name: 'runc' }, { name: 'test-handler' }] },
  images: [
    { image: 'registry.k8s.io/pause:3.10.1', present: true },
    { image: '*agnhost*', entrypoint: ['/agnhost'], command: ['pause'] },
    { image: '*busybox*', command: ['sh'] },
    { image: '*nonewprivs*', entrypoint: ['/nnp'] },
    { image: '*nonroot*', user: '1234' },
  ],
  containers: [
    {
      match: { image: ['*busybox*', '*nonroot*', '*nonewprivs*'] },
      attempts: [{ plays: true, otherwise: { exit: { after: 700, code: 127 } } }],
    },
    { match: { image: '*' }, attempts: [{ plays: true }] },
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
