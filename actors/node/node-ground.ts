import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createCriClient } from '../../cri/client/cri-client.ts';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import type { FeatureGates } from '../configure/configuration/feature-gates.ts';
import { resolveFeatureGates } from '../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import { detectCgroups } from '../host/cgroups/cgroup-detect.ts';
import type { CgroupHost } from '../host/files/cgroup-host.ts';
import { cgroupHost, ensureQosCgroups } from '../host/cgroups/cgroups.ts';
import type { HostSettings } from '../host/files/host-settings.ts';
import { DEFAULT_CONTAINER_LOGS_DIR } from '../host/files/host-settings.ts';
import { makeRootShared } from '../host/files/shared-root.ts';
import { createMetrics } from '../record/metrics/metrics-registry.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import { effectObservations } from '../pods/shard/effect-observations.ts';
import { checkOwnSource } from '../pods/sources/own-source.ts';
import type { UserNamespaces } from '../host/userns/user-namespaces.ts';
import { cgroupDriverOf } from './cgroup-driver.ts';
import type { Cluster } from './cluster.ts';
import { journalShares } from './journal-shares.ts';
import type { JournalShares } from './journal-shares.ts';
import type { NodeOptions } from './node-options.ts';
import { nodeSettingsOf } from './node-settings-of.ts';
import { nodeUserNamespaces } from './node-user-namespaces.ts';
import { setNodeFacts } from './pod-metrics.ts';

/** Kubernetes release that will not take a runtime without RuntimeConfig any more, as kubelet 1.35 names it. */
const RUNTIME_CONFIG_NEEDED_FROM = '1.36.0';

/** What all parts of a node stand on: the runtime's client, the machine, and what was settled before the first part. */
export interface NodeGround {
  readonly options: NodeOptions;
  readonly log: Logger;
  readonly now: () => number;
  readonly metrics: Metrics;
  readonly cri: CriClient;
  /** As configured, with the cgroup driver that the runtime told. */
  readonly config: KubeletConfiguration;
  readonly featureGates: FeatureGates;
  readonly cgroups: CgroupHost;
  /** What the machines are told of the node. */
  readonly settings: NodeSettings;
  readonly host: HostSettings;
  /** Null when nothing is journaled. */
  readonly journals: JournalShares | null;
  /** Path of the cgroup above all pods; null without `cgroupsPerQOS`. */
  readonly kubepods: string | null;
  readonly userNamespaces: UserNamespaces;
  /** Null on a standalone node, which has no use for it and does not load it. */
  readonly clusterClass: typeof Cluster | null;
}

/** Lays it: folders, the runtime's answer, cgroups. Rejects when the runtime does not answer within a minute. */
export async function layGround(options: NodeOptions): Promise<NodeGround> {
  const { config: configured, flags, log, endpoint } = options;
  const kubeconfig = options.kubeconfig ?? null;
  const containerLogsDir = options.containerLogsDir ?? DEFAULT_CONTAINER_LOGS_DIR;
  checkOwnSource(options.source, configured.staticPodURL);
  mkdirSync(join(flags.rootDir, 'pods'), { recursive: true, mode: 0o750 });
  for (const folder of [configured.podLogsDir, containerLogsDir]) mkdirSync(folder, { recursive: true, mode: 0o755 });

  const metrics = createMetrics();
  const cri = createCriClient({
    endpoint,
    imageEndpoint: configured.imageServiceEndpoint,
    timeoutMs: configured.runtimeRequestTimeout,
    hooks: { onCall: (report) => metrics.applyObservations(effectObservations.call(report)) },
  });
  const version = await cri.waitReady(60_000);
  log.info(
    { endpoint, runtime: version.runtimeName, version: version.runtimeVersion },
    'Container runtime initialized',
  );
  const cgroupDriver = await cgroupDriverOf(cri.runtime, configured.cgroupDriver, {
    log,
    onFallback: () => metrics.criLosingSupport.set({ version: RUNTIME_CONFIG_NEEDED_FROM }, 1),
  });
  const config = { ...configured, cgroupDriver };
  const featureGates = resolveFeatureGates(config.featureGates).gates;
  const cgroups = detectCgroups();
  const settings = await nodeSettingsOf(config, flags, cgroups, cri, kubeconfig !== null);
  setNodeFacts(metrics, { nodeName: settings.nodeName, cgroupVersion: settings.cgroupVersion, featureGates });

  const host: HostSettings = {
    rootDir: flags.rootDir,
    podLogsDir: config.podLogsDir,
    containerLogsDir,
    cgroupVersion: cgroups.version,
    cgroupDriver: 'cgroupfs',
    cgroups,
    log,
  };
  const kubepods = config.cgroupsPerQOS ? join(settings.cgroupRoot, 'kubepods') : null;
  if (kubepods !== null) await ensureQosCgroups(cgroupHost(host), kubepods);
  const userNamespaces = await nodeUserNamespaces({ config, featureGates, rootDir: flags.rootDir, cri });
  if (kubeconfig !== null) await makeRootShared(flags.rootDir, log);
  const clusterClass = kubeconfig === null ? null : (await import('./cluster.ts')).Cluster;
  const now = Date.now;
  return {
    ...{ options, log, now, metrics, cri, config, featureGates, cgroups, settings, host, kubepods },
    ...{ userNamespaces, clusterClass, journals: journalShares(options.settings) },
  };
}
