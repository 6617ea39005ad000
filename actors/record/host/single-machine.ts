import { MachineJournal } from '../journal/machine-journal.ts';
import type { JournalSettings } from '../journal/machine-journal.ts';
import type { JournaledMachine, Message } from '../machines/journaled-machine.ts';
import type { Hosted } from './machine-host.ts';
import { MachineHost } from './machine-host.ts';

/** One machine, at home by itself with a log of its own: what a manager of the node needs. */
export class SingleMachine<S, M extends Message, O> {
  private readonly hosted: Hosted<S>;
  private readonly host: MachineHost<S, M, O>;

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
    this.hosted = { key: '', state: born };
    const log = journal === null ? null : new MachineJournal(machine, journal, about, () => [this.hosted]);
    this.host = new MachineHost(machine, log);
  }

  get state(): S {
    return this.hosted.state;
  }

  /** Journals a message and handles it; returns its orders, which are the caller's to carry out. Throws what the machine throws. */
  take(message: M): O[] {
    return this.host.take(this.hosted, message);
  }

  /** Handles a message that changes nothing in the machine: it does not stand in the journal. Throws what the machine throws. */
  takeUnrecorded(message: M): O[] {
    return this.host.takeUnrecorded(this.hosted, message);
  }

  close(): void {
    this.host.close();
  }
}
