import type { Logger } from 'pino';
import type { KubeletConfiguration } from '../configuration/kubelet-configuration.ts';
import type { Metrics } from '../metrics/metrics-registry.ts';
import type { Pleg } from '../pleg/pleg.ts';
import type { RuntimeWatch } from '../runtime-state/runtime-watch.ts';
import type { HealthCheck } from '../server/health-checks.ts';
import { startHealthzServer } from '../server/healthz-server.ts';
import type { RunningServer } from '../server/http-listener.ts';
import type { NodeView } from '../server/node-view.ts';
import { startReadOnlyServer } from '../server/read-only-server.ts';
import type { PodStore } from '../status/pod-store.ts';

/** The node's HTTP servers; a port of 0 leaves one out. */
export interface NodeServers {
  healthz: RunningServer | null;
  readOnly: RunningServer | null;
  close(): Promise<void>;
}

/** What the servers answer from. */
export interface NodeServersOptions {
  config: KubeletConfiguration;
  log: Logger;
  store: PodStore;
  node: NodeView;
  metrics: Metrics;
  pleg: Pleg;
  runtime: RuntimeWatch;
  /** Called before each scrape. */
  beforeScrape: () => void;
}

/** Starts healthz (:10248) and the read-only server (:10255), as configured. */
export async function startNodeServers(options: NodeServersOptions): Promise<NodeServers> {
  const { config, log, store, metrics, pleg, node } = options;
  const checks: HealthCheck[] = [{ name: 'syncloop', check: () => pleg.unhealthy() }];
  const healthz =
    config.healthzPort > 0
      ? await startHealthzServer({ address: config.healthzBindAddress, port: config.healthzPort, log, checks })
      : null;
  const readOnly =
    config.readOnlyPort > 0
      ? await startReadOnlyServer({
          address: config.address,
          port: config.readOnlyPort,
          log,
          checks,
          node,
          rows: () => store.rows(),
          metrics,
          beforeScrape: () => {
            metrics.setPodStates(store.states());
            options.beforeScrape();
          },
        })
      : null;
  return {
    healthz,
    readOnly,
    close: async () => {
      await Promise.all([healthz?.close(), readOnly?.close()]);
    },
  };
}
