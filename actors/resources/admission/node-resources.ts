import type { Logger } from 'pino';
import { grantsOf, groundOf, resourcesOf } from '../../../machines/admission/node-resources.ts';
import type { Rejection } from '../../../machines/admission/rejection.ts';
import type { Managed } from '../../../machines/admission/resource-manager.ts';
import type { Alignment } from '../../../machines/devices/device-state.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodGrants } from '../../../machines/protocol/grants.ts';
import { extendedLimitsOf } from '../../../machines/qos/extended-limits.ts';
import { affinityWith } from '../../../machines/resource-managers/admit-resources.ts';
import type { Affinities, ResourceState } from '../../../machines/resource-managers/admit-resources.ts';
import { Refusal as NoPart, rejectionOf } from '../../../machines/resource-managers/refusal.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import { Tally } from '../../../machines/resource-managers/tally.ts';
import type { ResourceHints, TopologyHint } from '../../../machines/resource-managers/topology/hints.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import { ManagerFiles } from './manager-files.ts';
import { countAdmission, countAsked, countCpus, startCounts } from './manager-metrics.ts';
import type { ManagerMetrics } from './manager-metrics.ts';

/** What {@link NodeResources} works with. */
export interface NodeResourcesOptions {
  /** Absent in a node that knows nothing of its machine. */
  rules: ResourceRules | undefined;
  rootDir: string;
  log: Logger;
  metrics: ManagerMetrics;
  /** The managers' states in the admission machine. */
  managed: () => Managed;
  /** A pod that comes, as it is to run. */
  arriving: (pod: Pod) => Pod;
  /** CPUs that containers share are others now. */
  grantsChanged?: (() => void) | undefined;
}

/**
 * Who has which CPUs and memory of the node (kubelet: CPU, memory and topology manager). The admission machine decides; this tells of it, keeps
 * kubelet's checkpoints of it, counts, and says where devices that plugins give would fit.
 */
export class NodeResources {
  private readonly options: NodeResourcesOptions;
  private readonly files: ManagerFiles | null;

  constructor(options: NodeResourcesOptions) {
    this.options = options;
    const { rules, rootDir, log, metrics } = options;
    this.files = rules === undefined ? null : new ManagerFiles(rootDir, rules, log);
    if (rules !== undefined) startCounts(metrics, rules);
  }

  /** What an agent or a kubelet before this one gave away; null when nothing can be given. */
  found(): Managed | null {
    const managed = this.files?.read() ?? {};
    return Object.values(managed).some((state) => state !== null) ? managed : null;
  }

  /** Who has what, and what is left; null where none is given away. */
  get state(): ResourceState | null {
    return resourcesOf(this.options.managed());
  }

  /** UIDs of pods that have some. */
  get owners(): string[] {
    const { cpu, memory } = this.state ?? { cpu: null, memory: null };
    const tables = [cpu?.pods ?? {}, memory?.pods ?? {}];
    return [...new Set(tables.flatMap((table) => uidEntries<unknown>(table).map(([uid]) => uid)))];
  }

  /** What a pod's containers have of the node's CPUs and memory; undefined where none is given away. */
  grantsOf(uid: string): PodGrants | undefined {
    const { rules, managed } = this.options;
    return rules && grantsOf(resourcesOf(managed()), uid, rules);
  }

  /** What devices are aligned by; null where nothing is. */
  alignment(pod: Pod): Alignment | null {
    const { rules } = this.options;
    if (rules === undefined || rules.topology.policy === 'none') return null;
    const nodes = rules.machine.nodes.map(({ id }) => id);
    return { nodes, ofPod: rules.topology.scope === 'pod' ? extendedLimitsOf(pod) : null };
  }

  /** Where a container, or with '' the pod, is to be with its devices; or why it can be nowhere. Nothing is given away yet. */
  affinity(pod: Pod, asked: { container: string; hints: ResourceHints; fixed: Affinities }): TopologyHint | Rejection {
    const { rules, metrics, arriving } = this.options;
    if (rules === undefined) return { nodes: null, preferred: true };
    const tally = new Tally();
    const state = this.state ?? { cpu: null, memory: null };
    try {
      return affinityWith(groundOf(rules), state, arriving(pod), tally, asked);
    } catch (error) {
      if (!(error instanceof NoPart)) throw error;
      countAdmission(metrics, tally.counts);
      return rejectionOf(error);
    }
  }

  /** A pod was refused for its devices, which kubelet's topology manager is asked for with all the rest. */
  countUnequipped(reason: string): void {
    const { metrics, rules } = this.options;
    countAsked(metrics, 0);
    // Where its devices could not be put together, the try has counted that.
    const counted = reason === 'TopologyAffinityError';
    if (!counted && (rules?.topology.policy ?? 'none') !== 'none') metrics.topologyErrors.inc();
  }

  /** The agent ends: checkpoints that could not be written are tried once more. */
  stop(): void {
    this.files?.stop();
  }

  /** The agent dies: its files stay as they are. */
  close(): void {
    this.files?.close();
  }

  /** The managers' states are others than these were. Nothing is told of what was given before it is on disk. */
  changedSince(before: Managed): void {
    const { rules, metrics, managed, grantsChanged } = this.options;
    this.files?.write(managed());
    const ground = rules && groundOf(rules).cpu;
    if (this.state !== null && ground) countCpus(metrics, this.state, ground);
    if (this.state?.cpu?.shared !== resourcesOf(before)?.cpu?.shared) grantsChanged?.();
  }
}
