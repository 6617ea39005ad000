import { join } from 'node:path';
import { unregisteredNode } from '../../machines/node-object/initial-node.ts';
import { nodeNamed } from '../../machines/protocol/recorded-event.ts';
import { qosCgroups } from '../../machines/qos/pod-cgroup.ts';
import { createCriClient } from '../../cri/client/cri-client.ts';
import { validClusterDns } from '../configure/configuration/valid-cluster-dns.ts';
import { withReservedCpus } from '../configure/configuration/reserved-cpus.ts';
import { agentVersion } from '../configure/configuration/version.ts';
import { resolveFeatureGates } from '../configure/configuration/feature-gates.ts';
import { detectCgroups } from '../host/cgroups/cgroup-detect.ts';
import { setUpKernelTunables } from '../host/kernel/kernel-tunables.ts';
import { inUserNamespace } from '../host/userns/in-user-namespace.ts';
import type { HostSettings } from '../host/files/host-settings.ts';
import { DEFAULT_CONTAINER_LOGS_DIR } from '../host/files/host-settings.ts';
import { mountsRest } from '../host/files/mounts.ts';
import { podLogs } from '../host/logs/pod-logs.ts';
import { makeRootShared } from '../host/files/shared-root.ts';
import { ProjectQuotas } from '../host/quota/project-quotas.ts';
import { Housekeeping } from '../host/housekeeping/housekeeping.ts';
import { Logind } from '../host/logind/logind.ts';
import { strangeFiles } from '../host/strange/strange-files.ts';
import { machineClock } from '../host/time/clock.ts';
import { callHooks } from '../pods/shard/call-hooks.ts';
import { ShardPool } from '../pods/shard/shard-pool.ts';
import { checkOwnSource } from '../pods/sources/own-source.ts';
import { createMetrics } from '../record/metrics/metrics-registry.ts';
import { readText } from '../resources/machine/node-facts.ts';
import { containerGcPolicy } from './container-gc-policy.ts';
import { cgroupDriverOf } from './cgroup-driver.ts';
import type { HostLinks, NodeEdges } from './edges.ts';
import { journalShares } from './journal-shares.ts';
import type { Lifecycle, Part } from './lifecycle.ts';
import type { NodeGround } from './node-ground.ts';
import { imageEdge } from './node-image-puller.ts';
import { checkReserved, nodeCgroupsOf } from './node-cgroups-of.ts';
import { tellPodCIDR, utilChains } from './node-network.ts';
import { makeNodeFolders } from './node-folders.ts';
import { nodeLogRotation } from './node-log-rotation.ts';
import { nodeOomWatcher } from './node-oom-watcher.ts';
import { nodeWarnings } from './node-warnings.ts';
import type { NodeOptions } from './node-options.ts';
import type { NodeFronts } from './node-fronts.ts';
import { nodeFronts } from './node-fronts.ts';
import { labelRulesOf, nodeVolumes } from './node-volumes.ts';
import type { PluginHandler } from '../resources/plugins/plugin-handler.ts';
import { nodePlugins } from './node-plugins.ts';
import { nodeObjectConfigOf } from '../cluster/node-object/node-object-config.ts';
import { resourceRulesOf } from '../resources/admission/resource-rules.ts';
import { readMachineFacts } from '../resources/machine/machine-facts.ts';
import { readMachineTopology } from '../resources/machine/machine-topology.ts';
import { selinuxIsOn } from '../resources/machine/selinux.ts';
import { nodeSettingsOf } from './node-settings-of.ts';
import { nodeStats } from './node-stats.ts';
import { nodeSpans, tracingOptionsOf } from './node-tracing.ts';
import { nodeUserNamespaces } from './node-user-namespaces.ts';
import { setNodeFacts } from './pod-metrics.ts';
import { limitsSwap } from './swap-controller.ts';
import { tierHolder } from './tier-holder.ts';

/** Kubernetes release that will not take a runtime without RuntimeConfig any more, as kubelet 1.35 names it. */
const RUNTIME_CONFIG_NEEDED_FROM = '1.36.0';

/** How long the runtime may take to answer for the first time, ms: after a reboot it starts beside the agent. */
const RUNTIME_PATIENCE_MS = 60_000;

/** A real node before its parts are made: folders, the runtime's answer, cgroups, and the ways to all of them. */
export interface RealNode {
  ground: NodeGround;
  edges: NodeEdges;
  /** What it serves, once it is started. */
  fronts: NodeFronts;
}

/** Makes them; `life` gets what has to be ended, also when this rejects (the runtime does not answer in time). */
export async function openNode(options: NodeOptions, life: Lifecycle): Promise<RealNode> {
  const { config: configured, flags, log, endpoint, settings: own } = options;
  if (options.threads !== undefined) life.has('worker threads', 'ways', () => options.threads?.destroy());
  // With more than one node in the process the others' next mount begins a new shell.
  life.has('mounts', 'ways', mountsRest);
  life.has('strange files', 'ways', strangeFiles.use());
  const kubeconfig = options.kubeconfig ?? null;
  const containerLogsDir = options.containerLogsDir ?? DEFAULT_CONTAINER_LOGS_DIR;
  checkOwnSource(options.source, configured.staticPodURL);
  const featureGates = resolveFeatureGates(configured.featureGates).gates;
  await makeNodeFolders({
    ...{
      rootDir: flags.rootDir,
      devicePluginsDir: own.devicePluginsDir,
      podLogsDir: configured.podLogsDir,
      containerLogsDir,
      log,
    },
    checkpoints: featureGates.enabled('ContainerCheckpoint'),
    selinux: selinuxIsOn(),
  });

  const metrics = createMetrics();
  const tracing = tracingOptionsOf(configured, flags);
  const spans = tracing === null ? null : await nodeSpans(tracing, log, life);
  const cri = createCriClient({
    endpoint,
    imageEndpoint: configured.imageServiceEndpoint,
    timeoutMs: configured.runtimeRequestTimeout,
    hooks: callHooks(log, spans, (readings) => metrics.applyObservations(readings)),
  });
  life.has('CRI client', 'ways', () => cri.close());
  const version = await cri.waitReady(options.runtimePatienceMs ?? RUNTIME_PATIENCE_MS);
  log.info(
    { endpoint, runtime: version.runtimeName, version: version.runtimeVersion },
    'Container runtime initialized',
  );
  const cgroupDriver = await cgroupDriverOf(cri.runtime, configured.cgroupDriver, {
    log,
    onFallback: () => metrics.criLosingSupport.set({ version: RUNTIME_CONFIG_NEEDED_FROM }, 1),
  });
  const online = readText('/sys/devices/system/cpu/online').trim();
  const config = withReservedCpus({ ...configured, cgroupDriver }, online, log);
  await tellPodCIDR(cri, config.podCIDR, log);
  const cgroups = detectCgroups();
  const clusterDNS = validClusterDns(config.clusterDNS, log);
  const settings = await nodeSettingsOf({ ...config, clusterDNS }, flags, cgroups, cri, kubeconfig !== null);
  setNodeFacts(metrics, { nodeName: settings.nodeName, cgroupVersion: settings.cgroupVersion, featureGates });
  const host: HostSettings = {
    ...{ rootDir: flags.rootDir, podLogsDir: config.podLogsDir, containerLogsDir, cgroups, log },
    cgroupVersion: cgroups.version,
    cgroupDriver: settings.cgroupDriver,
  };
  const resources = resourceRulesOf(config, featureGates, readMachineTopology(), {
    facts: readMachineFacts(flags.rootDir),
    shape: nodeObjectConfigOf(settings.nodeName, config, flags),
  });
  checkReserved(config, flags, settings.nodeName);
  setUpKernelTunables({
    ...{ protect: config.protectKernelDefaults, log, inUserNamespace: inUserNamespace() },
    ...{ mayNotSet: featureGates.enabled('KubeletInUserNamespace'), root: process.geteuid?.() === 0 },
  });
  const nodeCgroups = nodeCgroupsOf(config, flags, settings, host, log);
  await nodeCgroups?.make();
  settings.swapController = limitsSwap(cgroups);
  const userNamespaces = await nodeUserNamespaces({ config, featureGates, rootDir: flags.rootDir, cri });
  if (kubeconfig !== null) await makeRootShared(flags.rootDir, log);

  const journals = journalShares(own);
  const agent = agentVersion();
  const ground: NodeGround = {
    ...{
      config,
      rootDir: flags.rootDir,
      featureGates,
      settings,
      resources,
      shards: own.shards,
      waitForPluginsMs: own.waitForPluginsMs,
      journals,
      agent,
      log,
      metrics,
    },
    ownNode: unregisteredNode(
      nodeObjectConfigOf(settings.nodeName, config, flags),
      readMachineFacts(flags.rootDir),
      settings.runtimeFeatures.supplementalGroupsPolicy,
    ),
    containerGc: containerGcPolicy(flags),
    ...(spans !== null && { spans }),
    ...(flags.experimentalAllocatableIgnoreEviction && { allocatableIgnoresEviction: true as const }),
    otherSources: kubeconfig === null ? [] : ['api'],
    ...(options.source !== undefined && { source: options.source }),
    ...(options.onPod !== undefined && { onPod: options.onPod }),
  };
  const clock = machineClock;
  // Loaded only by a node that has an API server.
  const cluster =
    kubeconfig === null
      ? null
      : (await import('./real-cluster.ts')).realCluster(ground, flags, kubeconfig, life, spans);
  const quotas =
    settings.volumeQuotas === true ? new ProjectQuotas({ log, podsDir: join(flags.rootDir, 'pods') }) : undefined;
  const stats = nodeStats({ config, featureGates, flags, log, metrics, cri, cgroups, clock, life, quotas });
  const fronts = nodeFronts({ options, ground, cri, cgroups, stats, spans, api: cluster?.api ?? null });
  const handlers = new Map<string, PluginHandler>();
  const edges: NodeEdges = {
    ...{ clock, cri, userNamespaces, cluster, quotas },
    ...nodePlugins(ground, own.devicePluginsDir, clock, handlers),
    labelRules: labelRulesOf(featureGates),
    volumes: (links) =>
      nodeVolumes({ ground, mounterPath: flags.experimentalMounterPath, clock, handlers, life }, links),
    shards: (links) =>
      new ShardPool({
        ...{ shards: own.shards, log, metrics, ...links },
        ...(options.threads !== undefined && { threads: options.threads }),
        task: {
          ...{ settings, endpoint, containerLogsDir, log: options.workerLog },
          imageEndpoint: config.imageServiceEndpoint,
          ...(tracing !== null && { tracing }),
          journal: journals === null ? null : { dir: journals.dir, maxBytes: journals.shard, agent },
        },
      }),
    images: (links) => imageEdge({ ground, flags, cri, now: clock.now, ...links }),
    usage: stats,
    podLogs: podLogs(host),
    logind: new Logind(),
    host: (links) => [
      ...[nodeAllocatable(links), housekeeping(links), nodeLogRotation(cri, config, log)],
      nodeOomWatcher(ground, links, clock),
      nodeWarnings(ground, links, clock),
      ...(config.makeIPTablesUtilChains ? [utilChains(log)] : []),
    ],
    seen: (observed, take) => take(observed),
    pages: (parts) => fronts.parts(parts),
  };
  return { ground, edges, fronts };

  /** Keeps pods within what is not reserved. */
  function nodeAllocatable({ record }: HostLinks): Part {
    const object = nodeNamed(settings.nodeName);
    return {
      name: 'node allocatable',
      phase: 'work',
      start: () => nodeCgroups?.enforce((event) => record({ object, at: clock.now(), ...event })),
      stop: () => nodeCgroups?.stop(),
    };
  }

  /** Removes what no pod owns. */
  function housekeeping({ memoryMin, record: _told, askNode, ...links }: HostLinks): Part {
    const tiers = tierHolder(ground, flags, host, memoryMin);
    const rounds = new Housekeeping({
      ...{ host: { ...host, askNode }, qos: qosCgroups(settings), clock, log, ...links },
      ...(tiers !== null && { holdMemory: tiers }),
      ...(settings.memoryQoS !== undefined && { memoryMin }),
      onOrphans: ({ found, left }) => {
        metrics.orphanPodVolumes.set(found);
        metrics.orphanPodVolumeErrors.set(left);
      },
    });
    return { name: 'housekeeping', phase: 'work', start: () => rounds.start(), stop: () => rounds.stop() };
  }
}
