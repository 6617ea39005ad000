import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import { parseBytes } from '../../machines/quantity.ts';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import { startLogRotation } from '../host/log-rotation.ts';
import type { LogRotation } from '../host/log-rotation.ts';

/** Rotates the logs of all running containers, as configured (D8). */
export function startNodeLogRotation(
  cri: CriClient,
  config: KubeletConfiguration,
  containerLogsDir: string,
  log: Logger,
): LogRotation {
  return startLogRotation({
    // CONTAINER_RUNNING is 1 in CRI.
    listContainers: async () => {
      const { containers } = await cri.runtime.listContainers({ filter: { state: { state: 1 } } });
      const statuses = await Promise.all(
        containers.map((c) => cri.runtime.containerStatus({ containerId: c.id }).catch(() => null)),
      );
      return statuses.flatMap((s) =>
        s?.status === undefined ? [] : [{ id: s.status.id, logPath: s.status.logPath, state: 'running' as const }],
      );
    },
    reopen: async (containerId) => {
      await cri.runtime.reopenContainerLog({ containerId });
    },
    maxSizeBytes: parseBytes(config.containerLogMaxSize),
    maxFiles: config.containerLogMaxFiles,
    intervalMs: config.containerLogMonitorInterval,
    workers: config.containerLogMaxWorkers,
    containerLogsDir,
    log,
  });
}
