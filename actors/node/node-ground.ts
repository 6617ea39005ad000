import type { Logger } from 'pino';
import type { Node } from '../../machines/node-object/node-types.ts';
import type { ContainerGcPolicy } from '../../machines/container-gc/container-gc-context.ts';
import type { PodSource } from '../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import type { ResourceRules } from '../../machines/resource-managers/resource-ground.ts';
import type { FeatureGates } from '../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { PodReport } from '../pods/shard/shard-protocol.ts';
import type { OwnSource } from '../pods/sources/own-source.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { Spans } from '../record/tracing/spans.ts';
import type { JournalShares } from './journal-shares.ts';

/** What was settled before the first part of a node is made: configuration, facts of the machine, and who is told. */
export interface NodeGround {
  /** As configured, with the cgroup driver that the runtime told. */
  readonly config: KubeletConfiguration;
  /** Folder of all that the node keeps (`--root-dir`). */
  readonly rootDir: string;
  readonly featureGates: FeatureGates;
  /** What the machines are told of the node. */
  readonly settings: NodeSettings;
  /** How CPUs and memory of NUMA nodes are given away; absent in a node that knows nothing of its machine. */
  readonly resources?: ResourceRules;
  /** The node as it would register: pods are judged by it while it has no object, on a standalone node for good. */
  readonly ownNode?: Node;
  /** How long a pod waits for a device plugin that was there before, ms; absent or 0: it is judged at once, as by kubelet (`--wait-for-plugins`). */
  readonly waitForPluginsMs?: number;
  /** Worker threads in which pods live. */
  readonly shards: number;
  /** Null when nothing is journaled. */
  readonly journals: JournalShares | null;
  /** How the agent calls itself in journals. */
  readonly agent: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Absent where nothing is traced. */
  readonly spans?: Spans;
  /** `--experimental-allocatable-ignore-eviction`. */
  readonly allocatableIgnoresEviction?: true;
  /** How many ended containers the node keeps. */
  readonly containerGc: ContainerGcPolicy;
  /** Sources of pods that speak through {@link PodSources.setPods}, e.g. `api`. */
  readonly otherSources: readonly PodSource[];
  /** The embedder's own source of pods. */
  readonly source?: OwnSource;
  /** Hears of each change of a pod. Must not throw. */
  readonly onPod?: (change: PodReport) => void;
}
