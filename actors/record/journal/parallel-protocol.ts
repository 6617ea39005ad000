import type { Difference } from './difference.ts';
import type { ReplayPart } from './replay-part.ts';

/** What a thread that replays a part is started with. */
export interface PartTask {
  files: readonly string[];
  part: ReplayPart;
  /** Differences do not end the replay. */
  goOn: boolean;
}

/** To a thread: some lines of a file, shared by all threads; it says `read` when it is done with them. */
export type ToPart =
  | { t: 'lines'; index: number; bytes: SharedArrayBuffer; length: number }
  /** There are no more lines; it answers with `result`. */
  | { t: 'end' };

/** Something in a journal with its place, so that findings of several threads can be put in order. */
export interface Found<T> {
  /** Position among the files. */
  index: number;
  line: number;
  what: T;
}

/** What a part came to. */
export interface PartResult {
  messages: number;
  pods: number;
  unanswered: number;
  /** Names of the machines that had messages. */
  machines: string[];
  /** The first one of each pod (and of each other machine). */
  differences: Found<Difference>[];
  /** Messages of the errors. */
  damages: Found<string>[];
  /** Kinds of records that were left out: a later version has added them. */
  unknownKinds: string[];
}

/** From a thread. */
export type FromPart =
  | { t: 'read' }
  /** It came across something that only a replay of the whole in one thread can judge. */
  | { t: 'giveUp' }
  | { t: 'result'; result: PartResult };
