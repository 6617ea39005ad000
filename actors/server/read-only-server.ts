import type { Pod } from '../../machines/protocol/api-types.ts';
import type { Metrics } from '../metrics/metrics-registry.ts';
import type { HealthCheck } from './health-checks.ts';
import { addHealthzRoutes } from './healthz-routes.ts';
import { createHttpApp, listen } from './http-listener.ts';
import type { ListenOptions, RunningServer } from './http-listener.ts';
import type { PodRow, PodRowList } from './pod-row.ts';

/** Options of {@link startReadOnlyServer}. */
export interface ReadOnlyServerOptions extends ListenOptions {
  checks: readonly HealthCheck[];
  /** All pods of this node with their current status, for `/pods`. */
  pods: () => readonly Pod[];
  /** The same pods as lines of `actorlet pods`. */
  rows: () => readonly PodRow[];
  metrics: Metrics;
  /** Called before each scrape, to bring gauges up to date. */
  beforeScrape?: () => void;
}

/**
 * The server of `readOnlyPort` (10255; no authentication, so nothing here changes anything): `/pods`, `/metrics`, `/metrics/probes`,
 * `/healthz`, and our own `/actorlet/pods`, from which `actorlet pods` draws its table.
 * @throws ActorletError SRV001 when the port cannot be had
 */
export async function startReadOnlyServer(options: ReadOnlyServerOptions): Promise<RunningServer> {
  const app = createHttpApp(options.log);
  addHealthzRoutes(app, options.checks, options.log);
  // Go's mux serves /pods and /pods/ alike.
  for (const path of ['/pods', '/pods/']) {
    app.get(path, (_request, reply) => {
      // TypeMeta of the list only: the kubelet's items carry neither kind nor apiVersion.
      const items = options.pods().map(({ kind: _kind, apiVersion: _apiVersion, ...pod }) => pod);
      return reply.type('application/json').send(json({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items }));
    });
  }
  app.get('/actorlet/pods', (_request, reply) => {
    const body: PodRowList = { kind: 'ActorletPods', pods: [...options.rows()] };
    return reply.type('application/json').send(json(body));
  });
  app.get('/metrics', async (_request, reply) => {
    options.beforeScrape?.();
    const text = await options.metrics.text();
    return reply.type(options.metrics.contentType).send(text);
  });
  app.get('/metrics/probes', async (_request, reply) => {
    return reply.type(options.metrics.contentType).send(await options.metrics.probesText());
  });
  return listen(app, options, 'read-only', 'readOnlyPort');
}

/** As bytes: to a string fastify would add a charset, which the kubelet's content type does not have. */
function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
