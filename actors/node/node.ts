import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createCriClient } from '../../cri/client/cri-client.ts';
import { trackedPod } from '../../machines/supervisor/pod-table.ts';
import type { ObservedPod } from '../../machines/protocol/observed.ts';
import { AdmissionGate } from '../admission/admission-gate.ts';
import { PodAllocations } from '../admission/pod-allocations.ts';
import { resolveFeatureGates } from '../configuration/feature-gates.ts';
import { agentVersion } from '../configuration/version.ts';
import { EventRecorder } from '../events/event-recorder.ts';
import { detectCgroups } from '../host/cgroup-detect.ts';
import { cgroupHost, ensureQosCgroups } from '../host/cgroups.ts';
import { makeRootShared } from '../host/shared-root.ts';
import type { HostSettings } from '../host/host-settings.ts';
import { DEFAULT_CONTAINER_LOGS_DIR } from '../host/host-settings.ts';
import { Housekeeping } from '../housekeeping/housekeeping.ts';
import { restoreMemory } from '../journal/restore-memory.ts';
import type { AgentInspector } from '../inspector/start-inspector.ts';
import { createMetrics } from '../metrics/metrics-registry.ts';
import { listenToEvents } from '../pleg/evented-pleg.ts';
import { Pleg } from '../pleg/pleg.ts';
import type { ListedPod } from '../pleg/observe-pod.ts';
import { EVENTED_RATE, GENERIC_RATE } from '../pleg/relist-rate.ts';
import { RuntimeWatch } from '../runtime-state/runtime-watch.ts';
import { effectObservations } from '../shard/effect-observations.ts';
import { ShardPool } from '../shard/shard-pool.ts';
import { PodStore } from '../status/pod-store.ts';
import { checkOwnSource } from '../sources/own-source.ts';
import type { PodSources } from '../sources/pod-sources.ts';
import { Supervisor } from '../supervisor/supervisor.ts';
import { handleFromShard } from './from-shard.ts';
import type { FromShardParts } from './from-shard.ts';
import { PodIntake } from './pod-intake.ts';
import { cgroupDriverOf } from './cgroup-driver.ts';
import { burstableShares } from './burstable-shares.ts';
import { nodeUserNamespaces } from './node-user-namespaces.ts';
import { nodeImagePuller } from './node-image-puller.ts';
import { nodeSettingsOf } from './node-settings-of.ts';
import { NodeState } from './node-state.ts';
import type { NodeOptions, RunningNode } from './node-options.ts';
import { startNodeServers } from './node-servers.ts';
import { startNodeSources } from './node-sources.ts';
import { startNodeLogRotation } from './node-log-rotation.ts';
import { PodMetrics, setNodeFacts } from './pod-metrics.ts';
import { ClockWatch } from './clock-watch.ts';
import { Resync } from './resync.ts';
import { staticLife } from './static-life.ts';
import { keepHeapsSmall } from './small-heaps.ts';

/**
 * Starts the node: runtime connection, observer, worker shards, sources, servers. Wires parts only; what each does
 * stands in its own folder. Rejects when the runtime does not answer or a port is taken.
 */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { config: configured, flags, settings: own, log, endpoint } = options;
  const now = Date.now;
  checkOwnSource(options.source, configured.staticPodURL);
  keepHeapsSmall();
  mkdirSync(join(flags.rootDir, 'pods'), { recursive: true, mode: 0o750 });
  mkdirSync(configured.podLogsDir, { recursive: true, mode: 0o755 });
  const metrics = createMetrics();
  const imageEndpoint = configured.imageServiceEndpoint;
  const cri = createCriClient({
    endpoint,
    imageEndpoint,
    timeoutMs: configured.runtimeRequestTimeout,
    hooks: { onCall: (report) => metrics.applyObservations(effectObservations.call(report)) },
  });
  const version = await cri.waitReady(60_000);
  log.info(
    { endpoint, runtime: version.runtimeName, version: version.runtimeVersion },
    'Container runtime initialized',
  );
  const config = { ...configured, cgroupDriver: await cgroupDriverOf(cri.runtime, configured.cgroupDriver, log) };
  const cgroups = detectCgroups();
  const kubeconfig = options.kubeconfig ?? null;
  const node = await nodeSettingsOf(config, flags, cgroups, cri, kubeconfig !== null);
  setNodeFacts(metrics, {
    nodeName: node.nodeName,
    cgroupVersion: node.cgroupVersion,
    featureGates: config.featureGates,
  });
  const podMetrics = new PodMetrics(metrics);
  const containerLogsDir = options.containerLogsDir ?? DEFAULT_CONTAINER_LOGS_DIR;
  mkdirSync(containerLogsDir, { recursive: true, mode: 0o755 });
  const host: HostSettings = {
    rootDir: flags.rootDir,
    podLogsDir: config.podLogsDir,
    containerLogsDir,
    cgroupVersion: cgroups.version,
    cgroupDriver: 'cgroupfs',
    cgroups,
    log,
  };
  const kubepods = config.cgroupsPerQOS ? join(node.cgroupRoot, 'kubepods') : null;
  if (kubepods !== null) await ensureQosCgroups(cgroupHost(host), kubepods);

  const later: { sources?: PodSources } = {};
  const store = new PodStore();
  const events = new EventRecorder(log);
  const remembered = own.journalDir === null ? new Map() : restoreMemory(own.journalDir);
  const puller = nodeImagePuller({
    cri,
    config,
    flags,
    metrics,
    log,
    events,
    now,
    podOf: (uid) => trackedPod(supervisor.context.pods, uid)?.pod,
    pullSecret: async (namespace, name) => (await cluster?.objects.get('secret', namespace, name)) ?? null,
  });
  const userNamespaces = await nodeUserNamespaces(config, flags.rootDir, cri);
  let listed: ReadonlyMap<string, ListedPod> = new Map();
  const pleg = new Pleg({
    cri,
    rate: GENERIC_RATE,
    log,
    metrics,
    now,
    onPod: (observed: ObservedPod) => supervisor.take({ type: 'seen', at: now(), observed }),
    onFailure: () => runtime.suspect(),
    onRelist: (pods) => (listed = pods),
  });
  const runtime = new RuntimeWatch({
    cri,
    log,
    onChange: () => nodeState.runtimeChanged(),
  });
  // The supervisor's messages are few: one for each change of a source and each end of a pod; the node's are fewer.
  const nodeShare = Math.floor(own.journalMaxBytes / 256);
  const supervisorShare = Math.floor(own.journalMaxBytes / 16) - nodeShare;
  const pool = new ShardPool({
    shards: own.shards,
    ...(options.threads !== undefined && { threads: options.threads }),
    task: {
      settings: node,
      endpoint,
      imageEndpoint,
      containerLogsDir,
      journal:
        own.journalDir === null
          ? null
          : {
              dir: own.journalDir,
              maxBytes: Math.floor((own.journalMaxBytes - supervisorShare - nodeShare) / own.shards),
              agent: agentVersion(),
            },
      log: options.workerLog,
    },
    log,
    metrics,
    onMessage: (shard, message) => {
      handleFromShard(parts, shard, message);
      if (message.t === 'report') options.onPod?.(message.report);
    },
    onReplaced: (shard) => {
      supervisor.take({ type: 'shardReplaced', at: now(), shard });
      for (const pod of supervisor.started()) if (pod.shard === shard) pleg.observe(pod.uid);
    },
  });
  const supervisor: Supervisor = new Supervisor({
    shards: own.shards,
    log,
    now,
    store,
    runtimeState: () => runtime.state,
    held: (uid) => pleg.holds(uid),
    observe: (uid) => pleg.observe(uid),
    remembered: (uid) => {
      const memory = remembered.get(uid)?.memory ?? null;
      const pod = trackedPod(supervisor.context.pods, uid)?.pod;
      return pod === undefined ? memory : allocations.remembered(pod, memory);
    },
    ...(own.journalDir !== null && {
      journal: { dir: own.journalDir, maxBytes: supervisorShare, agent: agentVersion(), log },
    }),
    post: (shard, uid, message) => {
      podMetrics.posted(uid, message);
      pool.post(shard, { t: 'pod', uid, message });
    },
  });

  const nodeState = new NodeState({
    nodeName: node.nodeName,
    agent: agentVersion(),
    cluster: kubeconfig !== null,
    log,
    now,
    facts: () => ({
      runtime: runtime.state,
      plegError: pleg.unhealthy(),
      sourcesReady: supervisor.context.sourcesReady,
      registered: cluster !== null && cluster.node.node() !== null,
    }),
    carryOut: (order) => {
      if (order.type === 'status.post') cluster?.node.changed();
      else if (order.type === 'pods.observe') pleg.observeAll();
      else {
        const { runtimeReady, networkReady } = order;
        supervisor.broadcast({ type: 'runtime.state', at: now(), runtimeReady, networkReady });
      }
    },
    ...(own.journalDir !== null && {
      journal: { dir: own.journalDir, agent: agentVersion(), nodeName: node.nodeName, maxBytes: nodeShare, log },
    }),
  });

  if (kubeconfig !== null) await makeRootShared(flags.rootDir, log);
  const cluster =
    kubeconfig === null
      ? null
      : // Loaded only when there is an API server: a standalone node has no use for it.
        new (await import('./cluster.ts')).Cluster({
          kubeconfig,
          config,
          flags,
          settings: node,
          cri,
          log,
          metrics,
          events,
          now,
          runtimeState: () => runtime.state,
          plegError: () => pleg.unhealthy(),
          onPods: (pods) => later.sources?.setPods('api', pods),
          lifeOf: (uid) => staticLife(trackedPod(supervisor.context.pods, uid), store.reportOf(uid)),
          tell: (uid, message) => supervisor.tell(uid, message),
        });
  const admission =
    cluster === null
      ? null
      : new AdmissionGate({
          config,
          settings: node,
          node: () => cluster.node.node(),
          freshNode: () => cluster.freshNode(),
        });
  const allocations = new PodAllocations({
    rootDir: flags.rootDir,
    settings: node,
    log,
    now,
    metrics,
    record: (event) => events.record(event),
    fits: (pod) => admission?.fits(pod) ?? { admit: true },
    recount: (pod) => admission?.recount(pod),
    sourcesReady: () => later.sources?.allSourcesReady() ?? false,
    changed: (pod) => {
      const source = trackedPod(supervisor.context.pods, pod.metadata?.uid ?? '')?.source ?? 'orphan';
      if (source === 'orphan') return;
      supervisor.take({ type: 'config', at: now(), update: { op: 'UPDATE', source, pods: [pod] } });
    },
  });
  const intake = new PodIntake({
    supervisor,
    cluster,
    admission,
    allocations,
    metrics,
    now,
    sources: () => later.sources,
  });
  const parts: FromShardParts = {
    userNamespaces,
    supervisor,
    pool,
    store,
    events,
    pleg,
    puller,
    metrics,
    podMetrics,
    intake,
    cluster,
    log,
    now,
  };

  await Promise.all([pool.start(), runtime.start()]);
  await pleg.start();
  nodeState.watch();
  const listening = new AbortController();
  const eventStream = resolveFeatureGates(config.featureGates).gates.enabled('EventedPLEG')
    ? listenToEvents(
        {
          cri,
          log,
          metrics,
          now,
          onEvent: (uid) => (uid === null ? void pleg.relist() : pleg.observe(uid)),
          onConnected: (connected) => {
            pleg.setRate(connected ? EVENTED_RATE : GENERIC_RATE);
            if (!connected) runtime.suspect();
          },
        },
        listening.signal,
      )
    : Promise.resolve();
  const started = startNodeSources(options, node.nodeName, supervisor, intake, now);
  later.sources = started;
  // What spoke while it was started had no one to be asked about the others.
  intake.tellStatics();
  nodeState.look();
  const clock = new ClockWatch({
    log,
    now,
    steady: () => performance.now(),
    onSetBack: (byMs) => supervisor.broadcast({ type: 'clock.steppedBack', at: now(), byMs }),
  });
  cluster?.start();
  const resync = new Resync({ supervisor, periodMs: config.syncFrequency, now });
  resync.start();
  const housekeeping = new Housekeeping({
    host,
    kubepods,
    alive: (uid) => supervisor.tracks(uid) || listed.has(uid),
    ready: () => started.allSourcesReady() && pleg.unhealthy() === null,
    burstableShares: () => burstableShares(store.list()),
    log,
    onOrphans: ({ found, left }) => {
      metrics.orphanPodVolumes.set(found);
      metrics.orphanPodVolumeErrors.set(left);
    },
  });
  housekeeping.start();
  const rotation = startNodeLogRotation(cri, config, containerLogsDir, log);
  const servers = await startNodeServers({
    config,
    flags,
    log,
    cri,
    cgroups,
    now,
    node: {
      nodeName: node.nodeName,
      pods: () => store.list(),
      podNamed: (namespace, name) => store.named(namespace, name),
    },
    metrics,
    checks: [{ name: 'syncloop', check: () => pleg.unhealthy() }],
    rows: () => store.rows(),
    api: cluster?.api ?? null,
    addresses: () => cluster?.node.node()?.status?.addresses ?? [],
    beforeScrape: () => {
      podMetrics.scrape(supervisor, store);
      metrics.mirrorPods.set(cluster?.mirrorCount ?? 0);
      metrics.setPodStates(store.states());
    },
    setVerbosity: (level) => {
      options.workerLog.verbosity = level;
      pool.setVerbosity(level);
    },
  });

  const inspector = await inspectorOf(options);

  return {
    inspector,
    store,
    events,
    metrics,
    pool,
    supervisor,
    servers,
    stop: async () => {
      clock.stop();
      nodeState.stop();
      listening.abort();
      resync.stop();
      runtime.stop();
      pleg.stop();
      await Promise.all([
        started.stop(),
        servers.close(),
        inspector?.stop(),
        rotation.stop(),
        housekeeping.stop(),
        cluster?.stop(),
      ]);
      await pool.stop();
      supervisor.close();
      allocations.stop();
      await eventStream;
      cri.close();
    },
  };
}

/** Loaded only when it is asked for, and it runs in a thread of its own: switched off it costs nothing. */
async function inspectorOf({ settings, log, workerLog }: NodeOptions): Promise<AgentInspector | null> {
  if (settings.inspect === null || settings.journalDir === null) return null;
  const { startInspector } = await import('../inspector/start-inspector.ts');
  return startInspector({ dir: settings.journalDir, address: settings.inspect, log, workerLog });
}
