import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeEmptyCgroups } from '../../../cri/private-containerd/container-remains.ts';
import { containerdLayout } from '../../../cri/private-containerd/layout.ts';
import { unmountBelow } from '../../../cri/private-containerd/mount-points.ts';
import type { RuntimeLog } from '../../../cri/private-containerd/runtime-log.ts';
import { silentLog } from '../../../cri/private-containerd/runtime-log.ts';
import { startPrivateContainerd } from '../../../cri/private-containerd/start-private-containerd.ts';
import type { PrivateContainerd } from '../../../cri/private-containerd/start-private-containerd.ts';
import { stopPrivateContainerd } from '../../../cri/private-containerd/stop-private-containerd.ts';
import { stopOnSignal } from '../../cluster/support/end-with-test.ts';
import { CriCalls } from './cri-calls.ts';

/** Cgroups that a harness takes away at its end, as far as they are empty: another agent may use them, too. */
const TEST_CGROUPS = ['/actorlet-test', '/kubepods'] as const;

/** A container runtime for one test. */
export interface TestRuntime {
  /** `unix:///...` */
  endpoint: string;
  /** The root dir, free for an agent's `--root-dir`. */
  rootDir: string;
  cri: CriCalls;
  /** Removes all of it; may be called twice. Mounts below `rootDir` are undone first. */
  stop(): Promise<void>;
}

/**
 * A real containerd with the images `localhost/actorlet/{pause,busybox}:1` in it; it is in the folder `containerd/` of
 * the root dir.
 */
export interface TestContainerd extends TestRuntime {
  containerd: PrivateContainerd;
}

/** Settings of a harness. */
export interface TestContainerdOptions {
  log?: RuntimeLog;
  onRestart?: (pid: number) => void;
  runtimeHandlers?: readonly string[];
  /** A folder of `HOST/hosts.toml`: mirrors of registries. */
  registryHosts?: string;
  /** Another containerd than the one on PATH. */
  containerd?: string;
  /** The folder that the root dir is made in: one on a disk of its own; that of temporary files by default. */
  parent?: string;
}

/** Starts a containerd for a test; the caller stops it, also after a failure ({@link withContainerd} does both). */
export async function startTestContainerd(options: TestContainerdOptions = {}): Promise<TestContainerd> {
  const rootDir = await mkdtemp(join(options.parent ?? tmpdir(), 'act-'));
  // The root of a pod with user namespaces is nobody out here, and goes through this folder to its own.
  await chmod(rootDir, 0o711);
  const layout = containerdLayout(rootDir);
  let stopped: Promise<void> | undefined;
  let running: PrivateContainerd | undefined;
  let cri: CriCalls | undefined;
  const stop = () => {
    stopped ??= (async () => {
      cri?.close();
      running?.detach();
      await stopPrivateContainerd(layout, { purge: true });
      await removeEmptyCgroups(TEST_CGROUPS);
      const mounted = await unmountBelow(rootDir);
      if (mounted.length > 0) throw new Error(`still mounted: ${mounted.join(', ')}`);
      await rm(rootDir, { recursive: true, force: true });
    })().finally(() => forget());
    return stopped;
  };
  const forget = stopOnSignal(stop);
  try {
    running = await startPrivateContainerd({ log: silentLog, ...options, rootDir });
    cri = new CriCalls(running.endpoint);
    return { endpoint: running.endpoint, rootDir, containerd: running, cri, stop };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}

/** Runs `body` with a real containerd and removes everything afterwards, whatever happened. */
export async function withContainerd<T>(
  body: (c: TestContainerd) => Promise<T>,
  options: TestContainerdOptions = {},
): Promise<T> {
  const c = await startTestContainerd(options);
  try {
    return await body(c);
  } finally {
    await c.stop();
  }
}
