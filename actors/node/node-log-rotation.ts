import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import { parseBytes } from '../../machines/values/quantity.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import { startLogRotation } from '../host/logs/log-rotation.ts';
import type { LogRotation } from '../host/logs/log-rotation.ts';
import type { Part } from './lifecycle.ts';

/** Rotates the logs of all running containers, as configured. */
export function nodeLogRotation(cri: CriClient, config: KubeletConfiguration, log: Logger): Part {
  let rotation: LogRotation | undefined;
  const paths = new LogPaths(cri);
  const options = {
    // CONTAINER_RUNNING is 1 in CRI.
    listContainers: async () => {
      const { containers } = await cri.runtime.listContainers({ filter: { state: { state: 1 } } }, CALL);
      return (await paths.of(containers.map((c) => c.id))).map((c) => ({ ...c, state: 'running' as const }));
    },
    reopen: async (containerId: string) => {
      await cri.runtime.reopenContainerLog({ containerId }, CALL);
    },
    maxSizeBytes: parseBytes(config.containerLogMaxSize),
    maxFiles: config.containerLogMaxFiles,
    intervalMs: config.containerLogMonitorInterval,
    workers: config.containerLogMaxWorkers,
    log,
  };
  return {
    name: 'log rotation',
    phase: 'work',
    start() {
      rotation = startLogRotation(options);
      // At once, as kubelet: an agent that is restarted more often than the interval would never rotate.
      void rotation.runOnce();
    },
    stop: () => rotation?.stop(),
  };
}

/** One container that does not answer must not hold up the logs of the others for long. */
const CALL = { timeoutMs: 10_000 };

/** Log files by container id: asked for once in a container's life, for they never change. */
class LogPaths {
  private readonly cri: CriClient;
  private known = new Map<string, string>();

  constructor(cri: CriClient) {
    this.cri = cri;
  }

  /** Paths of these containers, without those that the runtime does not tell; forgets all others. */
  async of(ids: readonly string[]): Promise<{ id: string; logPath: string }[]> {
    const found = await Promise.all(ids.map(async (id) => this.known.get(id) ?? (await this.ask(id))));
    const all = ids.flatMap((id, i) => {
      const logPath = found[i];
      return logPath === undefined ? [] : [{ id, logPath }];
    });
    this.known = new Map(all.map(({ id, logPath }) => [id, logPath]));
    return all;
  }

  private async ask(containerId: string): Promise<string | undefined> {
    const answer = await this.cri.runtime.containerStatus({ containerId }, CALL).catch(() => null);
    return answer?.status?.logPath;
  }
}
