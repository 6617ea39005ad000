import type { MachineJournal } from '../journal/machine-journal.ts';
import type { JournaledMachine, Message, Stepped } from '../machines/journaled-machine.ts';

/** A machine at home in a host. */
export interface Hosted<S> {
  /** Its UID; of a single machine ''. */
  readonly key: string;
  state: S;
}

/**
 * Hosts journaled machines: a message is journaled before it is handled, then the machine is stepped, and what it came to is
 * journaled. A machine that throws keeps its state. What it orders is for the owner to carry out.
 */
export class MachineHost<S, M extends Message, O> {
  private readonly machine: JournaledMachine<S, M, O>;
  private journal: MachineJournal<S, M, O> | null;

  /** @param journal null = none is kept */
  constructor(machine: JournaledMachine<S, M, O>, journal: MachineJournal<S, M, O> | null) {
    this.machine = machine;
    this.journal = journal;
  }

  /** Gathers a message for the journal; {@link flush} must run before it is handled. Returns its number. */
  announce(key: string, message: M): number {
    return this.journal?.message(key, message) ?? 0;
  }

  /** Writes what was gathered. */
  flush(): void {
    this.journal?.flush();
  }

  /** Calls back when what was flushed is on the disk; at once where that is so, or where there is no journal. */
  whenWritten(then: () => void): void {
    if (this.journal === null) then();
    else this.journal.whenWritten(then);
  }

  /** Writes what was gathered soon, and begins a new segment when the current one is full. Between messages. */
  settle(): void {
    this.journal?.flushSoon();
    this.journal?.rotateIfFull();
  }

  /** Handles the message `n`; returns what it came to. Throws what the machine throws, once the journal has it. */
  step(n: number, hosted: Hosted<S>, message: M): O[] {
    const { machine, journal } = this;
    let stepped: Stepped<S, O>;
    try {
      stepped = machine.step(hosted.state, message);
    } catch (error) {
      journal?.fault(n, hosted.key, faultWords(error));
      throw error;
    }
    hosted.state = stepped.state;
    journal?.step(n, hosted.key, machine.stateName(stepped.state), stepped.outputs);
    return stepped.outputs;
  }

  /** Journals and handles one message alone. Throws as {@link step}. */
  take(hosted: Hosted<S>, message: M): O[] {
    const n = this.announce(hosted.key, message);
    // Nobody waits for it to be on the disk.
    this.journal?.flushSoon();
    try {
      return this.step(n, hosted, message);
    } finally {
      this.settle();
    }
  }

  /** Closes the journal; what comes later is handled, and is in none. */
  close(): void {
    this.journal?.close();
    this.journal = null;
  }

  /** Handles a message that changes nothing in the machine, and so does not stand in the journal. */
  takeUnrecorded(hosted: Hosted<S>, message: M): O[] {
    const { state, outputs } = this.machine.step(hosted.state, message);
    hosted.state = state;
    return outputs;
  }
}

/** What a machine threw, in the words of the journal: with the place in the program. */
export function faultWords(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
