import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { JOURNALED } from '../machines/registry.ts';
import type { Difference } from './difference.ts';
import { journalChunks } from './journal-reader.ts';
import type { Found, FromPart, PartResult, PartTask, ToPart } from './parallel-protocol.ts';

/** What a replay in several threads came to: the same as one in one thread. */
export interface ParallelResult {
  messages: number;
  pods: number;
  unanswered: number;
  /** Names of the machines that had messages: only these were compared. */
  machines: string[];
  /** The first difference of each pod, in the order of the journal. */
  differences: Difference[];
  /** What is damaged or missing, in the order of the journal. */
  damages: string[];
  /** Kinds of records that were left out: a later version has added them. */
  unknownKinds: string[];
}

/** Bytes of journal from which on threads pay: each one loads and compiles the machines for itself. */
const WORTH_BYTES = 128 << 20;
/** How many bytes come of one of a compressed file, about. */
const INFLATION = 12;
const MOST_THREADS = 8;
/** Pieces that are read ahead, about 1 MiB each. */
const AHEAD = 8;
/** Room for longer pieces than the first one. */
const SPARE_BYTES = 1 << 16;
/** Most of what a step makes is garbage at once: a large young generation hardly costs anything. */
const YOUNG_MIB = 192;

/** How many threads a replay of the files is worth. */
export async function threadsFor(files: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const file of files) {
    const size = await stat(file).then(
      (s) => s.size,
      () => 0,
    );
    bytes += file.endsWith('.gz') ? size * INFLATION : size;
  }
  return bytes < WORTH_BYTES ? 1 : Math.min(availableParallelism(), MOST_THREADS);
}

/**
 * Replays the files in `threads` threads, each with pods of its own. Every thread gets all lines and leaves out those of
 * other pods. Null when the journal has something whose outcome depends on the order in which all lines are seen: a
 * difference (unless `goOn`), a damage in the middle of a file. The caller then replays it in one thread.
 */
export async function parallelReplay(
  files: readonly string[],
  { threads, goOn }: { threads: number; goOn: boolean },
): Promise<ParallelResult | null> {
  const parts = Array.from({ length: threads }, (_, index) => new Part({ files, part: { index, of: threads }, goOn }));
  try {
    const broken: Found<string>[] = [];
    const pool = new SharedPieces();
    const onBroken = (error: Error, index: number) =>
      void broken.push({ index, line: Number.MAX_SAFE_INTEGER, what: error.message });
    for await (const { index, pieces } of journalChunks(files, onBroken)) {
      // All have read what stood in it.
      await Promise.all(parts.map((part) => part.room()));
      if (parts.some((part) => part.failed)) return null;
      const { bytes, length } = pool.fill(pieces);
      for (const part of parts) part.send({ t: 'lines', index, bytes, length });
    }
    for (const part of parts) part.send({ t: 'end' });
    const results: PartResult[] = [];
    for (const part of parts) {
      const result = await part.result;
      if (result === null) return null;
      results.push(result);
    }
    return joined(results, broken);
  } finally {
    await Promise.all(parts.map((part) => part.end()));
  }
}

function joined(results: readonly PartResult[], broken: readonly Found<string>[]): ParallelResult {
  const sum = (count: (result: PartResult) => number) => results.reduce((all, result) => all + count(result), 0);
  const differences = inOrder(results.flatMap((result) => result.differences));
  // Damage that is nobody's own was found by all.
  const damages = inOrder([...results.flatMap((result) => result.damages), ...broken]).filter(
    (d, i, all) => i === 0 || d.what !== all[i - 1]?.what || d.line !== all[i - 1]?.line,
  );
  return {
    messages: sum((r) => r.messages),
    pods: sum((r) => r.pods),
    unanswered: sum((r) => r.unanswered),
    machines: JOURNALED.map(({ name }) => name).filter((name) => results.some((r) => r.machines.includes(name))),
    differences: differences.map(({ what }) => what),
    damages: damages.map(({ what }) => what),
    unknownKinds: [...new Set(results.flatMap((r) => r.unknownKinds))].sort(),
  };
}

function inOrder<T>(found: readonly Found<T>[]): Found<T>[] {
  return [...found].sort((a, b) => a.index - b.index || a.line - b.line);
}

/** Shared memory that is used again and again: {@link AHEAD} pieces in turn. */
class SharedPieces {
  private readonly buffers: SharedArrayBuffer[] = [];
  private next = 0;

  /** Puts bytes into the oldest piece. */
  fill(pieces: readonly Buffer[]): { bytes: SharedArrayBuffer; length: number } {
    const length = pieces.reduce((sum, { length: one }) => sum + one, 0);
    const at = this.next++ % AHEAD;
    let bytes = this.buffers[at];
    if (bytes === undefined || bytes.byteLength < length)
      this.buffers[at] = bytes = new SharedArrayBuffer(length + SPARE_BYTES);
    const into = new Uint8Array(bytes);
    let offset = 0;
    for (const piece of pieces) {
      into.set(piece, offset);
      offset += piece.length;
    }
    return { bytes, length };
  }
}

/** A thread that replays a part. */
class Part {
  private readonly worker: Worker;
  private underWay = 0;
  private wake: (() => void) | null = null;
  /** It gave up or died. */
  failed = false;
  /** Null when it failed. */
  readonly result: Promise<PartResult | null>;

  constructor(task: PartTask) {
    // The entry has the ending of this file: .ts in a checkout, .js in a package.
    const entry = new URL(`./replay-worker${extname(import.meta.url)}`, import.meta.url);
    this.worker = new Worker(entry, { workerData: task, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB } });
    const { promise, resolve } = Promise.withResolvers<PartResult | null>();
    this.result = promise;
    const fail = () => {
      this.failed = true;
      resolve(null);
      this.wake?.();
    };
    this.worker.on('message', (message: FromPart) => {
      if (message.t === 'giveUp') fail();
      else if (message.t === 'result') resolve(message.result);
      else if (message.t === 'read') {
        this.underWay--;
        this.wake?.();
      }
    });
    this.worker.on('error', fail);
    this.worker.on('exit', fail);
  }

  send(message: ToPart): void {
    if (message.t === 'lines') this.underWay++;
    this.worker.postMessage(message);
  }

  /** Resolves when it has little left to read, or failed. */
  async room(): Promise<void> {
    while (this.underWay >= AHEAD && !this.failed) {
      await new Promise<void>((resolve) => (this.wake = resolve));
      this.wake = null;
    }
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }
}
