import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import { createCadvisorMetrics } from '../serve/cadvisor/create-cadvisor-metrics.ts';
import { createRuntimeMetrics } from '../serve/cadvisor/create-runtime-metrics.ts';
import type { CadvisorMetrics } from '../serve/cadvisor/shared-scrape.ts';
import { reportedCgroups } from '../serve/cadvisor/cgroup-roots.ts';
import { createCgroupReader } from '../resources/cgroup-stats/create-cgroup-reader.ts';
import type { FeatureGates } from '../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';
import { agentVersion } from '../configure/configuration/version.ts';
import { addContainerLogsRoutes } from '../serve/container-logs/container-logs-routes.ts';
import type { CgroupHost } from '../host/files/cgroup-host.ts';
import { TextWriter } from '../record/metrics/text-format.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import { addNodeLogRoutes } from '../serve/node-logs/node-log-routes.ts';
import { addCheckpointRoutes } from '../serve/server/checkpoint-routes.ts';
import { addConfigzRoutes } from '../serve/server/configz-routes.ts';
import { addDebugFlagsRoutes } from '../serve/server/debug-flags-routes.ts';
import { addDebuggingDisabledRoutes, addDisabledRoutes } from '../serve/server/disabled-routes.ts';
import { log as logCheck } from '../serve/server/health-checks.ts';
import type { HealthCheck } from '../serve/server/health-checks.ts';
import { addSliRoutes } from '../serve/server/health-slis.ts';
import type { HealthSlis } from '../serve/server/health-slis.ts';
import { addHealthzRoutes } from '../serve/server/healthz-routes.ts';
import { metricsPage } from '../serve/server/metrics-page.ts';
import { addMetricsRoutes } from '../serve/server/metrics-routes.ts';
import type { NodeView } from '../pods/store/node-view.ts';
import { addPodRoutes } from '../serve/server/pod-routes.ts';
import { addPprofRoutes } from '../serve/server/pprof-routes.ts';
import { addRunningPodsRoutes } from '../serve/server/running-pods-routes.ts';
import { kubeletPatterns } from '../serve/server/serve-mux.ts';
import { addZpagesRoutes } from '../serve/server/zpages-routes.ts';
import { collectStatsMetrics } from '../resources/stats/stats-metrics.ts';
import type { StatsProvider } from '../resources/stats/stats-provider.ts';
import { addStatsRoutes } from '../serve/server/stats-routes.ts';
import { addStreamingRoutes } from '../serve/streaming/streaming-routes.ts';

/** What the pages of a node tell of. */
export interface NodePagesOptions {
  config: KubeletConfiguration;
  featureGates: FeatureGates;
  flags: KubeletFlags;
  node: NodeView;
  cri: CriClient;
  cgroups: CgroupHost;
  stats: StatsProvider;
  metrics: Metrics;
  /** Of `/healthz`, besides `ping` and `log`. */
  checks: readonly HealthCheck[];
  log: Logger;
  now: () => number;
  /** Called before each scrape, to bring gauges up to date. */
  beforeScrape: () => void;
  /** `--v` from now on. */
  setVerbosity: (level: number) => void;
}

/** The pages of the kubelet server and of the read-only server, as kubelet's `NewServer` installs them. */
export class NodePages {
  /** Paths of the kubelet server as patterns of Go's ServeMux. */
  readonly patterns: readonly string[];
  private readonly options: NodePagesOptions;
  private readonly checks: readonly HealthCheck[];
  private readonly slis: HealthSlis;
  private readonly stats: StatsProvider;
  private readonly cadvisor: CadvisorMetrics;
  private readonly startedAt: number;

  /** @param slis where the results of health checks are counted */
  constructor(options: NodePagesOptions, slis: HealthSlis) {
    const { config, featureGates, flags, node, cri, log, now } = options;
    this.options = options;
    this.slis = slis;
    this.checks = [logCheck, ...options.checks];
    this.startedAt = now() - performance.now();
    this.stats = options.stats;
    this.cadvisor = featureGates.enabled('PodAndContainerStatsFromCRI')
      ? createRuntimeMetrics({ cri, log, now })
      : createCadvisorMetrics({
          ...{ reader: createCgroupReader(options.cgroups, now), cri, node, log, now },
          roots: reportedCgroups({ ...config, runtimeCgroups: flags.runtimeCgroups }),
          pressure: featureGates.enabled('KubeletPSI'),
        });
    this.patterns = kubeletPatterns({
      debugging: config.enableDebuggingHandlers,
      healthChecks: ['ping', ...this.checkNames],
      checkpoint: featureGates.enabled('ContainerCheckpoint'),
      flagz: featureGates.enabled('ComponentFlagz'),
      statusz: featureGates.enabled('ComponentStatusz'),
    });
  }

  /** Names of the checks below `/healthz`, besides `ping`. */
  get checkNames(): string[] {
    return this.checks.map(({ name }) => name);
  }

  /** What both servers show (`InstallAuthNotRequiredHandlers`). */
  addOpenPages(app: FastifyInstance): void {
    const { node, metrics, log, beforeScrape } = this.options;
    addHealthzRoutes(app, this.checks, log, this.slis);
    addSliRoutes(app, this.slis);
    addPodRoutes(app, node);
    addStatsRoutes(app, { stats: this.stats, log });
    addMetricsRoutes(app, metrics, async () => {
      beforeScrape();
      const writer = new TextWriter();
      await collectStatsMetrics(writer, { stats: this.stats, log });
      return writer.toString();
    });
    app.all('/metrics/cadvisor', async (request, reply) => metricsPage(request, reply, await this.cadvisor.text()));
  }

  /** What only the kubelet server has, for those whom it knows (`InstallAuthRequiredHandlers`). */
  addGuardedPages(app: FastifyInstance): void {
    const { config, featureGates: gates, flags, node, cri, log, now } = this.options;
    if (config.enableDebuggingHandlers) {
      addStreamingRoutes(app, { node, cri, config, log });
      addContainerLogsRoutes(app, { node, cri, gates, log, now });
      addRunningPodsRoutes(app, cri);
      addConfigzRoutes(app, config);
      addDebugFlagsRoutes(app, config.enableDebugFlagsHandler, this.options.setVerbosity);
      addNodeLogRoutes(app, { config, gates, log });
      if (config.enableProfilingHandler) addPprofRoutes(app);
      else addDisabledRoutes(app, '/debug/pprof', 'profiling endpoint is disabled.');
      if (gates.enabled('ContainerCheckpoint'))
        addCheckpointRoutes(app, { node, cri, now, rootDir: flags.rootDir, timeoutMs: config.runtimeRequestTimeout });
    } else addDebuggingDisabledRoutes(app);
    addZpagesRoutes(app, {
      flags: gates.enabled('ComponentFlagz') && config.enableDebuggingHandlers ? () => flagsOf(flags) : null,
      statusz: gates.enabled('ComponentStatusz'),
      startedAt: this.startedAt,
      uptimeMs: () => performance.now(),
      binaryVersion: agentVersion(),
    });
  }
}

/** Flags as `/flagz` lists them: those that are no fields of the configuration, which `/configz` shows. */
function flagsOf(flags: KubeletFlags): Record<string, string> {
  return Object.fromEntries(
    Object.entries(flags).map(([name, value]) => [
      name.replace(/[A-Z]+/g, (letters) => `-${letters.toLowerCase()}`),
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  );
}
