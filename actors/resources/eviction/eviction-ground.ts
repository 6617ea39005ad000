import type { Logger } from 'pino';
import type { Disks } from '../../../machines/eviction/container-fs-thresholds.ts';
import type { Reclaimable } from '../../../machines/eviction/reclaim-plan.ts';
import type { NodeAndPods } from '../../../machines/eviction/soundings.ts';
import type { Spare } from '../../../machines/eviction/soundings.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import type { FeatureGates } from '../../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import type { Clock } from '../../host/time/clock.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import type { NodeStats, Summary } from '../stats/summary.ts';

/** What the node and its pods use ({@link StatsProvider}). All of it rejects when the runtime does not answer. */
export interface NodeUsageSource {
  /** The node without its pods: cheap. */
  nodeAlone(): Promise<NodeStats>;
  /** With all pods and their volumes. */
  summary(): Promise<Summary>;
  /** Has volumes counted that were not lately; the next summary tells what they take. Absent: its figures are always of now. */
  volumesCounted?(): Promise<void>;
  disks(): Promise<Disks>;
  /** Bytes of memory that are free or can be at once: to see changes between two looks. Absent: nobody can say. */
  memoryNow?(): NodeAndPods;
}

/**
 * What a manager can give back when the node runs short, without ending a pod (kubelet's ImageGC and ContainerGC). Each does all
 * there is to do and rejects when it could not.
 */
export type NodeReclaim = {
  /** `containers`: removes all containers that have ended, those of ended pods, too; `images`: all that no container uses. */
  readonly [what in Reclaimable]?: () => Promise<void>;
};

/** What eviction needs of the node around it. */
export interface EvictionGround {
  readonly config: Pick<
    KubeletConfiguration,
    | 'enforceNodeAllocatable'
    | 'evictionHard'
    | 'evictionSoft'
    | 'evictionSoftGracePeriod'
    | 'evictionMinimumReclaim'
    | 'evictionPressureTransitionPeriod'
    | 'evictionMaxPodGracePeriod'
    | 'localStorageCapacityIsolation'
  >;
  /** `--experimental-allocatable-ignore-eviction`. */
  readonly allocatableIgnoresEviction?: true;
  readonly featureGates: Pick<FeatureGates, 'enabled'>;
  readonly settings: Pick<NodeSettings, 'nodeName'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'evictions' | 'evictionStatsAge'>;
  readonly events: { record(event: RecordedEvent): void };
  readonly journal: JournalSettings | null;
  readonly pods: () => readonly Pod[];
  readonly stateOf: (uid: string) => string | null;
  readonly sourcesReady: () => boolean;
  readonly usage: NodeUsageSource | null;
  readonly reclaim: (what: Reclaimable) => Promise<void>;
  /** What {@link reclaim} could give back now; what cannot be counted is null. Never rejects. */
  readonly spare: () => Promise<Spare>;
  readonly tell: (uid: string, message: PodMessage) => void;
  readonly changed: () => void;
}
