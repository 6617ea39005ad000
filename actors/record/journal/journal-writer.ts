import type { Logger } from 'pino';
import type { PodContext, PodSnapshot } from '../../../machines/pod/pod-context.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { JOURNAL_VERSION, messageText, stepText } from './records.ts';
import { SegmentLog } from './segment-log.ts';
import { SpecBook } from './spec-book.ts';

/** What a shard's journal is made from. */
export interface JournalSettings {
  dir: string;
  shard: number;
  agent: string;
  settings: NodeSettings;
  /** Bound on all segments of this shard together, bytes on disk. */
  maxBytes: number;
  log: Logger;
}

/** Live pods, for the snapshots at the start of a segment. */
export type LivePods = () => Iterable<{ uid: string; source: string; snapshot: PodSnapshot }>;

/**
 * The append-only message log of one shard. Lines are gathered and written with one `write` before the first of
 * the gathered messages is handled, so a killed agent has on disk whatever it acted on.
 */
export class JournalWriter {
  private readonly config: JournalSettings;
  private readonly live: LivePods;
  private readonly specs = new SpecBook();
  private readonly segments: SegmentLog;
  private number = 0;

  constructor(config: JournalSettings, live: LivePods) {
    this.config = config;
    this.live = live;
    const { dir, maxBytes, log, shard } = config;
    const name = `shard-${String(shard).padStart(2, '0')}`;
    this.segments = new SegmentLog({ dir, name, maxBytes, log, opening: (seq) => this.opening(seq) });
  }

  /** Bytes written since the start of this worker. */
  get totalBytes(): number {
    return this.segments.totalBytes;
  }

  /** Gathers a message; `flush` must run before it is handled. */
  message(uid: string, message: PodMessage): number {
    this.number++;
    const text =
      'pod' in message
        ? messageText(this.number, uid, { ...message, pod: this.specs.refer(message.pod) })
        : messageText(this.number, uid, message);
    this.segments.append(this.specs.take() + text);
    return this.number;
  }

  /** Gathers the outcome of the message `n`. */
  step(n: number, uid: string, state: string, effects: Effect[]): void {
    this.segments.append(stepText(n, uid, state, effects));
  }

  /** Gathers that the machine threw on the message `n`. */
  fault(n: number, uid: string, error: string): void {
    this.segments.append(`${JSON.stringify({ r: 'fault', n, uid, error })}\n`);
  }

  /** Writes what was gathered. Without space the agent goes on and the journal says so once. */
  flush(): void {
    this.segments.flush();
  }

  /** Begins a new segment when the current one is full. To be called between steps, never within one. */
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
    const { shard, agent, settings } = this.config;
    this.specs.reset();
    let text = `${JSON.stringify({ r: 'segment', v: JOURNAL_VERSION, at: Date.now(), shard, seq, agent, settings })}\n`;
    for (const { uid, source, snapshot } of this.live()) {
      const { pod, settings: _settings, ...context }: PodContext = snapshot.context;
      const { $spec: spec } = this.specs.refer(pod);
      text += this.specs.take();
      text += `${JSON.stringify({ r: 'snap', uid, source, spec, value: snapshot.value, context })}\n`;
    }
    return text;
  }
}
