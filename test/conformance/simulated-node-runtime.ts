import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unmountBelow } from '../../cri/private-containerd/mount-points.ts';
import { startSimulatedRuntime } from '../../cri/sim/simulated-runtime.ts';
import { CriCalls } from '../containerd/support/cri-calls.ts';
import type { TestRuntime } from '../containerd/support/with-containerd.ts';
import { SUITE_PROGRAMS } from './suite-programs.ts';

/** A simulated runtime for a cluster's node: pods without containers. The caller stops it. */
export async function startSimulatedNodeRuntime(): Promise<TestRuntime> {
  const rootDir = await mkdtemp(join(tmpdir(), 'act-'));
  const socket = join(rootDir, 'sim.sock');
  const runtime = await startSimulatedRuntime({ socket, script: SUITE_PROGRAMS });
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
