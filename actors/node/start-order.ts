import { withQueuePlace } from '../pods/store/queue-place.ts';
import { Housekeeping } from '../host/housekeeping/housekeeping.ts';
import type { AgentInspector } from '../inspect/inspector/start-inspector.ts';
import type { LogRotation } from '../host/logs/log-rotation.ts';
import type { PodSources } from '../pods/sources/pod-sources.ts';
import { burstableShares } from './burstable-shares.ts';
import { ClockWatch } from './clock-watch.ts';
import type { NodeGround } from './node-ground.ts';
import { startNodeLogRotation } from './node-log-rotation.ts';
import type { NodeOptions } from './node-options.ts';
import type { NodeParts } from './node-parts.ts';
import type { NodeServers, NodeServersOptions } from './node-servers.ts';
import { startNodeServers } from './node-servers.ts';
import { startNodeSources } from './node-sources.ts';
import { Resync } from './resync.ts';
import { followEvents } from './runtime-parts.ts';

/** What runs beside the parts of a node once it is started. */
export interface StartedNode {
  readonly sources: PodSources;
  /** Ends the following of the runtime's events. */
  readonly listening: AbortController;
  /** Resolves when that has ended. */
  readonly eventStream: Promise<void>;
  readonly clock: ClockWatch;
  readonly resync: Resync;
  readonly housekeeping: Housekeeping;
  readonly rotation: LogRotation;
  readonly servers: NodeServers;
  /** Null without `--inspect`. */
  readonly inspector: AgentInspector | null;
}

/**
 * Starts a node's parts. First what sees the runtime, so that the first pod meets what is there already; then the sources;
 * then what works at leisure; the servers last, for what they show. Rejects when a port is taken.
 */
export async function startParts(ground: NodeGround, parts: NodeParts): Promise<StartedNode> {
  const { options, cri, config, settings, host, log, now } = ground;
  const { supervisor, intake, pleg, nodeState } = parts;
  await Promise.all([parts.pool.start(), parts.runtime.start()]);
  await pleg.start();
  nodeState.watch();
  const listening = new AbortController();
  const eventStream = followEvents(ground, parts, listening.signal);

  const sources = startNodeSources(options, settings.nodeName, supervisor, intake, now);
  parts.sources = sources;
  // What spoke while it was started had no one to be asked about the others.
  intake.tellStatics();
  nodeState.look();
  const clock = new ClockWatch({
    log,
    now,
    steady: () => performance.now(),
    onSetBack: (byMs) => supervisor.broadcast({ type: 'clock.steppedBack', at: now(), byMs }),
  });
  parts.cluster?.start();

  const resync = new Resync({ supervisor, periodMs: config.syncFrequency, now });
  resync.start();
  const housekeeping = housekeepingOf(ground, parts, sources);
  housekeeping.start();
  const rotation = startNodeLogRotation(cri, config, host.containerLogsDir, log);
  const servers = await startNodeServers(shownBy(ground, parts));
  const inspector = await inspectorOf(options);
  return { sources, listening, eventStream, clock, resync, housekeeping, rotation, servers, inspector };
}

/** Removes what no pod owns: a pod that is tracked, or that the runtime still has something of. */
function housekeepingOf(
  { host, kubepods, log, metrics }: NodeGround,
  parts: NodeParts,
  sources: PodSources,
): Housekeeping {
  return new Housekeeping({
    host,
    kubepods,
    alive: (uid) => parts.supervisor.tracks(uid) || parts.listed.has(uid),
    ready: () => sources.allSourcesReady() && parts.pleg.unhealthy() === null,
    burstableShares: () => burstableShares(parts.store.list()),
    log,
    onOrphans: ({ found, left }) => {
      metrics.orphanPodVolumes.set(found);
      metrics.orphanPodVolumeErrors.set(left);
    },
  });
}

/** What the node's servers show of its parts. */
function shownBy(
  ground: NodeGround,
  { store, pleg, cluster, pool, podMetrics, supervisor, puller }: NodeParts,
): NodeServersOptions {
  const { options, config, featureGates, log, cri, cgroups, now, settings, metrics } = ground;
  return {
    ...{ config, featureGates, flags: options.flags, log, cri, cgroups, now, metrics },
    node: {
      nodeName: settings.nodeName,
      pods: () => store.list(),
      podNamed: (namespace, name) => store.named(namespace, name),
    },
    checks: [{ name: 'syncloop', check: () => pleg.unhealthy() }],
    rows: () => store.rows().map((row) => withQueuePlace(row, puller)),
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
  };
}

/** Loaded only when it is asked for, and it runs in a thread of its own: switched off it costs nothing. */
async function inspectorOf({ settings, log, workerLog }: NodeOptions): Promise<AgentInspector | null> {
  if (settings.inspect === null || settings.journalDir === null) return null;
  const { startInspector } = await import('../inspect/inspector/start-inspector.ts');
  return startInspector({ dir: settings.journalDir, address: settings.inspect, log, workerLog });
}
