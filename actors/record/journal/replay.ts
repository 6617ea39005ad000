import { ActorletError } from '../../../machines/errors/define.ts';
import { journalErrors } from '../../../machines/errors/journal-errors.ts';
import { bornPod, podState, restoredPod, stepPod } from '../../../machines/pod/pod-step.ts';
import type { PodContext, PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { Difference } from './difference.ts';
import { THREW, differenceOf } from './difference.ts';
import type { JournalBatch, JournalLine } from './journal-reader.ts';
import { parseLine } from './journal-reader.ts';
import { NodeReplay } from './node-replay.ts';
import type { OpenStep } from './open-steps.ts';
import { OpenSteps } from './open-steps.ts';
import type { JournalRecord } from './records.ts';
import { isStepText } from './records.ts';
import type { ReplayPart } from './replay-part.ts';
import { partOfLine, partOfPod } from './replay-part.ts';
import type { Selection } from './selection.ts';
import { isAfter, isBefore, isChosen } from './selection.ts';
import type { SpecReference } from './spec-book.ts';
import { SupervisorReplay } from './supervisor-replay.ts';

/** What a replay came to. */
export interface ReplayResult {
  messages: number;
  pods: number;
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
  /** '' of the supervisor and the node. */
  uid: string;
  pod: string;
  message: { type: string; at: number };
  state: string;
  /** Effects, of the supervisor and the node their orders. */
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
}

interface Replayed {
  snapshot: PodSnapshot;
  name: string;
}

/** Steps the same machines over recorded messages and compares states and effects byte for byte. */
export class Replayer {
  private readonly options: ReplayOptions;
  private settings: NodeSettings | null = null;
  private readonly specs = new Map<string, Pod>();
  private readonly pods = new Map<string, Replayed>();
  private readonly seen = new Set<string>();
  private readonly open = new OpenSteps();
  /** The last segment of each log that was read. */
  private readonly segments = new Map<string, number>();
  private messages = 0;
  private here = { file: '', line: 0 };
  private readonly supervisor = new SupervisorReplay((reference) => this.podOf(reference));
  private readonly node = new NodeReplay();

  constructor(options: ReplayOptions = {}) {
    this.options = options;
  }

  /** Takes one line; returns the difference that it shows, if any. */
  take({ file, line, text }: JournalLine): Difference | null {
    return this.takeText(file, line, text);
  }

  /** The same without an object around it. */
  takeText(file: string, line: number, text: string): Difference | null {
    // Most outcomes are byte for byte what is expected, and need not be parsed.
    const { part } = this.options;
    const owner = part === undefined ? null : partOfLine(text, part.of);
    if (owner !== null && owner !== part?.index) return null;
    if (this.expected(text)) return null;
    this.here = { file, line };
    const record = parseLine({ file, line, text });
    if (record.r === 'unknown') {
      this.options.onUnknownKind?.(record.kind);
      return null;
    }
    if (part !== undefined && isForeign(record, part)) {
      if (owner === null) return null;
      throw new Error(`${file}, line ${line}: nobody can tell whose it is`);
    }
    try {
      if (record.r.startsWith('sup.')) return this.takeOfSupervisor(record);
      return record.r.startsWith('node.') ? this.takeOfNode(record) : this.takeOfShard(record, text);
    } catch (error) {
      if (error instanceof ActorletError) throw error;
      // JSON of other types than the agent wrote: as damaged as what is no JSON.
      throw new ActorletError(journalErrors.badRecord, { file, line, problem: String(error) }, { cause: error });
    }
  }

  result(difference: Difference | null): ReplayResult {
    return {
      messages: this.messages + this.supervisor.messages + this.node.messages,
      pods: this.seen.size,
      difference,
      unanswered: this.open.size + this.supervisor.open.size + this.node.open.size,
    };
  }

  private expected(text: string): boolean {
    const step = this.open.first();
    if (step === undefined || !isStepText(text, step.n, step.uid, step.state, step.effects)) return false;
    this.open.shift();
    return true;
  }

  private takeOfShard(record: JournalRecord, text: string): Difference | null {
    switch (record.r) {
      case 'segment':
        // Pods of the shard that the segment does not carry on have ended, or begin anew with pod.start.
        this.settings = record.settings as unknown as NodeSettings;
        this.open.passAll();
        this.checkSegment(`the log of shard ${record.shard}`, record.seq);
        return null;
      case 'spec':
        this.specs.set(record.id, record.pod as Pod);
        return null;
      case 'snap':
        this.restore(record.uid, record.value, record.context, record.spec);
        return null;
      case 'msg':
        this.step(record.uid, record.n, record.m, text);
        return null;
      case 'fault':
        return this.compare(record.uid, record.n, THREW, []);
      case 'step':
        return this.compare(record.uid, record.n, record.s, record.e);
      default:
        return null;
    }
  }

  private takeOfSupervisor(record: JournalRecord): Difference | null {
    switch (record.r) {
      case 'sup.segment':
        this.supervisor.begin(record.value, record.context);
        this.checkSegment('the log of the supervisor', record.seq);
        return null;
      case 'sup.snap':
        this.supervisor.restore(record.t);
        return null;
      case 'sup.msg': {
        const { n, m } = record;
        if (this.options.pod !== undefined || isAfter(n, m.at, this.options.until)) return null;
        if (!this.supervisor.take(n, m)) throw this.noStart('(supervisor)');
        const judged = this.supervisor.open.get(n);
        if (judged !== undefined && this.options.onStep !== undefined && !isBefore(n, m.at, this.options.from)) {
          const outputs = judged.outputs.map((order) => JSON.parse(order) as unknown);
          const { state } = judged;
          this.options.onStep({ ...this.here, n, at: m.at, uid: '', pod: 'supervisor', message: m, state, outputs });
        }
        return null;
      }
      case 'sup.fault':
        return this.compareOrders(record.n, THREW, []);
      case 'sup.step':
        return this.compareOrders(record.n, record.s, record.o);
      default:
        return null;
    }
  }

  private takeOfNode(record: JournalRecord): Difference | null {
    switch (record.r) {
      case 'node.segment':
        this.node.begin(record.value, record.context);
        this.checkSegment('the log of the node', record.seq);
        return null;
      case 'node.msg': {
        const { n, m } = record;
        if (this.options.pod !== undefined || isAfter(n, m.at, this.options.until)) return null;
        const judged = this.node.take(n, m);
        if (judged === null) throw this.noStart('(node)');
        if (this.options.onStep === undefined || isBefore(n, m.at, this.options.from)) return null;
        const outputs = judged.outputs.map((order) => JSON.parse(order) as unknown);
        const { state } = judged;
        this.options.onStep({ ...this.here, n, at: m.at, uid: '', pod: 'node', message: m, state, outputs });
        return null;
      }
      case 'node.step':
      case 'node.fault': {
        const computed = this.node.open.get(record.n);
        this.node.open.delete(record.n);
        const [state, orders] = record.r === 'node.step' ? [record.s, record.o] : [THREW, []];
        return differenceOf(computed, state, orders, 'order', { ...this.here, uid: '', pod: 'node' });
      }
      default:
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

  private compareOrders(n: number, state: string, orders: unknown[]): Difference | null {
    const computed = this.supervisor.open.get(n);
    this.supervisor.open.delete(n);
    return differenceOf(computed, state, orders, 'order', { ...this.here, uid: '', pod: 'supervisor' });
  }

  private restore(uid: string, value: unknown, context: object, specId: string): void {
    const pod = this.specs.get(specId);
    if (pod === undefined || this.settings === null) return;
    const name = podName(pod);
    if (!isChosen(this.options, uid, name)) return;
    const whole = { ...context, pod, settings: this.settings } as PodContext;
    this.pods.set(uid, { snapshot: restoredPod(value, whole), name });
    this.seen.add(uid);
  }

  private step(uid: string, n: number, raw: { type: string; at: number }, text: string): void {
    if (isAfter(n, raw.at, this.options.until)) return;
    const message = this.resolveSpec(raw);
    let replayed = this.pods.get(uid);
    if (message.type === 'pod.start' && this.settings !== null) {
      const { pod, source } = message;
      const name = podName(pod);
      if (!isChosen(this.options, uid, name)) return;
      replayed = { snapshot: bornPod({ pod, source, settings: this.settings }), name };
      this.pods.set(uid, replayed);
      this.seen.add(uid);
    }
    if (replayed === undefined) {
      if (this.options.pod !== undefined && this.options.pod !== uid) return;
      throw this.noStart(uid);
    }
    this.messages++;
    let effects: Effect[] = [];
    let state: string;
    try {
      const stepped = stepPod(replayed.snapshot, message);
      replayed.snapshot = stepped.snapshot;
      effects = stepped.effects;
      state = podState(stepped.snapshot);
    } catch (error) {
      // A step that throws changes nothing, as in the agent.
      state = `${THREW} ${error instanceof Error ? error.message : String(error)}`;
    }
    this.open.add({ n, uid, message: text, state, effects });
    if (this.options.onStep === undefined || isBefore(n, raw.at, this.options.from)) return;
    const { name: pod } = replayed;
    this.options.onStep({ ...this.here, n, at: raw.at, uid, pod, message: raw, state, outputs: effects });
  }

  private resolveSpec(raw: { type: string; at: number }): PodMessage {
    const reference = (raw as { pod?: Partial<SpecReference> }).pod;
    if (reference?.$spec === undefined) return raw as unknown as PodMessage;
    return { ...raw, pod: this.podOf({ $spec: reference.$spec }) } as unknown as PodMessage;
  }

  private podOf({ $spec }: SpecReference): Pod {
    const pod = this.specs.get($spec);
    if (pod !== undefined) return pod;
    throw new ActorletError(journalErrors.badRecord, {
      ...this.here,
      problem: `the spec ${$spec} was not written before`,
    });
  }

  private noStart(uid: string): ActorletError {
    return new ActorletError(journalErrors.noStart, { ...this.here, uid });
  }

  private compare(uid: string, n: number, state: string, effects: unknown[]): Difference | null {
    const step = this.open.take(uid, n);
    const place = { ...this.here, uid, pod: this.pods.get(uid)?.name ?? '' };
    return differenceOf(step === undefined ? undefined : judgedOf(step), state, effects, 'effect', place);
  }
}

/** Another part has the record's pod. */
function isForeign(record: JournalRecord, part: ReplayPart): boolean {
  if ('uid' in record && typeof record.uid === 'string') return partOfPod(record.uid, part.of) !== part.index;
  return part.index !== 0 && (record.r.startsWith('sup.') || record.r.startsWith('node.'));
}

function judgedOf({ message, state, effects }: OpenStep) {
  const record = JSON.parse(message) as { m: unknown };
  return { message: record.m, state, outputs: effects.map((effect) => JSON.stringify(effect)) };
}

function podName(pod: Pod): string {
  return `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
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
