import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ActorletError } from '../../machines/errors/define.ts';
import { journalErrors } from '../../machines/errors/journal-errors.ts';
import type { PodContext, PodSnapshot } from '../../machines/pod/pod-context.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { Effect } from '../../machines/protocol/effects.ts';
import type { PodMessage } from '../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../machines/protocol/node-settings.ts';
import { compressSegment } from './compress-segment.ts';
import { JOURNAL_VERSION, messageText, stepText } from './records.ts';

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
  private fd = -1;
  private path = '';
  private seq: number;
  private written = 0;
  private snapshotBytes = 0;
  private pending = '';
  private number = 0;
  private specs = new Set<string>();
  private specIds = new WeakMap<object, string>();
  private broken = false;
  /** Bytes written since the start of this worker. */
  totalBytes = 0;

  constructor(config: JournalSettings, live: LivePods) {
    this.config = config;
    this.live = live;
    mkdirSync(config.dir, { recursive: true, mode: 0o700 });
    this.seq = Math.max(0, ...segmentsOf(config.dir, config.shard).map((s) => s.seq));
    this.openSegment();
  }

  /** Gathers a message; `flush` must run before it is handled. */
  message(uid: string, message: PodMessage): number {
    this.number++;
    let specId: string | null = null;
    if ('pod' in message) {
      specId = this.specId(message.pod);
      this.putSpec(specId, message.pod);
    }
    this.pending += messageText(this.number, uid, message, specId);
    return this.number;
  }

  /** Gathers the outcome of the message `n`. */
  step(n: number, uid: string, state: string, effects: Effect[]): void {
    this.pending += stepText(n, uid, state, effects);
  }

  /** Gathers that the machine threw on the message `n`. */
  fault(n: number, uid: string, error: string): void {
    this.pending += `${JSON.stringify({ r: 'fault', n, uid, error })}\n`;
  }

  /** Writes what was gathered. Without space the agent goes on and the journal says so once. */
  flush(): void {
    if (this.pending === '') return;
    const text = this.pending;
    this.pending = '';
    if (this.broken && !this.tryReopen()) return;
    try {
      const bytes = writeSync(this.fd, text);
      this.written += bytes;
      this.totalBytes += bytes;
    } catch (error) {
      this.fail(error);
    }
  }

  /** Begins a new segment when the current one is full. To be called between steps, never within one. */
  rotateIfFull(): void {
    const bound = Math.max(this.config.maxBytes / 8, this.snapshotBytes * 4);
    if (this.written < bound || this.broken) return;
    this.flush();
    closeSync(this.fd);
    const full = this.path;
    this.openSegment();
    compressSegment(full)
      .then(() => this.dropOldest())
      .catch((error: unknown) =>
        this.config.log.warn({ err: error, file: full }, 'Journal segment was not compressed'),
      );
  }

  close(): void {
    this.flush();
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = -1;
  }

  private openSegment(): void {
    this.seq++;
    const { dir, shard, agent, settings } = this.config;
    this.path = join(dir, `shard-${String(shard).padStart(2, '0')}-${String(this.seq).padStart(8, '0')}.jsonl`);
    this.specs = new Set();
    try {
      this.fd = openSync(this.path, 'a', 0o600);
      this.broken = false;
    } catch (error) {
      this.fail(error);
      return;
    }
    this.pending = `${JSON.stringify({ r: 'segment', v: JOURNAL_VERSION, at: Date.now(), shard, seq: this.seq, agent, settings })}\n`;
    for (const { uid, source, snapshot } of this.live()) {
      const { pod, settings: _settings, ...context }: PodContext = snapshot.context;
      const spec = this.specId(pod);
      this.putSpec(spec, pod);
      this.pending += `${JSON.stringify({ r: 'snap', uid, source, spec, value: snapshot.value, context })}\n`;
    }
    this.snapshotBytes = this.pending.length;
    this.written = 0;
    this.flush();
  }

  private specId(pod: Pod): string {
    let id = this.specIds.get(pod);
    if (id === undefined) {
      id = createHash('sha256').update(JSON.stringify(pod)).digest('hex').slice(0, 16);
      this.specIds.set(pod, id);
    }
    return id;
  }

  private putSpec(id: string, pod: Pod): void {
    if (this.specs.has(id)) return;
    this.specs.add(id);
    this.pending += `${JSON.stringify({ r: 'spec', id, pod })}\n`;
  }

  private dropOldest(): void {
    const segments = segmentsOf(this.config.dir, this.config.shard);
    let total = segments.reduce((sum, s) => sum + s.bytes, 0);
    for (const s of segments) {
      if (total <= this.config.maxBytes || s.path === this.path) break;
      unlinkSync(s.path);
      total -= s.bytes;
    }
  }

  private fail(error: unknown): void {
    if (!this.broken) {
      const problem = error instanceof Error ? error.message : String(error);
      this.config.log.error(
        { err: new ActorletError(journalErrors.cannotWrite, { dir: this.config.dir, problem }) },
        'Journal stopped',
      );
    }
    this.broken = true;
    this.lastTry = Date.now();
  }

  private lastTry = 0;

  /** A new segment with fresh snapshots, so that the gap does not spoil what follows. */
  private tryReopen(): boolean {
    if (Date.now() - this.lastTry < 10_000) return false;
    this.lastTry = Date.now();
    this.dropOldest();
    this.openSegment();
    return !this.broken;
  }
}

/** Segments of a shard on disk, oldest first. */
export function segmentsOf(dir: string, shard: number): { path: string; seq: number; bytes: number }[] {
  const prefix = `shard-${String(shard).padStart(2, '0')}-`;
  return readdirSync(dir)
    .filter((name) => name.startsWith(prefix) && /^\d+\.jsonl(\.gz)?$/.test(name.slice(prefix.length)))
    .map((name) => ({
      path: join(dir, name),
      seq: Number(name.slice(prefix.length, prefix.length + 8)),
      bytes: sizeOf(join(dir, name)),
    }))
    .sort((a, b) => a.seq - b.seq);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
