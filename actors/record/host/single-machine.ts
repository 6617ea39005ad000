import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeErrors } from '../../../machines/errors/node-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { MachineJournal } from '../journal/machine-journal.ts';
import type { JournalSettings } from '../journal/machine-journal.ts';
import type { JournaledMachine, Message } from '../machines/journaled-machine.ts';
import type { Hosted } from './machine-host.ts';
import { MachineHost } from './machine-host.ts';

/** What came of a message. `failure`: why the machine did not take it; then nothing is ordered, and its state is as before. */
export type Attempt<O> = { orders: O[]; failure: null } | { orders: []; failure: ActorletError };

/** One machine, at home by itself with a log of its own: what a manager of the node needs. */
export class SingleMachine<S, M extends Message, O extends { type: string }> {
  private readonly name: string;
  private readonly hosted: Hosted<S>;
  private readonly host: MachineHost<S, M, O>;
  private readonly journal: MachineJournal<S, M, O> | null;

  /**
   * @param journal null: what it is told stands nowhere
   * @param about further fields of a segment's first record
   */
  constructor(
    machine: JournaledMachine<S, M, O>,
    born: S,
    journal: JournalSettings | null,
    about: { nodeName?: string } = {},
  ) {
    this.name = machine.name;
    this.hosted = { key: '', state: born };
    this.journal = journal === null ? null : new MachineJournal(machine, journal, about, () => [this.hosted]);
    this.host = new MachineHost(machine, this.journal);
  }

  get state(): S {
    return this.hosted.state;
  }

  /** Bytes written to the journal so far. */
  get journalBytes(): number {
    return this.journal?.totalBytes ?? 0;
  }

  /** Journals a message and handles it; returns its orders, which are the caller's to carry out. Throws what the machine throws. */
  take(message: M): O[] {
    return this.host.take(this.hosted, message);
  }

  /** Handles a message that changes nothing in the machine: it does not stand in the journal. Throws what the machine throws. */
  takeUnrecorded(message: M): O[] {
    return this.host.takeUnrecorded(this.hosted, message);
  }

  /**
   * As {@link take}, but never throws: a machine that does must not end who told it something, which may be a timer or an answer that nobody waits
   * for, and with it the whole agent. The fault is in the journal and is told here; who waits for what the message was about is the caller's to tell.
   *
   * @param unrecorded as {@link takeUnrecorded}
   */
  attempt(message: M, log: Logger, unrecorded = false): Attempt<O> {
    try {
      return { orders: unrecorded ? this.takeUnrecorded(message) : this.take(message), failure: null };
    } catch (error) {
      const params = { machine: this.name, message: message.type, problem: messageOf(error) };
      const failure = new ActorletError(nodeErrors.machineFailed, params, { cause: error });
      log.error({ err: failure }, 'A machine of the node failed');
      return { orders: [], failure };
    }
  }

  /**
   * {@link attempt}s a message, and has each order carried out. Never throws: what fails at one order, which is told, holds up none of the others.
   *
   * @returns why the machine did not take the message; null when it did
   */
  handle(message: M, log: Logger, carryOut: (order: O) => void): ActorletError | null {
    const { orders, failure } = this.attempt(message, log);
    for (const order of orders) this.carriedOut(order, log, carryOut);
    return failure;
  }

  /** Has one order carried out; what fails there is told, and does not throw. */
  carriedOut(order: O, log: Logger, carryOut: (order: O) => void): void {
    try {
      carryOut(order);
    } catch (error) {
      this.orderFailed(order, log, error);
    }
  }

  /** Tells that an order failed: of one that is carried out later, its caller finds out. */
  orderFailed(order: O, log: Logger, error: unknown): void {
    const params = { machine: this.name, order: order.type, problem: messageOf(error) };
    log.error({ err: new ActorletError(nodeErrors.orderFailed, params, { cause: error }) }, 'An order failed');
  }

  close(): void {
    this.host.close();
  }
}
