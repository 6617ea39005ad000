import { AddressPool } from './address-pool.ts';
import { CallJournal } from './call-journal.ts';
import { EventHub } from './event-hub.ts';
import { ExecAnswers } from './exec-answers.ts';
import { FaultRules } from './fault-rules.ts';
import { Hangs } from './hangs.ts';
import { ImageStore } from './image-store.ts';
import { LogWriter } from './log-writer.ts';
import { NameReservations } from './name-reservations.ts';
import { NanoClock } from './nano-clock.ts';
import { Processes } from './processes.ts';
import { Readiness } from './readiness.ts';
import { RecordIndex } from './record-index.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import type { SimPlan } from './script.ts';
import type { SimCore } from './sim-core.ts';
import { REAL_TIME } from './sim-time.ts';
import type { SimTime } from './sim-time.ts';
import { Timers } from './timers.ts';

/** Parts that whoever keeps many runtimes in one process has otherwise. */
export interface CoreParts {
  /** Where containers' output goes; files by default. */
  logs?: LogWriter;
  /** Images by id are looked up here; those of the plan by default. */
  images?: ImageStore;
  /** How containers behave for which the plan says nothing. */
  otherwise?: SimCore['otherwise'];
  /** The time it lives in; the machine's by default. */
  time?: SimTime;
  /** How many calls are remembered in full, 2,000 by default. */
  callsKept?: number;
}

/** An empty runtime that will behave as the plan says. */
export function buildCore(plan: SimPlan, seed: number, parts: CoreParts = {}): SimCore {
  const { time = REAL_TIME } = parts;
  const startedAt = time.now();
  const age = (): number => time.now() - startedAt;
  const clock = new NanoClock(time);
  const timers = new Timers(time);
  const logs = parts.logs ?? new LogWriter();
  const events = new EventHub(clock, true);
  const containers = new RecordIndex<ContainerRecord>();
  return {
    plan,
    seed,
    time,
    startedAt,
    clock,
    timers,
    logs,
    events,
    containers,
    sandboxes: new RecordIndex<SandboxRecord>(),
    sandboxNames: new NameReservations('sandbox'),
    containerNames: new NameReservations('container'),
    addresses: plan.runtime.podCIDRs.map((cidr) => new AddressPool(cidr)),
    images: parts.images ?? new ImageStore(plan.images),
    processes: new Processes({ seed, clock, timers, logs, events, containers }),
    faults: new FaultRules(plan, seed, age),
    hangs: new Hangs(),
    exec: new ExecAnswers(),
    readiness: new Readiness(plan.runtime.notReady, age),
    calls: new CallJournal(parts.callsKept),
    otherwise: parts.otherwise,
    idsGiven: 0,
  };
}
