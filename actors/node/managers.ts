import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { ManagedCondition } from '../../machines/node-object/node-types.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import type { EventRecorder } from '../cluster/events/event-recorder.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { Clock } from '../host/time/clock.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { JournalShares } from './journal-shares.ts';

/** What a manager has of the node around it. */
export interface ManagerGround {
  readonly config: KubeletConfiguration;
  readonly settings: NodeSettings;
  readonly cri: CriClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Where it records events. */
  readonly events: EventRecorder;
  /** Null when nothing is journaled. */
  readonly journals: JournalShares | null;
  /** How the agent calls itself in journals. */
  readonly agent: string;
  /** All pods with their newest status. */
  readonly pods: () => readonly Pod[];
  /** To a pod's actor. */
  readonly tell: (uid: string, message: PodMessage) => void;
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
}

/** All managers of a node, in the order in which they are started: a new one is added here (docs/architecture.md). */
const MANAGERS: readonly ((ground: ManagerGround) => NodeManager)[] = [];

/** Makes them; none does anything yet. */
export function makeManagers(ground: ManagerGround): NodeManager[] {
  return MANAGERS.map((make) => make(ground));
}
