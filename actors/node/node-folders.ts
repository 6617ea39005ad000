import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { runProgram } from '../host/files/program.ts';

/** What plugins in containers without privileges may write to (kubelet's KubeletPluginsDirSELinuxLabel). */
const PLUGINS_LABEL = 'system_u:object_r:container_file_t:s0';

/** Where the folders are, and what of them there shall be. */
export interface NodeFolders {
  rootDir: string;
  devicePluginsDir: string;
  podLogsDir: string;
  containerLogsDir: string;
  /** Gate ContainerCheckpoint. */
  checkpoints: boolean;
  /** The machine labels files. */
  selinux: boolean;
  log: Logger;
}

/**
 * Makes the folders of a node before anything runs on it, with kubelet's modes (its `setupDataDirs`): pods mount some of them by `hostPath` of type
 * `Directory`, and only root lists what pods there are.
 * @throws the error of mkdir
 */
export async function makeNodeFolders(folders: NodeFolders): Promise<void> {
  const { rootDir, devicePluginsDir, podLogsDir, containerLogsDir, checkpoints, selinux, log } = folders;
  const plugins = [...['plugins', 'plugins_registry'].map((name) => join(rootDir, name)), devicePluginsDir];
  for (const path of [podLogsDir, join(rootDir, 'pods'), ...plugins, join(rootDir, 'pod-resources')])
    await mkdir(path, { recursive: true, mode: 0o750 });
  await mkdir(containerLogsDir, { recursive: true, mode: 0o755 });
  if (checkpoints) await mkdir(join(rootDir, 'checkpoints'), { recursive: true, mode: 0o700 });
  if (!selinux) return;
  for (const path of plugins) {
    const { status, output } = await runProgram('chcon', [PLUGINS_LABEL, path]);
    if (status !== 0)
      log.info({ path, output }, 'Unprivileged containerized plugins might not work, could not set selinux context');
  }
}
