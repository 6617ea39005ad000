import { trackedPods } from '../../../machines/supervisor/pod-table.ts';
import type { Logger } from 'pino';
import type {
  SupervisorContext,
  SupervisorMessage,
  SupervisorOrder,
} from '../../../machines/supervisor/supervisor-context.ts';
import { JOURNAL_VERSION } from './records.ts';
import { SegmentLog } from './segment-log.ts';
import { SpecBook } from './spec-book.ts';
import { ordersAsWritten } from './supervisor-records.ts';

/** What the supervisor's journal is made from. */
export interface SupervisorJournalSettings {
  dir: string;
  agent: string;
  /** Bound on all its segments together, bytes on disk. */
  maxBytes: number;
  log: Logger;
}

/**
 * The message log of the supervisor: what came in, before it is handled, and the orders that came out. Looks at pods
 * that have an actor are left out: they change nothing here, and stand in the shard's journal as `pod.observed`.
 */
export class SupervisorJournal {
  private readonly agent: string;
  private readonly place: () => { value: unknown; context: SupervisorContext };
  private readonly specs = new SpecBook();
  private readonly segments: SegmentLog;
  private number = 0;

  constructor(config: SupervisorJournalSettings, place: () => { value: unknown; context: SupervisorContext }) {
    this.agent = config.agent;
    this.place = place;
    const { dir, maxBytes, log } = config;
    this.segments = new SegmentLog({ dir, name: 'supervisor', maxBytes, log, opening: (seq) => this.opening(seq) });
  }

  /** Bytes written since the start of the agent. */
  get totalBytes(): number {
    return this.segments.totalBytes;
  }

  /** Writes a message to disk; returns its number. */
  message(message: SupervisorMessage): number {
    this.number++;
    const m =
      message.type === 'config'
        ? { ...message, update: { ...message.update, pods: message.update.pods.map((pod) => this.specs.refer(pod)) } }
        : message;
    this.segments.append(`${this.specs.take()}${JSON.stringify({ r: 'sup.msg', n: this.number, m })}\n`);
    this.segments.flush();
    return this.number;
  }

  /** Gathers the outcome of the message `n`. */
  step(n: number, state: string, orders: readonly SupervisorOrder[]): void {
    const o = ordersAsWritten(orders, (pod) => this.specs.refer(pod));
    this.segments.append(`${this.specs.take()}${JSON.stringify({ r: 'sup.step', n, s: state, o })}\n`);
  }

  /** Gathers that the machine threw on the message `n`. */
  fault(n: number, error: string): void {
    this.segments.append(`${JSON.stringify({ r: 'sup.fault', n, error })}\n`);
  }

  flush(): void {
    this.segments.flush();
  }

  /** Begins a new segment when the current one is full. To be called between steps. */
  rotateIfFull(): void {
    this.segments.rotateIfDue();
  }

  close(): void {
    this.segments.close();
  }

  /** Resolves when no segment is being compressed. */
  settled(): Promise<void> {
    return this.segments.settled();
  }

  private opening(seq: number): string {
    const { value, context } = this.place();
    const { pods, ...rest } = context;
    this.specs.reset();
    const first = {
      r: 'sup.segment',
      v: JOURNAL_VERSION,
      at: Date.now(),
      seq,
      agent: this.agent,
      value,
      context: rest,
    };
    let text = `${JSON.stringify(first)}\n`;
    for (const { pod, comeback, ...tracked } of trackedPods(pods)) {
      const back = comeback === null ? null : this.specs.refer(comeback);
      const t = { ...tracked, pod: this.specs.refer(pod), comeback: back };
      text += `${this.specs.take()}${JSON.stringify({ r: 'sup.snap', t })}\n`;
    }
    return text;
  }
}
