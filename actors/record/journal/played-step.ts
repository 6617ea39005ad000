import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { AnyJournaled, JournaledMachine, Message } from '../machines/journaled-machine.ts';

/** What a message did to a machine. */
export interface Played<S, O> {
  /** Of a message that begins a life: the machine at its birth. */
  before: S;
  after: S;
  outputs: readonly O[];
  /** Why it threw, and so has changed nothing; null when it did not. */
  fault: string | null;
}

/**
 * Does a recorded message again, as the agent did it: one that begins a life makes a new machine, and a machine that throws
 * stays as it was. All that reads journals steps machines by this. Null when the machine's beginning is not known.
 */
export function playMessage<S, M extends Message, O>(
  machine: JournaledMachine<S, M, O>,
  known: S | null,
  message: M,
  settings: NodeSettings | null,
): Played<S, O> | null {
  const before = machine.born(message, settings) ?? known;
  if (before === null) return null;
  try {
    const { state: after, outputs } = machine.step(before, message);
    return { before, after, outputs, fault: null };
  } catch (error) {
    return { before, after: before, outputs: [], fault: error instanceof Error ? error.message : String(error) };
  }
}

/** A recorded message, done again, with its place among the others. */
export interface PlayedStep extends Played<unknown, unknown> {
  machine: AnyJournaled;
  /** The UID; of a single machine ''. */
  key: string;
  n: number;
  /** The message as it was recorded. */
  raw: Message;
  /** The same with its pods. */
  message: Message;
  /** The state after it as a dotted path; {@link THREW} and why when the machine threw. */
  state: string;
  /** The outputs as they are recorded. */
  packed: readonly unknown[];
}

/** State of a step that threw. */
export const THREW = '(threw)';
