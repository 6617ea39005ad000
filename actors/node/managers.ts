import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { ContainerGcPolicy } from '../../machines/container-gc/container-gc-context.ts';
import type { Reclaimable } from '../../machines/eviction/reclaim-plan.ts';
import type { Spare } from '../../machines/eviction/soundings.ts';
import type { ManagedCondition, NodePressure } from '../../machines/node-object/node-types.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import type { EventRecorder } from '../cluster/events/event-recorder.ts';
import type { FeatureGates } from '../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { LogindEdge } from '../host/logind/logind-edge.ts';
import type { PodLogs } from '../host/logs/pod-logs.ts';
import type { Clock } from '../host/time/clock.ts';
import type { JournalSettings } from '../record/journal/machine-journal.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { Spans } from '../record/tracing/spans.ts';
import { ContainerGcManager } from '../resources/container-gc/container-gc-manager.ts';
import { evictionManager } from '../resources/eviction/eviction-manager.ts';
import type { NodeReclaim, NodeUsageSource } from '../resources/eviction/eviction-ground.ts';
import { shutdownManager } from '../resources/shutdown/shutdown-manager.ts';
import { ImageGcManager } from '../runtime/images/image-gc-manager.ts';
import type { ImageNode } from '../runtime/images/image-node.ts';

/** What a manager has of the node around it. */
export interface ManagerGround {
  readonly config: KubeletConfiguration;
  /** `--experimental-allocatable-ignore-eviction`. */
  readonly allocatableIgnoresEviction?: true;
  readonly featureGates: FeatureGates;
  /** Folder of all that the node keeps. */
  readonly rootDir: string;
  readonly settings: NodeSettings;
  readonly cri: CriClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Absent where nothing is traced. */
  readonly spans?: Spans;
  /** Where it records events. */
  readonly events: EventRecorder;
  /** For the log of its machine ({@link SingleMachine}); null when nothing is journaled. */
  readonly journal: JournalSettings | null;
  /** All pods with their newest status. */
  readonly pods: () => readonly Pod[];
  /** The state of a pod's machine as its actor told it last, `waiting` before that; null when there is no such pod. */
  readonly stateOf: (uid: string) => string | null;
  /** All sources of pods have spoken. */
  readonly sourcesReady: () => boolean;
  /** What the node and its pods use; null where nothing can be measured. */
  readonly usage: NodeUsageSource | null;
  /** Has another manager give back what can be without a pod. Rejects when it fails, or when no manager can. */
  readonly reclaim: (what: Reclaimable) => Promise<void>;
  /** What could be given back now, by whichever manager. Never rejects. */
  readonly spare: () => Promise<Spare>;
  /** To a pod's actor. */
  readonly tell: (uid: string, message: PodMessage) => void;
  readonly images: ImageNode;
  readonly logind: LogindEdge;
  /** The API server, if there is one, knows the newest status of these pods, and whether the node is ready. */
  readonly told: (uids: readonly string[]) => boolean;
  /** The API server, if there is one, knows the newest status of this pod. */
  readonly heardOf: (uid: string) => boolean;
  /** How many ended containers the node keeps. */
  readonly containerGc: ContainerGcPolicy;
  /** Logs of pods on this machine. */
  readonly podLogs: PodLogs;
  /** One of its conditions changed: the node's status is told at once. */
  readonly changed: () => void;
}

/** Something that decides for the whole node (eviction, CPUs, devices ...), with a machine of its own. */
export interface NodeManager {
  readonly name: string;
  /** Called when the runtime was seen, before the first pod comes. */
  start?: () => void | Promise<void>;
  /** Must do no harm when it was not started. */
  stop?: () => void | Promise<void>;
  /** Conditions that it adds to the status of the node's object. */
  conditions?: () => readonly ManagedCondition[];
  /** Pressure of the node, which has conditions and events of its own. */
  pressure?: () => NodePressure;
  /** Why the node is not ready, in kubelet's words; empty when it has nothing against that. */
  notReady?: () => readonly string[];
  /** Why it does not let the node take a pod that arrives; null when it does. Asked before all other admission, in the order of the list. */
  refuses?: (pod: Pod) => { reason: string; message: string } | null;
  /** What it can give back when the node runs short. */
  reclaim?: NodeReclaim;
  /** How much that would be now: images that nobody uses, with what they take. */
  spare?: { readonly images?: () => Promise<NonNullable<Spare['images']>> };
}

/** All managers of a node, in the order in which they are started: a new one is added here (docs/architecture.md). */
const MANAGERS: readonly ((ground: ManagerGround) => NodeManager)[] = [
  evictionManager,
  shutdownManager,
  (ground) => new ContainerGcManager({ ...ground, policy: ground.containerGc }),
  (ground) => new ImageGcManager(ground),
];

/** Makes them; none does anything yet. */
export function makeManagers(ground: ManagerGround): NodeManager[] {
  return MANAGERS.map((make) => make(ground));
}

/** The pressure that any of them tells of. */
export function pressureOf(managers: readonly NodeManager[]): NodePressure {
  const all = managers.flatMap(({ pressure }) => pressure?.() ?? []);
  const any = (kind: keyof NodePressure): boolean => all.some((each) => each[kind]);
  return { memory: any('memory'), disk: any('disk'), pid: any('pid') };
}

/** Why the node is not ready, as any of them says. */
export function notReadyBy(managers: readonly NodeManager[]): string[] {
  return managers.flatMap(({ notReady }) => notReady?.() ?? []);
}

/** Why one of them does not take a pod; null when all do. */
export function refusalOf(managers: readonly NodeManager[], pod: Pod): { reason: string; message: string } | null {
  for (const { refuses } of managers) {
    const refusal = refuses?.(pod) ?? null;
    if (refusal !== null) return refusal;
  }
  return null;
}

/** Has all of them that can give this back. */
export async function reclaimBy(managers: readonly NodeManager[], what: Reclaimable): Promise<void> {
  const able = managers.flatMap(({ reclaim }) => reclaim?.[what] ?? []);
  if (able.length === 0) throw new Error(`nothing here removes unused ${what} yet`);
  for (const give of able) await give();
}
