import type { Spans } from '../record/tracing/spans.ts';
import type { ApiClient } from '../cluster/api/api-client.ts';
import { authObserver } from './api-hooks.ts';
import { serverCertificateMetrics } from '../record/metrics/certificate-metrics.ts';
import type { ServingTls } from '../serve/tls/serving-tls.ts';
import { ping } from '../serve/server/health-checks.ts';
import { HealthSlis } from '../serve/server/health-slis.ts';
import { startHealthzServer } from '../serve/server/healthz-server.ts';
import type { RunningServer } from '../serve/server/http-listener.ts';
import type { PodRow } from '../pods/store/pod-row.ts';
import { traceRequests } from '../serve/server/request-spans.ts';
import { startReadOnlyServer } from '../serve/server/read-only-server.ts';
import type { NodeAddresses } from '../../machines/node-object/node-addresses.ts';
import type { ResourceTable } from '../../machines/pod-resources-api/resource-rows.ts';
import { NodePages } from './node-pages.ts';
import type { NodePagesOptions } from './node-pages.ts';

/** The node's HTTP servers; null = switched off. */
export interface NodeServers {
  /** `port`, 10250. */
  kubelet: RunningServer | null;
  /** `healthzPort`, 10248. */
  healthz: RunningServer | null;
  /** `readOnlyPort`, 10255. */
  readOnly: RunningServer | null;
  close(): Promise<void>;
}

/** What the servers answer from. */
export interface NodeServersOptions extends NodePagesOptions {
  /** Why the node is not to be looked at yet; null once it is. It is all that the healthz server has to say besides that the process answers. */
  begins: () => string | null;
  /** Lines of `actorlet pods`. */
  rows: () => readonly PodRow[];
  /** Who has which CPUs and memory. */
  resources: () => ResourceTable;
  /** Null: no traces are made. */
  spans: Spans | null;
  /** Null on a standalone node. */
  api: ApiClient | null;
  /** `status.addresses` of the node. */
  addresses: () => NodeAddresses;
}

/** Starts the kubelet server, healthz and the read-only server, as configured. */
export async function startNodeServers(options: NodeServersOptions): Promise<NodeServers> {
  const { config, log, metrics, rows, resources, spans } = options;
  const ends: (() => void | Promise<void>)[] = [];
  const close = async () => {
    await Promise.all(ends.splice(0).map(async (end) => end()));
  };
  try {
    // One for all servers, as kubelet's are one for the process.
    const slis = new HealthSlis();
    const pages = config.enableServer || config.readOnlyPort > 0 ? new NodePages(options, slis) : null;
    const readOnly =
      pages !== null && config.readOnlyPort > 0
        ? await startReadOnlyServer({
            ...{ address: config.address, port: config.readOnlyPort, log, metrics, rows, resources },
            healthChecks: pages.checkNames,
            addRoutes: (app) => {
              if (spans !== null) traceRequests(app, spans, 'http');
              pages.addOpenPages(app);
            },
          })
        : null;
    if (readOnly !== null) ends.push(() => readOnly.close());
    const kubelet = pages !== null && config.enableServer ? await startGuarded(options, pages) : null;
    if (kubelet !== null) ends.push(() => kubelet.close());
    // Last, as kubelet: who waits for it looks at the node then, and must not see what an earlier agent told of it.
    const healthz =
      config.healthzPort > 0
        ? await startHealthzServer({
            ...{ address: config.healthzBindAddress, port: config.healthzPort, log },
            // What restarts the agent when this fails cures no runtime that hangs.
            checks: [{ name: ping.name, check: options.begins }],
            slis,
          })
        : null;
    if (healthz !== null) ends.push(() => healthz.close());
    return { kubelet, healthz, readOnly, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The kubelet server with its locks. Its parts are loaded only when there is such a server. */
async function startGuarded(options: NodeServersOptions, pages: NodePages): Promise<RunningServer> {
  const { config, featureGates, flags, node, api, addresses, log, now, metrics } = options;
  const { nodeName } = node;
  const [{ createServerAuth }, { startServingTls }, { startKubeletServer }] = await Promise.all([
    import('../serve/server/auth-hook.ts'),
    import('../serve/tls/serving-tls.ts'),
    import('../serve/server/kubelet-server.ts'),
  ]);
  const auth = createServerAuth({
    config,
    featureGates,
    nodeName,
    api,
    log,
    now,
    hooks: authObserver(metrics),
  });
  const ends: (() => void | Promise<void>)[] = [() => auth.stop()];
  const stopLocks = async () => {
    for (const end of ends) await end();
  };
  try {
    const serving: { tls?: ServingTls } = {};
    const reports = config.serverTLSBootstrap
      ? serverCertificateMetrics(metrics.registry, () => serving.tls?.ttlSeconds() ?? null)
      : undefined;
    const tls = await startServingTls({ config, featureGates, flags, nodeName, addresses, api, log, now, ...reports });
    serving.tls = tls;
    ends.push(() => tls.stop());
    const server = await startKubeletServer({
      ...{ address: config.address, port: config.port, log, tls, metrics },
      patterns: pages.patterns,
      authHook: (request, reply) => auth.hook(request, reply),
      addRoutes: (app) => {
        // After the locks, as kubelet's filter: a request that is refused has no span.
        if (options.spans !== null) traceRequests(app, options.spans, 'https');
        pages.addOpenPages(app);
        pages.addGuardedPages(app);
      },
    });
    return {
      ...server,
      close: async () => {
        await server.close();
        await stopLocks();
      },
    };
  } catch (error) {
    await stopLocks();
    throw error;
  }
}
