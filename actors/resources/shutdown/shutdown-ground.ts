import type { Logger } from 'pino';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import type { ShutdownFields } from '../../../machines/shutdown/shutdown-groups.ts';
import type { FeatureGates } from '../../configure/configuration/feature-gates.ts';
import type { LogindEdge } from '../../host/logind/logind-edge.ts';
import type { Clock } from '../../host/time/clock.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';

/** What graceful shutdown needs of the node around it. */
export interface ShutdownGround {
  readonly config: ShutdownFields;
  readonly featureGates: FeatureGates;
  readonly rootDir: string;
  readonly settings: Pick<NodeSettings, 'nodeName'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'shutdownStart' | 'shutdownEnd'>;
  readonly events: { record(event: RecordedEvent): void };
  readonly journal: JournalSettings | null;
  readonly logind: LogindEdge;
  readonly pods: () => readonly Pod[];
  readonly stateOf: (uid: string) => string | null;
  /** The API server knows the newest status of these pods, and that the node is not ready. */
  readonly told: (uids: readonly string[]) => boolean;
  readonly tell: (uid: string, message: PodMessage) => void;
  readonly changed: () => void;
}
