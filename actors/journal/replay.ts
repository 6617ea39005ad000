import { ActorletError } from '../../machines/errors/define.ts';
import { journalErrors } from '../../machines/errors/journal-errors.ts';
import { bornPod, podState, restoredPod, stepPod } from '../../machines/pod/pod-step.ts';
import type { PodContext, PodSnapshot } from '../../machines/pod/pod-context.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import type { JournalLine } from './journal-reader.ts';
import type { SpecReference } from './spec-book.ts';
import { THREW, judge, SupervisorReplay } from './supervisor-replay.ts';
import type { Judged } from './supervisor-replay.ts';
import { parseLine } from './journal-reader.ts';

/** The first place where today's machines decide otherwise than the recorded ones. */
export interface Difference {
  file: string;
  line: number;
  /** '' when it is the supervisor's. */
  uid: string;
  pod: string;
  message: unknown;
  /** `state`, or `effect` (of the supervisor: `order`) with its position. */
  what: string;
  recorded: string;
  computed: string;
}

/** What a replay came to. */
export interface ReplayResult {
  messages: number;
  pods: number;
  /** Null when everything is identical. */
  difference: Difference | null;
  /** Messages at the end whose outcome was never written (the agent was killed in between). */
  unanswered: number;
}

interface Replayed {
  snapshot: PodSnapshot;
  name: string;
}

/** Steps the same machines over recorded messages and compares states and effects byte for byte. */
export class Replayer {
  private settings: NodeSettings | null = null;
  private readonly specs = new Map<string, Pod>();
  private readonly pods = new Map<string, Replayed>();
  private readonly seen = new Set<string>();
  /** Steps that wait for their recorded outcome: messages of one turn stand before all of their outcomes. */
  private readonly open = new Map<string, Judged>();
  private messages = 0;
  private here: JournalLine = { file: '', line: 0, text: '' };
  private readonly supervisor = new SupervisorReplay((reference) => this.podOf(this.here, reference));

  /** Takes one line; returns the difference that it shows, if any. */
  take(at: JournalLine): Difference | null {
    const record = parseLine(at);
    this.here = at;
    switch (record.r) {
      case 'segment':
        // Pods of the shard that the segment does not carry on have ended, or begin anew with pod.start.
        this.settings = record.settings as unknown as NodeSettings;
        return null;
      case 'spec':
        this.specs.set(record.id, record.pod as Pod);
        return null;
      case 'snap':
        this.restore(record.uid, record.value, record.context, record.spec);
        return null;
      case 'msg':
        this.step(at, record.uid, record.n, record.m);
        return null;
      case 'fault':
        return this.compare(at, record.uid, record.n, THREW, []);
      case 'step':
        return this.compare(at, record.uid, record.n, record.s, record.e);
      case 'sup.segment':
        this.supervisor.begin(record.value, record.context);
        return null;
      case 'sup.snap':
        this.supervisor.restore(record.t);
        return null;
      case 'sup.msg':
        if (!this.supervisor.take(record.n, record.m)) {
          throw new ActorletError(journalErrors.noStart, { file: at.file, line: at.line, uid: '(supervisor)' });
        }
        return null;
      case 'sup.fault':
        return this.compareOrders(at, record.n, THREW, []);
      case 'sup.step':
        return this.compareOrders(at, record.n, record.s, record.o);
    }
  }

  private compareOrders(at: JournalLine, n: number, state: string, orders: unknown[]): Difference | null {
    const computed = this.supervisor.open.get(n);
    this.supervisor.open.delete(n);
    return differenceOf(computed, state, orders, 'order', { ...at, uid: '', pod: 'supervisor' });
  }

  result(difference: Difference | null): ReplayResult {
    return {
      messages: this.messages + this.supervisor.messages,
      pods: this.seen.size,
      difference,
      unanswered: this.open.size + this.supervisor.open.size,
    };
  }

  private restore(uid: string, value: unknown, context: object, specId: string): void {
    const pod = this.specs.get(specId);
    if (pod === undefined || this.settings === null) return;
    const whole = { ...context, pod, settings: this.settings } as PodContext;
    this.pods.set(uid, { snapshot: restoredPod(value, whole), name: nameOf(pod) });
    this.seen.add(uid);
  }

  private step(at: JournalLine, uid: string, n: number, raw: Record<string, unknown>): void {
    const message = this.resolveSpec(at, raw);
    let replayed = this.pods.get(uid);
    if (message.type === 'pod.start' && this.settings !== null) {
      const { pod, source } = message;
      replayed = { snapshot: bornPod({ pod, source, settings: this.settings }), name: nameOf(pod) };
      this.pods.set(uid, replayed);
      this.seen.add(uid);
    }
    if (replayed === undefined) throw new ActorletError(journalErrors.noStart, { file: at.file, line: at.line, uid });
    this.messages++;
    const of = replayed;
    const judged = judge(raw, () => {
      const { snapshot, effects } = stepPod(of.snapshot, message);
      of.snapshot = snapshot;
      return { state: podState(snapshot), outputs: effects.map((e) => JSON.stringify(e)) };
    });
    this.open.set(`${uid}/${n}`, judged);
  }

  private resolveSpec(at: JournalLine, raw: Record<string, unknown>): PodMessage {
    const reference = raw['pod'] as Partial<SpecReference> | undefined;
    if (reference?.$spec === undefined) return raw as unknown as PodMessage;
    return { ...raw, pod: this.podOf(at, { $spec: reference.$spec }) } as unknown as PodMessage;
  }

  private podOf({ file, line }: JournalLine, { $spec }: SpecReference): Pod {
    const pod = this.specs.get($spec);
    if (pod !== undefined) return pod;
    throw new ActorletError(journalErrors.badRecord, {
      file,
      line,
      problem: `the spec ${$spec} was not written before`,
    });
  }

  private compare(at: JournalLine, uid: string, n: number, state: string, effects: unknown[]): Difference | null {
    const key = `${uid}/${n}`;
    const computed = this.open.get(key);
    this.open.delete(key);
    return differenceOf(computed, state, effects, 'effect', { ...at, uid, pod: this.pods.get(uid)?.name ?? '' });
  }
}

/** Compares a recorded outcome with the computed one; without a message before it there is nothing to compare. */
function differenceOf(
  computed: Judged | undefined,
  state: string,
  outputs: unknown[],
  word: 'effect' | 'order',
  { file, line, uid, pod }: JournalLine & { uid: string; pod: string },
): Difference | null {
  if (computed === undefined) return null;
  const base = { file, line, uid, pod, message: computed.message };
  // Of a fault only that it happened is compared: its text names lines of the program.
  if (state === THREW && computed.state.startsWith(THREW)) return null;
  if (computed.state !== state) return { ...base, what: 'state', recorded: state, computed: computed.state };
  const length = Math.max(outputs.length, computed.outputs.length);
  for (let i = 0; i < length; i++) {
    const recorded = i < outputs.length ? JSON.stringify(outputs[i]) : '(none)';
    const own = computed.outputs[i] ?? '(none)';
    if (recorded !== own) return { ...base, what: `${word} ${i + 1} of ${length}`, recorded, computed: own };
  }
  return null;
}

function nameOf(pod: Pod): string {
  return `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
}

/** Replays all lines, up to the first difference. */
export async function replay(lines: AsyncIterable<JournalLine>): Promise<ReplayResult> {
  const replayer = new Replayer();
  for await (const line of lines) {
    const difference = replayer.take(line);
    if (difference !== null) return replayer.result(difference);
  }
  return replayer.result(null);
}
