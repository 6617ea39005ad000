import type { AddressPool } from './address-pool.ts';
import type { CallJournal } from './call-journal.ts';
import type { EventHub } from './event-hub.ts';
import type { ExecAnswers } from './exec-answers.ts';
import type { FaultRules } from './fault-rules.ts';
import type { Hangs } from './hangs.ts';
import type { ImageStore } from './image-store.ts';
import type { LogWriter } from './log-writer.ts';
import type { NameReservations } from './name-reservations.ts';
import type { NanoClock } from './nano-clock.ts';
import type { Processes } from './processes.ts';
import type { Readiness } from './readiness.ts';
import type { RecordIndex } from './record-index.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import type { ContainerBehaviour, SimPlan } from './script.ts';
import type { SimTime } from './sim-time.ts';
import type { Timers } from './timers.ts';

/** All that the services of one simulated runtime share. */
export interface SimCore {
  readonly plan: SimPlan;
  readonly seed: number;
  readonly time: SimTime;
  /** Ms since the epoch: the script's time zero. */
  readonly startedAt: number;
  readonly clock: NanoClock;
  readonly timers: Timers;
  readonly sandboxes: RecordIndex<SandboxRecord>;
  readonly containers: RecordIndex<ContainerRecord>;
  readonly sandboxNames: NameReservations;
  readonly containerNames: NameReservations;
  /** One for each address family. */
  readonly addresses: readonly AddressPool[];
  readonly images: ImageStore;
  readonly logs: LogWriter;
  readonly events: EventHub;
  readonly processes: Processes;
  readonly faults: FaultRules;
  readonly hangs: Hangs;
  readonly exec: ExecAnswers;
  readonly readiness: Readiness;
  readonly calls: CallJournal;
  /** How a container behaves for which the plan says nothing; undefined: it runs until it is stopped. */
  readonly otherwise: ((sandbox: SandboxRecord, container: string) => ContainerBehaviour | undefined) | undefined;
  /** Ids given so far: part of the next one. */
  idsGiven: number;
}
