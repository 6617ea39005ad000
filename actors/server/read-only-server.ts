import type { Metrics } from '../metrics/metrics-registry.ts';
import type { HealthCheck } from './health-checks.ts';
import { addHealthzRoutes } from './healthz-routes.ts';
import { goJson } from './go-answers.ts';
import { createHttpApp } from './http-app.ts';
import { listen } from './http-listener.ts';
import type { ListenOptions, RunningServer } from './http-listener.ts';
import { addMetricsRoutes } from './metrics-routes.ts';
import type { NodeView } from './node-view.ts';
import { addPodRoutes } from './pod-routes.ts';
import type { PodRow, PodRowList } from './pod-row.ts';

/** Options of {@link startReadOnlyServer}. */
export interface ReadOnlyServerOptions extends ListenOptions {
  checks: readonly HealthCheck[];
  /** For `/pods`. */
  node: NodeView;
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
  addPodRoutes(app, options.node);
  app.get('/actorlet/pods', (_request, reply) => {
    const body: PodRowList = { kind: 'ActorletPods', pods: [...options.rows()] };
    return goJson(reply, body);
  });
  addMetricsRoutes(app, options.metrics, options.beforeScrape ?? (() => undefined));
  return listen(app, options, 'read-only', 'readOnlyPort');
}
