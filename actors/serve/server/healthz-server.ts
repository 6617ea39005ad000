import { addHealthzRoutes } from './healthz-routes.ts';
import { ping } from './health-checks.ts';
import type { HealthCheck } from './health-checks.ts';
import type { HealthSlis } from './health-slis.ts';
import { createHttpApp } from './http-app.ts';
import { listen } from './http-listener.ts';
import type { ListenOptions, RunningServer } from './http-listener.ts';

/** Options of {@link startHealthzServer}. */
export interface HealthzServerOptions extends ListenOptions {
  checks: readonly HealthCheck[];
  /** Where the results are counted. */
  slis?: HealthSlis;
}

/**
 * The server of `healthzBindAddress` and `healthzPort` (127.0.0.1:10248): what systemd units and load balancers ask.
 * @throws ActorletError SRV001 when the port cannot be had
 */
export async function startHealthzServer(options: HealthzServerOptions): Promise<RunningServer> {
  const app = createHttpApp(options.log, [
    '/healthz',
    ...[ping, ...options.checks].map(({ name }) => `/healthz/${name}`),
  ]);
  addHealthzRoutes(app, options.checks, options.log, options.slis);
  return listen(app, options, 'healthz', 'healthzPort');
}
