import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { journalErrors } from '../../../machines/errors/journal-errors.ts';
import { compressSegment } from './compress-segment.ts';
import { syncDisk } from './log-disk.ts';
import type { LogDisk } from './log-disk.ts';
import { losses, lost } from './losses.ts';
import { lastSegment } from './last-segment.ts';
import { dropOldest } from './segment-files.ts';

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
  /** How long lines that nobody waits for are gathered where a disk asks for that, ms. */
  gatherMs: number;
  /** The way to the disk; without it each write is waited for. */
  disk?: LogDisk;
}

/** Pause before a log that could not be written is tried again, ms. */
const RETRY_MS = 10_000;
/** A disk that takes longer for one write stalls, ms. A busy one may take seconds; what is done waits for it so long. */
const STALL_MS = 5_000;
/** A timer that comes so much too late says that the thread was held up, ms. */
const LATE_MS = 150;
/** Most characters that wait for the disk. */
const MAX_BEHIND = 8 * 1024 * 1024;
/** Most characters of lines that are gathered though nobody waits for them. */
const MAX_GATHERED = 256 * 1024;

/** What the disk is to do next, one after the other. */
type Task =
  | { do: 'begin'; path: string; full: string }
  /** `opening`: with it the segment can be read alone. */
  | { do: 'write'; text: string; opening: boolean };

/** Logs that are told to close and still write. */
const closing = new Set<SegmentLog>();
const awaitingClose: (() => void)[] = [];

/** Resolves when all logs of this thread that were told to close have written what they had, or are not going to. */
export function journalsClosed(): Promise<void> {
  return closing.size === 0 ? Promise.resolve() : new Promise((resolve) => awaitingClose.push(resolve));
}

/** Closed segments of this thread that are still to be compressed, or after which the bound is still to be kept. */
const compressions = new Set<Promise<void>>();

/** Resolves when the segments that were closed so far are compressed, and each log is within its bound. */
export async function journalsCompressed(): Promise<void> {
  await Promise.all(compressions);
}

/**
 * Append-only lines in numbered segments: full ones are compressed, the oldest go when the bound is reached. When the
 * disk refuses, or does not answer, the agent goes on without a log; later a new segment begins, so that the gap spoils nothing after it.
 */
export class SegmentLog {
  private readonly config: SegmentLogSettings;
  private readonly disk: LogDisk;
  private fd = -1;
  private path = '';
  private seq: number;
  /** Bytes of this segment, those under way included; those of its opening apart. */
  private written = 0;
  private openingBytes = 0;
  /** The segment's opening is on the disk. */
  private begun = false;
  private pending = '';
  private gathering: NodeJS.Timeout | undefined;
  private tasks: Task[] = [];
  private behind = 0;
  /** The task under way; its answer counts while it stands here. */
  private current: Task | null = null;
  private stallTimer: NodeJS.Timeout | undefined;
  /** Called when all that was gathered is on the disk, or is not going to be. */
  private waiting: (() => void)[] = [];
  private broken = false;
  /** A call was given up and has not come back: nothing else may be tried. */
  private stuck = false;
  /** What the outage was logged with; '' while the log is written. One line tells an outage, one its end. */
  private outage = '';
  private lostBefore = 0;
  /** `performance.now()` of the last try: the machine's clock may be set. */
  private lastTry = 0;
  private closed = false;
  /** Compressions under way. */
  private compressing: Promise<void> = Promise.resolve();
  /** Bytes written since the start of this process or worker, before compression. */
  totalBytes = 0;

  constructor(config: SegmentLogSettings) {
    this.config = config;
    this.disk = config.disk ?? syncDisk;
    mkdirSync(config.dir, { recursive: true, mode: 0o700 });
    this.seq = lastSegment(config);
    this.openSegment();
  }

  /** Gathers whole lines; {@link flush} must run before what they tell of is done. */
  append(lines: string): void {
    this.pending += lines;
  }

  /** Has the disk write what was gathered, in one go. */
  flush(): void {
    if (this.pending === '') return;
    const text = this.pending;
    this.pending = '';
    if (this.broken) lost(text);
    else this.put({ do: 'write', text, opening: false });
  }

  /**
   * Has the disk write what was gathered with what comes next, soon at the latest: for lines that nobody waits for. Each write of its own
   * wakes a thread for files and this one again, which costs more than the lines do.
   */
  flushSoon(): void {
    if (this.disk.gathers !== true || this.pending.length > MAX_GATHERED) this.flush();
    else if (this.pending !== '') this.gathering ??= setTimeout(() => this.gathered(), this.config.gatherMs);
  }

  private gathered(): void {
    this.gathering = undefined;
    this.flush();
  }

  /** Calls back, at once where that is so, when what was flushed is on the disk, or the agent goes on without. */
  whenWritten(then: () => void): void {
    if (this.broken || (this.current === null && this.tasks.length === 0)) then();
    else this.waiting.push(then);
  }

  /** Begins a new segment when the current one is full or broken. To be called between steps, never within one. */
  rotateIfDue(): void {
    if (this.broken) {
      // The next segment begins with all that lives as it is then: what came before has no place in it.
      this.flush();
      if (!this.stuck && performance.now() - this.lastTry >= RETRY_MS) this.openSegment();
      return;
    }
    if (this.written < Math.max(this.config.maxBytes / 8, this.openingBytes * 4)) return;
    this.flush();
    this.openSegment(this.path);
  }

  /** Writes what was gathered and closes; see {@link journalsClosed}. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearTimeout(this.gathering);
    this.flush();
    const end = (): void => {
      const { fd, path } = this;
      this.fd = -1;
      this.broken = true;
      this.lastTry = Infinity;
      if (fd >= 0 && !this.stuck) this.disk.end(path, fd, 'as it is', () => undefined);
    };
    closing.add(this);
    this.whenWritten(() => {
      end();
      closing.delete(this);
      if (closing.size === 0) for (const then of awaitingClose.splice(0)) then();
    });
  }

  private openSegment(full = ''): void {
    const { dir, name } = this.config;
    this.seq++;
    this.path = join(dir, `${name}-${String(this.seq).padStart(8, '0')}.jsonl`);
    this.broken = false;
    this.begun = false;
    this.put({ do: 'begin', path: this.path, full });
    if (this.broken) return;
    const text = this.config.opening(this.seq);
    this.openingBytes = Buffer.byteLength(text);
    this.put({ do: 'write', text, opening: true });
    this.written = 0;
  }

  private put(task: Task): void {
    const last = this.tasks.at(-1);
    if (task.do === 'write') {
      this.written += Buffer.byteLength(task.text);
      this.behind += task.text.length;
      if (last?.do === 'write' && last.opening === task.opening) last.text += task.text;
      else this.tasks.push(task);
    } else this.tasks.push(task);
    if (this.behind > MAX_BEHIND) this.giveUp(`${MAX_BEHIND} characters wait for it`);
    else this.next();
  }

  /** Gives the disk its next task unless it has one. */
  private next(): void {
    if (this.current !== null) return;
    const task = this.tasks.shift();
    if (task === undefined) {
      this.release();
      return;
    }
    this.current = task;
    if (task.do === 'begin') {
      const last = this.fd;
      this.fd = -1;
      this.disk.begin(task.path, last, this.config, (error, fd) => {
        if (error === null) this.fd = fd;
        this.done(task, error, task.path, fd);
      });
    } else {
      const { fd, path } = this;
      const bytes = Buffer.from(task.text);
      this.disk.write(fd, bytes, (error) => {
        if (error === null) this.totalBytes += bytes.length;
        this.done(task, error, path, fd);
      });
    }
    // Not yet over: no disk of this call's own turn.
    if (this.current === task) this.stallTimer ??= this.watch(task);
  }

  /**
   * Gives the disk up when it has not answered in time. When this comes late, the thread or the machine was held up, and not the disk alone:
   * what it answered meanwhile is heard first, and it gets its time anew. So it does while it answers other logs, whose turn was before: it is
   * slow then, and does not stall.
   */
  private watch(task: Task): NodeJS.Timeout {
    const began = performance.now();
    return setTimeout(() => {
      const late = performance.now() - began - STALL_MS > LATE_MS;
      setImmediate(() => {
        if (this.current !== task) return;
        const answers = (this.disk.answeredAt?.() ?? -Infinity) > began;
        if (late || answers) this.stallTimer = this.watch(task);
        else this.giveUp(`it has not answered for ${STALL_MS} ms`);
      });
    }, STALL_MS);
  }

  private done(task: Task, error: Error | null, path: string, fd: number): void {
    if (this.current !== task) {
      this.cameBack(path, fd, error);
      return;
    }
    this.current = null;
    clearTimeout(this.stallTimer);
    this.stallTimer = undefined;
    if (error !== null) {
      this.fail(error);
      return;
    }
    if (task.do === 'begin') {
      if (task.full !== '') this.compress(task.full);
    } else {
      this.behind -= task.text.length;
      if (task.opening) this.began();
    }
    this.next();
  }

  private began(): void {
    this.begun = true;
    if (this.outage === '') return;
    const { dir, log } = this.config;
    const linesLost = losses.lines - this.lostBefore;
    log.info({ dir, segment: this.seq, outage: this.outage, linesLost }, 'Journal goes on in a new segment');
    this.outage = '';
  }

  /** The disk refused. A segment that has only begun is of no use, and each try would leave one: it goes, and its number is free. */
  private fail(error: Error): void {
    const { dir } = this.config;
    this.stop(new ActorletError(journalErrors.cannotWrite, { dir, problem: error.message }), error.message);
    const { fd, path, begun } = this;
    this.fd = -1;
    if (!begun) this.seq--;
    if (fd >= 0) this.disk.end(path, fd, begun ? 'cut' : 'remove', () => undefined);
    this.release();
  }

  /** The disk does not answer. What it has to do stays with it; when it comes back, that segment is over, or, when it has only begun, is none. */
  private giveUp(problem: string): void {
    const { dir } = this.config;
    this.stuck = this.current !== null;
    this.current = null;
    this.stop(new ActorletError(journalErrors.diskStalls, { dir, problem }), problem);
    losses.stalls++;
    this.release();
  }

  private cameBack(path: string, fd: number, error: Error | null): void {
    this.fd = -1;
    const over = (): void => {
      this.stuck = false;
      this.lastTry = -Infinity;
    };
    if (!this.begun) this.seq--;
    if (fd >= 0) this.disk.end(path, fd, !this.begun ? 'remove' : error === null ? 'as it is' : 'cut', over);
    else over();
  }

  private stop(error: ActorletError, problem: string): void {
    clearTimeout(this.stallTimer);
    this.stallTimer = undefined;
    if (this.outage === '') {
      this.outage = problem;
      this.lostBefore = losses.lines;
      this.config.log.error({ err: error }, 'Journal stopped');
    }
    for (const task of this.tasks) if (task.do === 'write' && !task.opening) lost(task.text);
    this.tasks = [];
    this.behind = 0;
    this.broken = true;
    this.lastTry = performance.now();
  }

  private release(): void {
    const waiting = this.waiting.splice(0);
    for (const then of waiting) then();
  }

  private compress(full: string): void {
    this.compressing = this.compressing
      .then(() => compressSegment(full))
      .then(() => dropOldest(this.config, this.path))
      .catch((error: unknown) => {
        // The bound may have taken it before its turn came.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        this.config.log.warn({ err: error, file: full }, 'Journal segment was not compressed');
      });
    const { compressing } = this;
    compressions.add(compressing);
    void compressing.then(() => compressions.delete(compressing));
  }
}
