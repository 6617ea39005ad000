import { mkdtempSync, mkdirSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { addContainerLogsRoutes } from '../../../../actors/serve/container-logs/container-logs-routes.ts';
import { CriError } from '../../../../cri/client/cri-error.ts';
import {
  ContainerState,
  ContainerStatusResponse,
  ListContainersResponse,
} from '../../../../cri/generated/runtime/v1/api.ts';
import type { Pod } from '../../../../machines/protocol/api-types.ts';

/** One server of container logs over a runtime that only knows states and paths. */
export interface LogServer {
  app: FastifyInstance;
  /** `http://127.0.0.1:PORT`. */
  url: string;
  dir: string;
  /** Path of the log of container `c` in pod `p` of namespace `n`, whose ID is `1`. */
  path: string;
  pods: Map<string, Pod>;
  containers: Map<string, { state: ContainerState; logPath: string; finishedAt?: string }>;
  /** Questions that the runtime was asked. */
  calls: { status: number; list: number };
  /** What the agent logged. */
  logged: string[];
  /** When set, what the runtime answers to ContainerStatus. */
  failure: { error?: CriError };
  /** Files below `dir` that this process has open. */
  openFiles(): string[];
}

/** The clock of the server: 2024-01-01T00:01:00Z. */
export const NOW = Date.parse('2024-01-01T00:01:00Z');

/** Starts a server that ends, with its files, with the test. */
export async function startLogServer(t: TestContext, gates: readonly string[] = []): Promise<LogServer> {
  const dir = mkdtempSync(join(tmpdir(), 'actorlet-logs-'));
  t.after(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  mkdirSync(join(dir, 'c'));
  const path = join(dir, 'c', '0.log');
  const containers: LogServer['containers'] = new Map([
    ['1', { state: ContainerState.CONTAINER_RUNNING, logPath: path }],
  ]);
  const pods = new Map([['n/p', podOf('p')]]);
  const calls = { status: 0, list: 0 };
  const failure: LogServer['failure'] = {};
  const logged: string[] = [];
  const app = fastify();
  addContainerLogsRoutes(app, {
    node: { podNamed: (namespace, name) => pods.get(`${namespace}/${name}`) },
    cri: {
      runtime: {
        containerStatus({ containerId = '' }) {
          calls.status++;
          if (failure.error !== undefined) return Promise.reject(failure.error);
          const status = containers.get(containerId);
          if (status === undefined)
            return Promise.reject(new CriError('ContainerStatus', 'NotFound', `no container ${containerId}`));
          return Promise.resolve(ContainerStatusResponse.fromPartial({ status: { id: containerId, ...status } }));
        },
        listContainers() {
          calls.list++;
          const running = [...containers].filter(([, { state }]) => state === ContainerState.CONTAINER_RUNNING);
          return Promise.resolve(
            ListContainersResponse.fromPartial({ containers: running.map(([id, { state }]) => ({ id, state })) }),
          );
        },
      },
    },
    gates: { enabled: (name) => gates.includes(name) },
    log: pino({ level: 'info' }, { write: (line: string) => logged.push(line) }),
    now: () => NOW,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(async () => {
    app.server.closeAllConnections();
    await app.close();
  });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const openFiles = (): string[] => openBelow(dir);
  return { app, url: `http://127.0.0.1:${port}`, dir, path, pods, containers, calls, logged, failure, openFiles };
}

/** A pod with one running container `c`. */
export function podOf(name: string, containerID = 'containerd://1'): Pod {
  const status = { name: 'c', image: '', imageID: '', ready: true, restartCount: 0 };
  return {
    metadata: { name, namespace: 'n' },
    spec: { containers: [{ name: 'c' }] },
    status: { containerStatuses: [{ ...status, containerID, state: { running: {} } }] },
  };
}

/** A line as the runtime writes it. */
export function criLine(text: string, second = 0, stream = 'stdout', tag = 'F'): string {
  return `2024-01-01T00:00:${String(second).padStart(2, '0')}.000000001Z ${stream} ${tag} ${text}\n`;
}

function openBelow(dir: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(dir) ? [target] : [];
    } catch {
      return [];
    }
  });
}
