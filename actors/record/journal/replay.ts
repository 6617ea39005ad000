import { ActorletError } from '../../../machines/errors/define.ts';
import { journalErrors } from '../../../machines/errors/journal-errors.ts';
import type { AnyJournaled } from '../machines/journaled-machine.ts';
import { JOURNALED } from '../machines/registry.ts';
import type { Difference } from './difference.ts';
import { differenceOf } from './difference.ts';
import type { JournalBatch, JournalLine } from './journal-reader.ts';
import { parseLine } from './journal-reader.ts';
import { Playback } from './playback.ts';
import type { JournalRecord, Kinds } from './records.ts';
import { kindsOf } from './records.ts';
import type { ReplayPart } from './replay-part.ts';
import { partOfLine, partOfPod } from './replay-part.ts';
import type { Selection } from './selection.ts';
import { isAfter, isBefore, isChosen } from './selection.ts';

/** What a replay came to. */
export interface ReplayResult {
  messages: number;
  pods: number;
  /** Names of the machines that had messages, e.g. `pods`: only these were compared. */
  machines: string[];
  /** The first one; null when everything is identical. */
  difference: Difference | null;
  /** Messages at the end whose outcome was never written (the agent was killed in between). */
  unanswered: number;
}

/** One step as it was computed, for those who look on. */
export interface ReplayedStep {
  file: string;
  line: number;
  n: number;
  at: number;
  /** '' of a machine that is not a pod's. */
  uid: string;
  /** `namespace/name`, or the name of the machine. */
  pod: string;
  message: { type: string; at: number };
  state: string;
  /** Effects, of other machines than pods their orders. */
  outputs: readonly unknown[];
}

/** What a replay looks at, and who looks on. */
export interface ReplayOptions extends Selection {
  /** Is told each step of the chosen part, with what was computed. */
  onStep?: (step: ReplayedStep) => void;
  /** Steps this part of the pods only, of a journal whose lines are all given. */
  part?: ReplayPart;
  /** Is told what is damaged or missing; the reading goes on with the next file. Without it the damage is thrown. */
  onDamage?: (damage: ActorletError) => void;
  /** Is told the kind of each record that a later version has added; it is left out. */
  onUnknownKind?: (kind: string) => void;
  /** All machines that there are, unless others are named. */
  machines?: readonly AnyJournaled[];
}

/** Steps the same machines over recorded messages and compares states and effects byte for byte. */
export class Replayer {
  private readonly options: ReplayOptions;
  private readonly playback: Playback;
  private readonly kinds: Kinds;
  private readonly seen = new Set<string>();
  private readonly machines = new Set<AnyJournaled>();
  /** The last segment of each log that was read. */
  private readonly segments = new Map<string, number>();
  private messages = 0;
  private here = { file: '', line: 0 };

  constructor(options: ReplayOptions = {}) {
    this.options = options;
    const { machines = JOURNALED } = options;
    this.kinds = kindsOf(machines);
    this.playback = new Playback({ machines, follows: (machine, key, state) => this.follows(machine, key, state) });
  }

  /** Takes one line; returns the difference that it shows, if any. */
  take({ file, line, text }: JournalLine): Difference | null {
    return this.takeText(file, line, text);
  }

  /** The same without an object around it. */
  takeText(file: string, line: number, text: string): Difference | null {
    const { part } = this.options;
    const owner = part === undefined ? null : partOfLine(text, part.of);
    if (owner !== null && owner !== part?.index) return null;
    // Most outcomes are byte for byte what is expected, and need not be parsed.
    if (this.playback.isExpected(text)) return null;
    this.here = { file, line };
    const record = parseLine({ file, line, text }, this.kinds);
    if (record.t === 'unknown') {
      this.options.onUnknownKind?.(record.kind);
      return null;
    }
    if (part !== undefined && isForeign(record, part)) {
      if (owner === null) return null;
      throw new Error(`${file}, line ${line}: nobody can tell whose it is`);
    }
    try {
      return this.takeRecord(record);
    } catch (error) {
      if (error instanceof ActorletError) throw error;
      // JSON of other types than the agent wrote: as damaged as what is no JSON.
      const problem = error instanceof Error ? error.message : String(error);
      throw new ActorletError(journalErrors.badRecord, { file, line, problem }, { cause: error });
    }
  }

  result(difference: Difference | null): ReplayResult {
    const { messages, playback } = this;
    const { machines = JOURNALED } = this.options;
    const replayed = machines.filter((machine) => this.machines.has(machine)).map(({ name }) => name);
    return { messages, pods: this.seen.size, machines: replayed, difference, unanswered: playback.unanswered };
  }

  private takeRecord(record: JournalRecord): Difference | null {
    switch (record.t) {
      case 'msg':
        this.step(record);
        return null;
      case 'step':
      case 'fault': {
        const found = this.playback.outcome(record);
        return found === null ? null : differenceOf(found.step, found.recorded, this.here);
      }
      default:
        this.playback.begin(record);
        if (record.t === 'segment') this.checkSegment(logOf(record), record.seq);
        return null;
    }
  }

  /** Segments of one log are numbered without gaps; only the oldest are ever dropped. */
  private checkSegment(log: string, seq: number): void {
    const before = this.segments.get(log);
    this.segments.set(log, seq);
    if (before === undefined || seq <= before + 1) return;
    const count = seq - before - 1;
    const error = new ActorletError(journalErrors.missingSegments, { ...this.here, log, seq, count });
    this.options.onDamage?.(error);
  }

  private follows(machine: AnyJournaled, key: string, state: unknown): boolean {
    const { pod } = this.options;
    if (!machine.many) return pod === undefined;
    if (!isChosen(this.options, key, machine.label(state))) return false;
    this.seen.add(key);
    return true;
  }

  private step(record: Extract<JournalRecord, { t: 'msg' }>): void {
    const { machine, n, key, raw } = record;
    const { pod, until, from, onStep } = this.options;
    if (isAfter(n, raw.at, until)) return;
    const step = this.playback.message(record);
    if (step === null) {
      if (pod !== undefined && pod !== key) return;
      throw new ActorletError(journalErrors.noStart, { ...this.here, uid: machine.many ? key : `(${machine.name})` });
    }
    this.messages++;
    this.machines.add(machine);
    if (onStep === undefined || isBefore(n, raw.at, from)) return;
    const { state, packed: outputs } = step;
    onStep({ ...this.here, n, at: raw.at, uid: key, pod: machine.label(step.after), message: raw, state, outputs });
  }
}

function logOf({ machine, shard }: Extract<JournalRecord, { t: 'segment' }>): string {
  return machine.many ? `the log of shard ${shard}` : `the log of the ${machine.name}`;
}

/** Another part has the record's machine: pods are shared out, the first part has all others. */
function isForeign(record: JournalRecord, { index, of }: ReplayPart): boolean {
  if (!('machine' in record)) return false;
  if (!record.machine.many) return index !== 0;
  return 'key' in record && partOfPod(record.key, of) !== index;
}

/** Replays all lines, up to the first difference. Damage is thrown. */
export async function replay(lines: AsyncIterable<JournalLine>): Promise<ReplayResult> {
  const replayer = new Replayer();
  for await (const line of lines) {
    const difference = replayer.take(line);
    if (difference !== null) return replayer.result(difference);
  }
  return replayer.result(null);
}

/** Who hears what a replay of batches comes across. */
export interface ReplayListener {
  /** Says whether to go on (true) after a difference. */
  onDifference: (difference: Difference) => boolean;
  /** A file with a line that is no record is read no further; without this listener the damage is thrown. */
  onDamage?: (damage: ActorletError) => void;
  /** A line of a damaged file was left out. */
  onLeftOut?: () => void;
}

/** Replays batches of lines, one after the other. */
export class BatchReplay {
  private readonly replayer: Replayer;
  private readonly listener: ReplayListener;
  private first: Difference | null = null;
  private damaged = '';

  constructor(replayer: Replayer, listener: ReplayListener) {
    this.replayer = replayer;
    this.listener = listener;
  }

  /** Replays the next lines; false when it is not to go on. */
  take({ file, line, lines }: JournalBatch): boolean {
    for (let i = 0; i < lines.length; i++) {
      const text = lines[i];
      if (text === undefined || text === '') continue;
      if (file === this.damaged) {
        this.listener.onLeftOut?.();
        return true;
      }
      const difference = this.step(file, line + i, text);
      if (difference === null) continue;
      this.first ??= difference;
      if (!this.listener.onDifference(difference)) return false;
    }
    return true;
  }

  result(): ReplayResult {
    return this.replayer.result(this.first);
  }

  private step(file: string, line: number, text: string): Difference | null {
    try {
      return this.replayer.takeText(file, line, text);
    } catch (error) {
      if (this.listener.onDamage === undefined || !(error instanceof ActorletError)) throw error;
      this.listener.onDamage(error);
      this.damaged = file;
      return null;
    }
  }
}

/** Replays batches of lines in this thread. */
export async function replayBatches(
  batches: AsyncIterable<JournalBatch>,
  replayer: Replayer,
  listener: ReplayListener,
): Promise<ReplayResult> {
  const replay = new BatchReplay(replayer, listener);
  for await (const batch of batches) if (!replay.take(batch)) break;
  return replay.result();
}
