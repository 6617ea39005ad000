import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';

/** A message as every machine's: its kind, and when it came, ms since the epoch. */
export interface Message {
  type: string;
  at: number;
}

/** How a record refers to a pod's spec that stands before it. */
export interface SpecReference {
  $spec: string;
}

/** Gives the reference that stands for a pod in a record. */
export type Refer = (pod: Pod) => SpecReference;

/** What of a journal a record needs beside itself. */
export interface Surroundings {
  /** What the shard's machines know of their node; null before a shard's segment has begun. */
  readonly settings: NodeSettings | null;
  /** The pod behind a reference; undefined when its spec did not stand before. */
  spec: (id: string) => Pod | undefined;
  /** The same. Throws when its spec did not stand before. */
  podOf: (reference: SpecReference) => Pod;
}

/** A machine's place as the beginning of a segment has it. */
export interface WrittenPlace {
  /** Fields of the segment's first record; of machines that there are many of: none. */
  head: object;
  /** Fields of one `snap` record each. */
  rows: Iterable<object>;
}

/** What a step comes to. */
export interface Stepped<S, O> {
  state: S;
  outputs: O[];
}

/**
 * A machine that is journaled: with this alone it is hosted (`record/host`), its records are written and read, and
 * `replay`, `explain` and the inspector step it again. All of it is pure. A new one is made with {@link journaled} and
 * stands in `registry.ts`.
 */
export interface JournaledMachine<S, M extends Message, O> {
  /** How people call it, e.g. `supervisor`; its log is called so, too: `<name>-<seq>.jsonl`. */
  readonly name: string;
  /** Its records' kinds begin with this and a dot; '' = with nothing. */
  readonly prefix: string;
  /** Folder of its log within the journal's; '' = the journal's own, where actorlet 0.1.0 reads all files. */
  readonly folder: string;
  /** There are many of it: its records name a UID, a place is one `snap` record, and a message begins a life. */
  readonly many: boolean;
  /** What comes out of a step, in words of a difference, and the field of the `step` record that has it. */
  readonly output: { word: 'effect' | 'order'; field: 'e' | 'o' };
  /** One step. One that throws has changed nothing. */
  step(state: S, message: M): Stepped<S, O>;
  /** The state as a dotted path, e.g. `ready.running`. */
  stateName(state: S): string;
  /** What it waits for, or what is wrong, in words; '' when nothing is. For people: nothing is decided by it. */
  why(state: S): string;
  /** The name of what it is about, e.g. `default/web`, in a difference or a printed step. */
  label(state: S): string;
  /** Its place, to be written at the beginning of a segment. */
  write(state: S, refer: Refer): WrittenPlace;
  /** The written place again; null when what it refers to is not there. Throws when it is none. */
  revive(head: object, rows: readonly object[], around: Surroundings): S | null;
  /** A life that this message begins; null when it begins none. */
  born(message: M, settings: NodeSettings | null): S | null;
  /** A message as its record has it: pods as references. */
  packMessage(message: M, refer: Refer): unknown;
  /** The message of a record. Throws when what it refers to is not there. */
  unpackMessage(raw: Message, around: Surroundings): M;
  /** Outputs as their record has them: pods as references. */
  packOutputs(outputs: readonly O[], refer: Refer): readonly unknown[];
  /** Packed outputs as a JSON list, byte for byte as `JSON.stringify` writes it. */
  outputsText(packed: readonly unknown[]): string;
  /** Whether `text`, from `start` to `end`, is {@link outputsText} of these. */
  isOutputsText(packed: readonly unknown[], text: string, start: number, end: number): boolean;
}

/** Any journaled machine, for those who do not look into it. */
export type AnyJournaled = JournaledMachine<unknown, Message, unknown>;

type Needed = 'name' | 'step' | 'stateName';

/** What is told of a machine; its state is its context, plain JSON, unless `write` and `revive` say otherwise. */
export type Declaration<S, M extends Message, O> = Pick<JournaledMachine<S, M, O>, Needed> &
  Partial<Omit<JournaledMachine<S, M, O>, Needed>>;

/** Makes a declaration whole: one machine with a folder, a log and records of its name, and no pods in its messages. */
export function journaled<S, M extends Message, O>(declared: Declaration<S, M, O>): JournaledMachine<S, M, O> {
  const { name } = declared;
  return {
    prefix: name,
    folder: name,
    many: false,
    output: { word: 'order', field: 'o' },
    why: () => '',
    label: () => name,
    write: (state) => ({ head: { context: state }, rows: [] }),
    revive: (head) => (head as { context: S }).context,
    born: () => null,
    packMessage: (message) => message,
    unpackMessage: (raw) => raw as M,
    packOutputs: (outputs) => outputs,
    outputsText: (packed) => JSON.stringify(packed),
    isOutputsText: (packed, text, start, end) => text.slice(start, end) === JSON.stringify(packed),
    ...declared,
  };
}
