import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { journalErrors } from '../../../machines/errors/journal-errors.ts';
import { compressSegment } from './compress-segment.ts';

/** What a log is made from. */
export interface SegmentLogSettings {
  dir: string;
  /** Start of the segments' names, e.g. `shard-00`: `<name>-<seq, eight digits>.jsonl[.gz]`. */
  name: string;
  /** Bound on all segments of this name together, bytes on disk. One segment is begun anew at an eighth of it. */
  maxBytes: number;
  log: Logger;
  /** Lines that stand at the start of a segment, so that it can be read alone. */
  opening: (seq: number) => string;
}

/** Pause before a log that could not be written is tried again, ms. */
const RETRY_MS = 10_000;

/**
 * Append-only lines in numbered segments: full ones are compressed, the oldest go when the bound is reached. When the
 * disk refuses, the agent goes on without a log; later a new segment begins, so that the gap spoils nothing after it.
 */
export class SegmentLog {
  private readonly config: SegmentLogSettings;
  private fd = -1;
  private path = '';
  private seq: number;
  private written = 0;
  private openingBytes = 0;
  private pending = '';
  private broken = false;
  /** What the outage was logged with; '' while the log is written. One line tells an outage, one its end. */
  private outage = '';
  /** `performance.now()` of the last try: the machine's clock may be set. */
  private lastTry = 0;
  /** Compressions under way. */
  private compressing: Promise<void> = Promise.resolve();
  /** Bytes written since the start of this process or worker, before compression. */
  totalBytes = 0;

  constructor(config: SegmentLogSettings) {
    this.config = config;
    mkdirSync(config.dir, { recursive: true, mode: 0o700 });
    const before = segmentsOf(config.dir, config.name);
    this.seq = Math.max(0, ...before.map((s) => s.seq));
    this.tidy(before.at(-1)?.path);
    this.openSegment();
  }

  /** Gathers whole lines; {@link flush} must run before what they tell of is done. */
  append(lines: string): void {
    this.pending += lines;
  }

  /** Writes what was gathered, in one go. */
  flush(): void {
    if (this.pending === '') return;
    const bytes = Buffer.from(this.pending);
    this.pending = '';
    if (this.broken) return;
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.fd, bytes, done);
      this.written += bytes.length;
      this.totalBytes += bytes.length;
    } catch (error) {
      this.fail(error);
    }
  }

  /** Begins a new segment when the current one is full or broken. To be called between steps, never within one. */
  rotateIfDue(): void {
    if (this.broken) {
      if (performance.now() - this.lastTry >= RETRY_MS) this.openSegment();
      return;
    }
    if (this.written < Math.max(this.config.maxBytes / 8, this.openingBytes * 4)) return;
    this.flush();
    closeSync(this.fd);
    const full = this.path;
    this.openSegment();
    this.compressing = this.compressing
      .then(() => compressSegment(full))
      .then(() => this.dropOldest())
      .catch((error: unknown) => {
        // The bound may have taken it before its turn came.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        this.config.log.warn({ err: error, file: full }, 'Journal segment was not compressed');
      });
  }

  close(): void {
    this.flush();
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = -1;
    this.broken = true;
    this.lastTry = Infinity;
  }

  /** Resolves when no compression is under way. */
  settled(): Promise<void> {
    return this.compressing;
  }

  private openSegment(): void {
    const { dir, name } = this.config;
    this.seq++;
    this.path = join(dir, `${name}-${String(this.seq).padStart(8, '0')}.jsonl`);
    this.written = 0;
    try {
      this.dropOldest();
      this.fd = openSync(this.path, 'a', 0o600);
      this.broken = false;
    } catch (error) {
      this.seq--;
      this.fail(error);
      return;
    }
    this.pending = this.config.opening(this.seq);
    this.flush();
    if (this.fd < 0) {
      // A beginning without its end is of no use, and each try would leave one.
      try {
        rmSync(this.path, { force: true });
        this.seq--;
      } catch {
        // It stays, and is read as one that holds nothing.
      }
      return;
    }
    this.openingBytes = this.written;
    this.written = 0;
    if (this.outage === '') return;
    this.config.log.info({ dir, segment: this.seq, outage: this.outage }, 'Journal goes on in a new segment');
    this.outage = '';
  }

  private dropOldest(): void {
    const segments = segmentsOf(this.config.dir, this.config.name);
    let total = segments.reduce((sum, s) => sum + s.bytes, 0);
    for (const s of segments) {
      if (total <= this.config.maxBytes || s.path === this.path) break;
      // It may have been replaced by its compressed form this very moment.
      rmSync(s.path, { force: true });
      total -= s.bytes;
    }
  }

  private fail(error: unknown): void {
    const { dir, log } = this.config;
    if (this.outage === '') {
      const problem = error instanceof Error ? error.message : String(error);
      this.outage = problem;
      log.error({ err: new ActorletError(journalErrors.cannotWrite, { dir, problem }) }, 'Journal stopped');
    }
    this.broken = true;
    this.lastTry = performance.now();
    if (this.fd < 0) return;
    const { fd } = this;
    this.fd = -1;
    try {
      // Half a line would make the whole file unreadable to replay.
      cutToWholeLines(this.path, fd);
    } catch {
      // The disk refuses everything.
    }
    try {
      closeSync(fd);
    } catch {
      // Its last write failed, which is known by now.
    }
  }

  /** What an agent that was killed left: half a line at the end of its last segment, half a compressed file. */
  private tidy(last: string | undefined): void {
    const { dir, name } = this.config;
    try {
      for (const file of readdirSync(dir)) {
        if (file.startsWith(`${name}-`) && file.endsWith('.gz.tmp')) unlinkSync(join(dir, file));
      }
      if (last?.endsWith('.jsonl') === true) cutToWholeLines(last, null);
    } catch (error) {
      this.config.log.warn({ err: error, dir }, 'Journal folder was not tidied');
    }
  }
}

function cutToWholeLines(path: string, fd: number | null): void {
  const content = readFileSync(path);
  const whole = content.lastIndexOf(10) + 1;
  if (whole === content.length) return;
  if (fd === null) truncateSync(path, whole);
  else ftruncateSync(fd, whole);
}

/** Segments of a log on disk, oldest first. */
export function segmentsOf(dir: string, name: string): { path: string; seq: number; bytes: number }[] {
  const prefix = `${name}-`;
  return readdirSync(dir)
    .filter((file) => file.startsWith(prefix) && /^\d+\.jsonl(\.gz)?$/.test(file.slice(prefix.length)))
    .map((file) => ({
      path: join(dir, file),
      seq: parseInt(file.slice(prefix.length), 10),
      bytes: statSync(join(dir, file), { throwIfNoEntry: false })?.size ?? 0,
    }))
    .sort((a, b) => a.seq - b.seq);
}
