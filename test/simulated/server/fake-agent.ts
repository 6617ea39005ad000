import { pino } from 'pino';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { Metrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { HealthCheck } from '../../../actors/serve/server/health-checks.ts';
import { addHealthzRoutes } from '../../../actors/serve/server/healthz-routes.ts';
import type { RunningServer } from '../../../actors/serve/server/http-listener.ts';
import type { PodRow } from '../../../actors/pods/store/pod-row.ts';
import { addMetricsRoutes } from '../../../actors/serve/server/metrics-routes.ts';
import { addPodRoutes } from '../../../actors/serve/server/pod-routes.ts';
import { startReadOnlyServer } from '../../../actors/serve/server/read-only-server.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';

/** A logger that says nothing. */
export const silent = pino({ level: 'silent' });

/** An agent that is only its read-only server; tests change its fields. */
export interface FakeAgent {
  server: RunningServer;
  metrics: Metrics;
  pods: Pod[];
  rows: PodRow[];
  resources: object;
  checks: HealthCheck[];
  beforeScrape: () => void;
}

/** Starts a {@link FakeAgent} on a free port of the loopback. */
export async function startFakeAgent(checks: HealthCheck[] = []): Promise<FakeAgent> {
  const metrics = createMetrics({ processMetrics: false });
  const agent: Omit<FakeAgent, 'server'> = {
    metrics,
    pods: [],
    rows: [],
    resources: {},
    checks,
    beforeScrape: () => {},
  };
  const server = await startReadOnlyServer({
    address: '127.0.0.1',
    port: 0,
    log: silent,
    healthChecks: checks.map(({ name }) => name),
    metrics,
    rows: () => agent.rows,
    resources: () => agent.resources,
    addRoutes: (app) => {
      addHealthzRoutes(app, checks, silent);
      addPodRoutes(app, {
        nodeName: 'node1',
        pods: () => agent.pods,
        podNamed: () => undefined,
      });
      addMetricsRoutes(app, metrics, () => {
        agent.beforeScrape();
        return Promise.resolve('');
      });
    },
  });
  return Object.assign(agent, { server });
}

/** A row with everything filled in; `over` replaces fields. */
export function row(over: Partial<PodRow> = {}): PodRow {
  return {
    namespace: 'default',
    name: 'web-node1',
    uid: '0123',
    phase: 'Running',
    state: 'syncing.running',
    restarts: 0,
    ip: '10.88.0.2',
    startedAt: '2026-01-02T03:04:05Z',
    why: '',
    ...over,
  };
}
