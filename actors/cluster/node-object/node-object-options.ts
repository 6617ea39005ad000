import type { Logger } from 'pino';
import type { ManagedCondition, NodePressure } from '../../../machines/node-object/node-types.ts';
import type { DeviceCapacity } from '../../../machines/devices/device-capacity.ts';
import type { ObjectMessage } from '../../../machines/node-object/object-messages.ts';
import type { RuntimeHealth } from '../../../machines/node-object/ready-message.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { WithoutTime } from '../../../machines/protocol/without-time.ts';
import type { ApiClient } from '../api/api-client.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../../configure/configuration/kubelet-flags.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import type { EventSink } from '../events/event-sink.ts';
import type { NodeFactsSource } from './node-facts-reader.ts';
import type { NodeCri } from './runtime-facts.ts';

/** What a node object is made from. */
export interface NodeObjectOptions {
  api: ApiClient;
  config: KubeletConfiguration;
  flags: KubeletFlags;
  cri: NodeCri;
  events: EventSink;
  log: Logger;
  settings: Pick<NodeSettings, 'nodeName' | 'runtimeName' | 'cgroupVersion'>;
  /** The runtime's state of now; `runtimeHealthOf` words it. */
  runtimeState: () => RuntimeHealth;
  /** Why PLEG is not healthy, null when it is. */
  plegError: () => string | null;
  /** Eviction manager; without one there is no pressure. */
  pressure?: () => NodePressure;
  /** Conditions of the node's managers, beside pressure and Ready. */
  conditions?: () => readonly ManagedCondition[];
  /** What the node has of its plugins' devices. */
  devices?: () => DeviceCapacity;
  /** Attachable volumes that the node uses; null while that is not known. */
  volumesInUse?: () => readonly string[] | null;
  /** The object's addresses as pods are told them, whenever they may be others. */
  onHostIPs?: (ips: string[]) => void;
  /** The object may be another: what the API server has of it was heard. */
  onNode?: () => void;
  /** Errors of a node that shuts down. */
  shutdownErrors?: () => string[];
  /** Told of the steps of the node's start, for metrics. */
  startup?: { attempted(): void; registered(): void; becameReady(): void };
  /** ms since the epoch; Date.now by default. */
  now?: () => number;
  /** A clock that nobody can set, ms; the machine's, when it is not given. */
  steady?: () => number;
  /** Where messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
  /** What machine and addresses are; read from this machine unless given. */
  facts?: NodeFactsSource;
  /** In [0, 1), to spread pauses by; Math.random unless given. */
  random?: () => number;
}

/** Tells the node object's machine something of now. */
export type TakeObject = (message: WithoutTime<ObjectMessage>) => void;
