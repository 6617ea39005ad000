import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { addDebuggingDisabledRoutes } from './disabled-routes.ts';
import { goJson } from './go-answers.ts';
import { createHttpApp } from './http-app.ts';
import { listen } from './http-listener.ts';
import type { ListenOptions, RunningServer } from './http-listener.ts';
import { countRequests } from './http-metrics.ts';
import type { PodRow, PodRowList } from '../../pods/store/pod-row.ts';
import { kubeletPatterns } from './serve-mux.ts';

/** Options of {@link startReadOnlyServer}. */
export interface ReadOnlyServerOptions extends ListenOptions {
  /** Names of the checks below `/healthz`, besides `ping`. */
  healthChecks: readonly string[];
  /** All pods as lines of `actorlet pods`. */
  rows: () => readonly PodRow[];
  /** Who has which CPUs and memory: the body of `/actorlet/resources`. */
  resources: () => object;
  metrics: Metrics;
  /** Adds the pages that need no authentication. */
  addRoutes: (app: FastifyInstance) => void;
}

/**
 * The server of `readOnlyPort` (10255; no authentication, so nothing here changes anything): kubelet's open pages, and
 * our own `/actorlet/pods` and `/actorlet/resources`, from which `actorlet pods` and `actorlet resources` draw their tables.
 * @throws ActorletError SRV001 when the port cannot be had
 */
export async function startReadOnlyServer(options: ReadOnlyServerOptions): Promise<RunningServer> {
  const { log, rows, resources, metrics, addRoutes } = options;
  const healthChecks = ['ping', ...options.healthChecks];
  const kubelet = kubeletPatterns({ debugging: false, healthChecks, checkpoint: false, flagz: false, statusz: false });
  const patterns = [...kubelet, '/actorlet/pods', '/actorlet/resources'];
  const app = createHttpApp(log, patterns, undefined, (made) => countRequests(made, metrics, 'readonly'));
  addRoutes(app);
  addDebuggingDisabledRoutes(app);
  app.get('/actorlet/pods', (_request, reply) => {
    const body: PodRowList = { kind: 'ActorletPods', pods: [...rows()] };
    return goJson(reply, body);
  });
  app.get('/actorlet/resources', (_request, reply) => goJson(reply, { kind: 'ActorletResources', ...resources() }));
  return listen(app, options, 'read-only', 'readOnlyPort');
}
