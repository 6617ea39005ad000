import { closeSync, constants, fstatSync, open, realpath } from 'node:fs';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { goQuote } from '../../../machines/values/go-quote.ts';
import { ERRNO_WORDS } from '../../host/files/errno-words.ts';
import { untilQuiet } from '../../host/logs/quiet-log.ts';
import type { BodyWriter } from './body-writer.ts';
import { LineReader, readAt } from './line-reader.ts';
import type { LineWriter } from './line-writer.ts';
import { LogWatch } from './log-watch.ts';
import type { RunningContainers } from './running-containers.ts';

const openFile = promisify(open);
const resolvePath = promisify(realpath);

/** The runtime may write what it still had into the old file just after it made the new one; wait for that, ms. */
const ROTATION_SETTLES_MS = 50;

const OPEN_TRIES = 5;
const OPEN_PAUSE_MS = 50;

/** A log to be read. */
export interface LogSource {
  /** `logPath` of the CRI ContainerStatus. */
  path: string;
  /** Begin with the last lines; all when absent. */
  tailLines?: number;
  /** Go on with what comes until this container ends; when absent, the end of the file is the end. */
  follow?: { containerID: string; running: RunningContainers };
}

/**
 * Sends the lines of a log file to `body` through `lines`. Ends when a limit is reached, at the end of the file or of
 * the followed container, or when the client goes away; leaves no file and no watch open.
 * @throws Error in the words of kubelet's ReadLogs
 */
export async function readLogs(source: LogSource, lines: LineWriter, body: BodyWriter): Promise<void> {
  const { path, fd } = await openLog(source.path);
  const reading = new Reading(fd, path, lines, body);
  try {
    await reading.begin(source.tailLines, source.follow !== undefined);
    if (source.follow === undefined) await reading.toTheEnd();
    else await reading.untilContainerEnds(source.follow.containerID, source.follow.running);
  } finally {
    reading.close();
  }
}

/** Opens the file that the path, links resolved, names. The caller closes it. */
async function openLog(named: string): Promise<{ path: string; fd: number }> {
  for (let tries = 1; ; tries++) {
    let path = '';
    let step = 'failed to open log file';
    try {
      step = `failed to try resolving symlinks in path ${goQuote(named)}: lstat`;
      // Of an empty path the kubelet says only that it cannot be opened.
      if (named !== '') path = await resolvePath(named);
      step = `failed to open log file ${goQuote(path)}: open`;
      const fd = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK);
      if (isReadable(fd)) return { path, fd };
      closeSync(fd);
      throw new Error('not a regular file');
    } catch (error) {
      // Between the two halves of a rotation there is no such file for a moment.
      const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!absent || named === '' || tries === OPEN_TRIES) throw new Error(`${step} ${systemReason(error, path)}`);
    }
    await sleep(OPEN_PAUSE_MS);
  }
}

/** A file, or a folder, of which the first read says what it is; a device may have no end. */
function isReadable(fd: number): boolean {
  const info = fstatSync(fd);
  return info.isFile() || info.isDirectory();
}

class Reading {
  #fd: number;
  readonly #path: string;
  readonly #lines: LineWriter;
  readonly #body: BodyWriter;
  #reader: LineReader;
  #watch: LogWatch | undefined;

  constructor(fd: number, path: string, lines: LineWriter, body: BodyWriter) {
    this.#fd = fd;
    this.#path = path;
    this.#lines = lines;
    this.#body = body;
    this.#reader = new LineReader(fd, 0, false);
  }

  get #over(): boolean {
    return this.#lines.done || this.#body.closed;
  }

  async begin(tailLines: number | undefined, follow: boolean): Promise<void> {
    if (tailLines === undefined) return;
    const size = fstatSync(this.#fd).size;
    const fd = this.#fd;
    const start = await tailStart((buffer, length, position) => readAt(fd, buffer, length, position), size, tailLines);
    this.#reader = new LineReader(fd, start, follow && size - start < 4096);
  }

  /** Sends all whole lines there are. */
  async #drain(): Promise<void> {
    while (!this.#over && (await this.#reader.fill())) {
      this.#reader.lines((bytes, from, to) => {
        this.#lines.line(bytes, from, to);
        return !this.#lines.done;
      });
      await this.#body.write(this.#lines.take());
    }
  }

  async toTheEnd(): Promise<void> {
    await this.#drain();
    const rest = this.#over ? undefined : this.#reader.rest();
    if (rest === undefined) return;
    this.#lines.line(rest, 0, rest.length);
    await this.#body.write(this.#lines.take());
  }

  async untilContainerEnds(id: string, running: RunningContainers): Promise<void> {
    // From the start, so that no rotation is missed while a slow client takes what is there.
    const watch = (this.#watch = new LogWatch(this.#path, this.#fd));
    await this.#drain();
    if (this.#over) return;
    let ended = false;
    let failed: Error | undefined;
    const stop = running.watch(id, (error) => {
      ended = true;
      failed = error;
      watch.poke();
    });
    const forget = this.#body.onClose(() => {
      watch.poke();
    });
    try {
      const before = ended || !(await running.isRunning(id));
      ended ||= before;
      for (;;) {
        // Taken before the read: what the container wrote before its end is in the file once that is quiet.
        const last = ended;
        if (last && !before) await untilQuiet(this.#path, () => this.#over);
        if (last) watch.look();
        await this.#drain();
        while (watch.rotated && !this.#over) await this.#rotate(watch);
        if (this.#over) return;
        if (failed !== undefined) throw failed;
        if (last) return;
        this.#reader.release();
        this.#lines.release();
        if (!ended) await watch.changed();
        this.#restartWhenCut();
      }
    } finally {
      stop();
      forget();
    }
  }

  async #rotate(watch: LogWatch): Promise<void> {
    await this.#drain();
    await sleep(ROTATION_SETTLES_MS);
    await this.#drain();
    const next = watch.next();
    if (next === undefined || this.#over) {
      if (next !== undefined) closeSync(next);
      return;
    }
    closeSync(this.#fd);
    this.#fd = next;
    this.#reader.switchTo(next);
    await this.#drain();
  }

  /** A file that was emptied and goes on being written (logrotate's `copytruncate`) is read from its start. */
  #restartWhenCut(): void {
    if (fstatSync(this.#fd).size < this.#reader.position) this.#reader.switchTo(this.#fd);
  }

  close(): void {
    this.#watch?.close();
    closeSync(this.#fd);
  }
}

/** `/path: no such file or directory`, as Go says it. */
function systemReason(error: unknown, opened: string): string {
  if (!(error instanceof Error)) return `${opened}: ${String(error)}`;
  if (!('code' in error)) return `${opened}: ${error.message}`;
  const where = opened === '' && 'path' in error ? String(error.path) : opened;
  return `${where}: ${ERRNO_WORDS[String(error.code)] ?? error.message}`;
}

/** Reads up to `length` bytes at `position` into the start of `buffer`; 0 at the end. */
type ReadAt = (buffer: Buffer, length: number, position: number) => Promise<number>;

/**
 * Where the last `lines` lines of a file begin, reading backwards in blocks. A last line without newline is not counted
 * and comes on top.
 * @param size bytes of the file
 */
export async function tailStart(read: ReadAt, size: number, lines: number, blockSize = 64 * 1024): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(blockSize, Math.max(size, 1)));
  // The newline before the wanted lines ends the search.
  let missing = lines + 1;
  for (let right = size; right > 0;) {
    const left = Math.max(0, right - buffer.length);
    await readFully(read, buffer, right - left, left);
    for (let at = right - left; at > 0;) {
      const newline = buffer.subarray(0, at).lastIndexOf(0x0a);
      if (newline < 0) break;
      if (--missing <= 0) return left + newline + 1;
      at = newline;
    }
    right = left;
  }
  return 0;
}

async function readFully(read: ReadAt, buffer: Buffer, length: number, position: number): Promise<void> {
  let done = 0;
  while (done < length) {
    const count = await read(buffer.subarray(done), length - done, position + done);
    // The file became shorter: what is not there has no newline.
    if (count === 0) {
      buffer.fill(0, done, length);
      return;
    }
    done += count;
  }
}
