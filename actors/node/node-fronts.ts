import { resourceTable } from '../../machines/pod-resources-api/resource-rows.ts';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { ApiClient } from '../cluster/api/api-client.ts';
import type { CgroupHost } from '../host/files/cgroup-host.ts';
import type { NodeView } from '../pods/store/node-view.ts';
import type { Spans } from '../record/tracing/spans.ts';
import type { StatsProvider } from '../resources/stats/stats-provider.ts';
import type { AgentInspector } from '../inspect/inspector/start-inspector.ts';
import { withQueuePlace } from '../pods/store/queue-place.ts';
import { withVolumeWait } from '../pods/store/volume-wait.ts';
import type { ShownNode } from './edges.ts';
import type { Part } from './lifecycle.ts';
import type { NodeGround } from './node-ground.ts';
import { podResourcesPart } from './pod-resources-part.ts';
import type { NodeOptions } from './node-options.ts';
import { startNodeServers } from './node-servers.ts';
import type { NodeServers } from './node-servers.ts';

/** What a node shows to others: its servers and its inspector. */
export interface NodeFronts {
  /** Null before they are started. */
  servers: NodeServers | null;
  /** Null without `--inspect`. */
  inspector: AgentInspector | null;
  /** As parts of the node that they tell of. */
  parts(node: ShownNode): Part[];
}

/** What they are made from. */
export interface NodeFrontsOptions {
  options: NodeOptions;
  ground: NodeGround;
  cri: CriClient;
  cgroups: CgroupHost;
  /** The node's stats: one provider for all who ask. */
  stats: (node: Pick<NodeView, 'nodeName' | 'pods'>) => StatsProvider;
  /** Null: no traces are made. */
  spans: Spans | null;
  /** Null on a standalone node. */
  api: ApiClient | null;
}

/** The servers and the inspector of a real node. */
export function nodeFronts({ options, ground, cri, cgroups, stats, spans, api }: NodeFrontsOptions): NodeFronts {
  const { config, featureGates, settings, log, metrics } = ground;
  const { flags } = options;
  const fronts: NodeFronts = {
    servers: null,
    inspector: null,
    parts: (node) => [
      {
        name: 'servers',
        phase: 'work',
        async start() {
          fronts.servers = await startNodeServers(shown(node));
        },
        stop: () => fronts.servers?.close(),
      },
      podResourcesPart(ground, node),
      {
        name: 'inspector',
        phase: 'work',
        async start() {
          fronts.inspector = await inspectorOf(options);
        },
        stop: () => fronts.inspector?.stop(),
      },
    ],
  };
  return fronts;

  /** What the servers show of the node's parts. */
  function shown(parts: ShownNode) {
    const { admission, devices, claims, store, resync, cluster, shards, podMetrics, supervisor, puller, volumes, now } =
      parts;
    const view = {
      nodeName: settings.nodeName,
      pods: () => store.list(),
      podNamed: (namespace: string, name: string) => store.named(namespace, name),
    };
    // Who waits for health looks at the node's object then, and must not see what an earlier agent told of it.
    const begins = (): string | null => (cluster?.node.hasSpoken() === false ? 'the node was not told of yet' : null);
    return {
      ...{ config, featureGates, flags, log, cri, cgroups, now, metrics, spans, api },
      node: view,
      stats: stats(view),
      begins,
      checks: [
        { name: 'syncloop', check: () => begins() ?? resync.late() },
        { name: 'device-plugin', check: () => devices?.problem() ?? null },
      ],
      rows: () => store.rows().map((row) => withVolumeWait(withQueuePlace(row, puller), volumes.state)),
      resources: () =>
        resourceTable(
          {
            resources: admission.resources.state,
            devices: devices?.state ?? null,
            claims: claims?.state ?? null,
            extended: ground.featureGates.enabled('DRAExtendedResource'),
          },
          store.list(),
        ),
      addresses: () => cluster?.node.node()?.status?.addresses ?? [],
      beforeScrape: () => {
        podMetrics.scrape(supervisor, store, volumes.plugins());
        metrics.mirrorPods.set(cluster?.mirrorCount ?? 0);
        metrics.setPodStates(store.states());
      },
      setVerbosity: (level: number) => {
        options.workerLog.verbosity = level;
        shards.setVerbosity(level);
      },
    };
  }
}

/** Loaded only when it is asked for, and it runs in a thread of its own: switched off it costs nothing. */
async function inspectorOf({ settings, log, workerLog }: NodeOptions): Promise<AgentInspector | null> {
  if (settings.inspect === null || settings.journalDir === null) return null;
  const { startInspector } = await import('../inspect/inspector/start-inspector.ts');
  return startInspector({ dir: settings.journalDir, address: settings.inspect, log, workerLog });
}
