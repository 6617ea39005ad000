import type { LabelRules } from '../../machines/volumes/selinux-label.ts';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { DeviceCapacity } from '../../machines/devices/device-capacity.ts';
import type { RuntimeHealth } from '../../machines/node-object/ready-message.ts';
import type { ManagedCondition, NodePressure } from '../../machines/node-object/node-types.ts';
import type { Ask, ObjectContent } from '../../machines/protocol/ask.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { RecordedEvent } from '../../machines/protocol/recorded-event.ts';
import type { PodMessage } from '../../machines/protocol/messages.ts';
import type { ObservedPod } from '../../machines/protocol/observed.ts';
import type { EventRecorder } from '../cluster/events/event-recorder.ts';
import type { ProjectQuotas } from '../host/quota/project-quotas.ts';
import type { LogindEdge } from '../host/logind/logind-edge.ts';
import type { PodLogs } from '../host/logs/pod-logs.ts';
import type { Clock } from '../host/time/clock.ts';
import type { UserNamespaces } from '../host/userns/user-namespaces.ts';
import type { NodeView } from '../pods/store/node-view.ts';
import type { PodStore } from '../pods/store/pod-store.ts';
import type { ClaimManager, ClaimManagerOptions } from '../resources/claims/claim-manager.ts';
import type { CsiApi } from '../resources/csi/csi-api.ts';
import type { DeviceManager, DeviceManagerOptions } from '../resources/devices/device-manager.ts';
import type { VolumeManager } from '../resources/volumes/volume-manager.ts';
import type { VolumeKind } from '../resources/volumes/volume-plugin.ts';
import type { StatsOptions } from '../resources/stats/stats-options.ts';
import type { NodeUsageSource } from '../resources/eviction/eviction-ground.ts';
import type { NodeAdmission } from '../resources/admission/node-admission.ts';
import type { Supervisor } from '../pods/supervisor/supervisor.ts';
import type { JournalSettings } from '../record/journal/machine-journal.ts';
import type { ImagePuller } from '../runtime/images/image-puller.ts';
import type { WorkerDeath } from '../pods/shard/shard-pool.ts';
import type { FromShard, ToShard } from '../pods/shard/shard-protocol.ts';
import type { LoginSources } from '../runtime/images/pull-logins.ts';
import type { TokenSources } from '../runtime/images/plugin-token.ts';
import type { ImageNode } from '../runtime/images/image-node.ts';
import type { PullRecords } from '../runtime/images/pull-records.ts';
import type { Cluster, ClusterLinks } from './cluster.ts';
import type { Part } from './lifecycle.ts';
import type { PodMetrics } from './pod-metrics.ts';
import type { Resync } from './resync.ts';

/**
 * All by which a node touches the world. Made for real in `real-edges.ts`, for the simulation in `test/simulation/world`, for
 * simulated machines with a real API server in `fleet`; everything between them is made once, in `build-node.ts`.
 */
export interface NodeEdges {
  readonly clock: Clock;
  readonly cri: CriClient;
  /** Where the pods' machines live. */
  readonly shards: (links: ShardLinks) => ShardHost;
  /** What the node's folders and the configuration say of images; credential provider plugins. */
  readonly images: (links: ImageLinks) => ImageEdge;
  readonly userNamespaces: Pick<UserNamespaces, 'get' | 'release'>;
  /** Device plugins, and where it is written down who has their devices; null where none can come. */
  readonly devices: DeviceEdge | null;
  /** Drivers of dynamic resources; null where none can come. */
  readonly claims: ClaimEdge | null;
  /** Kinds of volumes that the main thread sets up. */
  readonly volumes: (links: VolumeLinks) => readonly VolumeKind[];
  /** How volumes are mounted with SELinux labels; absent where they are not. */
  readonly labelRules?: LabelRules | undefined;
  /** Null on a standalone node. */
  readonly cluster: ClusterEdge | null;
  /** Projects of volumes, by which file systems count them; absent where none do. */
  readonly quotas?: Pick<ProjectQuotas, 'assign' | 'release'> | undefined;
  /** What the node and its pods use; null where nothing can be measured. */
  readonly usage: (node: MeasuredNode) => NodeUsageSource | null;
  /** Says when the machine is about to go down. */
  readonly logind: LogindEdge;
  /** Housekeeping and rotation of logs on this machine. */
  readonly host: (links: HostLinks) => Part[];
  /** Logs of pods on this machine. */
  readonly podLogs: PodLogs;
  /** What PLEG saw, on its way to the supervisor. */
  readonly seen: (observed: ObservedPod, take: (observed: ObservedPod) => void) => void;
  /** What the node shows to others. */
  readonly pages: (shown: ShownNode) => Part[];
}

/** The pods whose use is measured. */
export type MeasuredNode = Pick<NodeView, 'nodeName' | 'pods'> & Pick<StatsOptions, 'claimed' | 'onAbnormal'>;

/** The pods' machines: worker threads, or what a simulation has for them. */
export interface ShardHost {
  start(): Promise<void>;
  post(shard: number, message: ToShard): void;
  /** How much the workers log from now on (`--v`). */
  setVerbosity(level: number): void;
  /** What of it does not answer for too long; null when all of it does. */
  unhealthy(): string | null;
  stop(): Promise<void>;
}

/** Who hears of the shards. */
export interface ShardLinks {
  onMessage: (shard: number, message: FromShard) => void;
  /** A worker died or hung and a new one has taken its place, empty; `death`: of what, when anything is known of it. */
  onReplaced: (shard: number, death?: WorkerDeath) => void;
}

/** What images need of the node's own files. */
export interface ImageEdge extends Pick<LoginSources, 'nodeLogins' | 'providers'>, ImageNode {
  /** Null: pods may use every image of the node (gate KubeletEnsureSecretPulledImages off). */
  records: PullRecords | null;
}

/** What plugins ask the cluster for. */
export interface ImageLinks {
  tokens: () => TokenSources | undefined;
}

/** The way to device plugins. */
export type DeviceEdge = Pick<DeviceManagerOptions, 'plugins' | 'checkpoint'>;

/** The way to drivers of dynamic resources, and where it is written down what they prepared. */
export type ClaimEdge = Pick<ClaimManagerOptions, 'drivers' | 'checkpoint' | 'healthFile'>;

/** What kinds of volumes need of the node. */
export interface VolumeLinks {
  /** An event of the pod that uses a volume. */
  warn: (pod: Pod, reason: string, message: string) => void;
  /** The API server's side of CSI; null on a standalone node. */
  csi: () => CsiApi | null;
  /** A secret as it is now. Rejects also when there is none, and on a standalone node. */
  secret: (namespace: string, name: string) => Promise<ObjectContent>;
  /** Where CSI drivers' messages are journaled; undefined with `--no-journal`. */
  journal: JournalSettings | undefined;
}

/** The way to an API server. */
export interface ClusterEdge {
  connect(links: ClusterLinks & ClusterNodeLinks): Cluster;
}

/** What the node's object tells of. */
export interface ClusterNodeLinks {
  cri: CriClient;
  clock: Clock;
  events: EventRecorder;
  runtimeState: () => RuntimeHealth;
  /** Why PLEG is not healthy, null when it is. */
  plegError: () => string | null;
  /** Conditions of the node's managers, beside Ready. */
  conditions: () => readonly ManagedCondition[];
  /** Pressure that the node's managers tell of. */
  pressure: () => NodePressure;
  /** What the node has of its plugins' devices. */
  devices: () => DeviceCapacity;
  /** Attachable volumes that the node uses; null while that is not known. */
  volumesInUse: () => readonly string[] | null;
  /** The object's addresses as pods are told them, whenever they may be others. */
  onHostIPs: (ips: string[]) => void;
  /** The object may be another. */
  onNode: () => void;
  /** Why the node is not ready, as its managers say. */
  shutdownErrors: () => string[];
  /** To a pod's actor. */
  tell: (uid: string, message: PodMessage) => void;
  /** Where its machines' messages are journaled; undefined with `--no-journal`. */
  journalOf: (share: 'status' | 'nodeObject') => JournalSettings | undefined;
}

/** What housekeeping asks. */
export interface HostLinks {
  /** A pod of this UID has an actor, or the runtime still holds something of it. */
  alive: (uid: string) => boolean;
  /** Asks what the node has. */
  askNode: Ask;
  /** Nothing may be removed before all sources have spoken and the runtime was listed. */
  ready: () => boolean;
  /** Sum of the cpu shares of all burstable pods. */
  burstableShares: () => number;
  /** Bytes of memory that pods ask for: all of them, and burstable ones alone. */
  memoryMin: () => { all: number; burstable: number };
  /** Tells of the node. */
  record: (event: RecordedEvent) => void;
  /** Where housekeeping's messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
}

/** The parts that the servers tell of. */
export interface ShownNode {
  readonly admission: Pick<NodeAdmission, 'resources' | 'active'>;
  /** Null where no device plugin can come. */
  readonly devices: Pick<DeviceManager, 'state' | 'problem'> | null;
  /** Null where no driver can come. */
  readonly claims: Pick<ClaimManager, 'state'> | null;
  readonly volumes: Pick<VolumeManager, 'state' | 'plugins'>;
  readonly store: PodStore;
  readonly resync: Pick<Resync, 'late'>;
  readonly puller: ImagePuller;
  readonly supervisor: Supervisor;
  readonly shards: ShardHost;
  readonly podMetrics: PodMetrics;
  /** Null on a standalone node. */
  readonly cluster: Cluster | null;
  readonly now: () => number;
}
