import type { Logger } from 'pino';
import type { Piscina } from 'piscina';
import type { ManagedCondition } from '../../machines/node-object/node-types.ts';
import type { Kubeconfig } from '../cluster/api/kubeconfig.ts';
import type { ActorletSettings } from '../configure/configuration/actorlet-settings.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';
import type { EventRecorder } from '../cluster/events/event-recorder.ts';
import type { AgentInspector } from '../inspect/inspector/start-inspector.ts';
import type { LoggerOptions } from '../record/logging/create-logger.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { PodReport } from '../pods/shard/shard-protocol.ts';
import type { OwnSource } from '../pods/sources/own-source.ts';
import type { PodStore } from '../pods/store/pod-store.ts';
import type { Supervisor } from '../pods/supervisor/supervisor.ts';
import type { HealthCheck } from '../serve/server/health-checks.ts';
import type { ShardHost } from './edges.ts';
import type { NodeServers } from './node-servers.ts';

/** What a node is made from. */
export interface NodeOptions {
  config: KubeletConfiguration;
  flags: KubeletFlags;
  settings: ActorletSettings;
  /** The runtime to work with, `unix://...`. */
  endpoint: string;
  log: Logger;
  /** How worker threads log. */
  workerLog: LoggerOptions;
  containerLogsDir?: string;
  /** How long the runtime may take to answer for the first time, ms; a minute when it is not given. */
  runtimePatienceMs?: number;
  /** The way to the API server; null on a standalone node. */
  kubeconfig?: Kubeconfig | null;
  /** Worker threads that were started ahead. */
  threads?: Piscina;
  /** A source of pods beside (or instead of) the configured ones; not together with `staticPodURL`. */
  source?: OwnSource;
  /** Hears of each change of a pod: state of its machine, what it waits for, status. Must not throw. */
  onPod?: (change: PodReport) => void;
}

/** A running node agent. */
export interface RunningNode {
  readonly store: PodStore;
  readonly events: EventRecorder;
  readonly metrics: Metrics;
  readonly shards: ShardHost;
  readonly supervisor: Supervisor;
  readonly servers: NodeServers;
  /** Conditions that the node's managers answer for, beside Ready and pressure. */
  readonly conditions: () => ManagedCondition[];
  /** What has to move for systemd to be told that the agent lives. */
  readonly moves: readonly HealthCheck[];
  /** Null without `--inspect`. */
  readonly inspector: AgentInspector | null;
  /** Ends the agent; containers go on. Never rejects: what cannot be stopped is told in the log (NOD008). */
  stop(): Promise<void>;
}
