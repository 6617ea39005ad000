import { ActorletError } from '../../machines/errors/define.ts';
import { journalErrors } from '../../machines/errors/journal-errors.ts';
import { bornPod, podState, restoredPod, stepPod } from '../../machines/pod/pod-step.ts';
import type { PodContext, PodSnapshot } from '../../machines/pod/pod-context.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import type { JournalLine } from './journal-reader.ts';
import { parseLine } from './journal-reader.ts';

/** The first place where today's machines decide otherwise than the recorded ones. */
export interface Difference {
  file: string;
  line: number;
  uid: string;
  pod: string;
  message: unknown;
  /** `state`, or `effect` with its position. */
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
  private readonly open = new Map<string, { message: unknown; state: string; effects: string[] }>();
  private messages = 0;

  /** Takes one line; returns the difference that it shows, if any. */
  take(at: JournalLine): Difference | null {
    const record = parseLine(at);
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
        this.open.delete(`${record.uid}/${record.n}`);
        return null;
      case 'step':
        return this.compare(at, record.uid, record.n, record.s, record.e);
    }
  }

  result(difference: Difference | null): ReplayResult {
    return { messages: this.messages, pods: this.seen.size, difference, unanswered: this.open.size };
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
    const { snapshot, effects } = stepPod(replayed.snapshot, message);
    replayed.snapshot = snapshot;
    this.open.set(`${uid}/${n}`, {
      message: raw,
      state: podState(snapshot),
      effects: effects.map((e) => JSON.stringify(e)),
    });
  }

  private resolveSpec(at: JournalLine, raw: Record<string, unknown>): PodMessage {
    const reference = raw['pod'] as { $spec?: string } | undefined;
    if (reference?.$spec === undefined) return raw as unknown as PodMessage;
    const pod = this.specs.get(reference.$spec);
    if (pod === undefined) {
      throw new ActorletError(journalErrors.badRecord, {
        file: at.file,
        line: at.line,
        problem: `the spec ${reference.$spec} was not written before`,
      });
    }
    return { ...raw, pod } as unknown as PodMessage;
  }

  private compare(at: JournalLine, uid: string, n: number, state: string, effects: unknown[]): Difference | null {
    const key = `${uid}/${n}`;
    const computed = this.open.get(key);
    if (computed === undefined) return null;
    this.open.delete(key);
    const base = { file: at.file, line: at.line, uid, pod: this.pods.get(uid)?.name ?? '', message: computed.message };
    if (computed.state !== state) return { ...base, what: 'state', recorded: state, computed: computed.state };
    const length = Math.max(effects.length, computed.effects.length);
    for (let i = 0; i < length; i++) {
      const recorded = i < effects.length ? JSON.stringify(effects[i]) : '(none)';
      const own = computed.effects[i] ?? '(none)';
      if (recorded !== own) return { ...base, what: `effect ${i + 1} of ${length}`, recorded, computed: own };
    }
    return null;
  }
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
