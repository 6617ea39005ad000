import { open, readdir, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { ActorletError } from '../../../machines/errors/define.ts';
import { journalErrors } from '../../../machines/errors/journal-errors.ts';
import type { AnyJournaled } from '../machines/journaled-machine.ts';
import { JOURNALED } from '../machines/registry.ts';
import type { JournalRecord, Kinds } from './records.ts';
import { JOURNAL_VERSION, recordOf } from './records.ts';

/** One line of a journal with its place. */
export interface JournalLine {
  file: string;
  line: number;
  text: string;
}

/** Some lines of one file that follow each other; empty ones are left in, so that they count. */
export interface JournalBatch {
  file: string;
  /** Number of the first of them, from 1. */
  line: number;
  lines: string[];
}

/** Bytes that are read and split at once. */
const CHUNK = 1 << 20;
/** Longest line: a pod may have 1.5 MiB, and a snapshot holds it a few times. What unpacks to more is no journal. */
const MAX_LINE = 64 * CHUNK;

/**
 * Journal files behind the given paths: files as they are, folders by their segments in name order; logs that have a folder
 * of their own in it come last.
 */
export async function journalFiles(paths: string[], machines: readonly AnyJournaled[] = JOURNALED): Promise<string[]> {
  const folders = machines.flatMap(({ folder }) => (folder === '' ? [] : [folder]));
  const files: string[] = [];
  for (const path of paths) {
    try {
      if ((await stat(path)).isDirectory()) {
        for (const dir of [path, ...folders.map((folder) => join(path, folder))]) {
          const names = await readdir(dir).catch((error: unknown) => {
            // Older journals do not have all logs.
            if (dir !== path && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
            throw error;
          });
          // Where both are there, the plain one is whole for sure: the other came to be this moment, or before a crash.
          const besidePlain = new Set(names.map((n) => `${n}.gz`));
          const segments = names.filter((n) => /\.jsonl(\.gz)?$/.test(n) && !besidePlain.has(n)).sort();
          files.push(...segments.map((n) => join(dir, n)));
        }
      } else files.push(path);
    } catch (error) {
      throw unreadable(path, error);
    }
  }
  return files;
}

/** Whole lines of one file as bytes, without the end of the last one. */
export interface JournalChunk {
  /** Position among the files. */
  index: number;
  /** One after the other they are the bytes. */
  pieces: Buffer[];
}

/**
 * The files in order as whole lines, many at once; `.gz` files are read through gunzip. A file that cannot be read (to its
 * end) is told to `broken` (JRN001), after the lines that could be read of it, and the next file goes on. One that its log has compressed
 * since it was found is read so; one that its log has dropped since then is left out.
 */
export async function* journalChunks(
  files: readonly string[],
  broken: (error: ActorletError, index: number) => void,
): AsyncGenerator<JournalChunk> {
  for (const [index, file] of files.entries()) {
    let rest: Buffer[] = [];
    let held = 0;
    try {
      for await (const chunk of bytesOf(file)) {
        const end = chunk.lastIndexOf(10);
        held = end < 0 ? held + chunk.length : chunk.length - end;
        if (held > MAX_LINE) throw new Error(`a line of more than ${MAX_LINE} bytes`);
        if (end < 0) {
          rest.push(chunk);
          continue;
        }
        const whole = chunk.subarray(0, end);
        yield { index, pieces: [...rest, whole] };
        rest = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
      }
      if (rest.length > 0) yield { index, pieces: rest };
    } catch (error) {
      // Half a line before the damage tells nothing.
      broken(unreadable(file, error), index);
    }
  }
}

/** What stands in a segment; nothing when it is gone. */
async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  const found = await openSegment(file);
  if (found === null) return;
  const raw = found.handle.createReadStream({ highWaterMark: CHUNK });
  const input = found.compressed ? raw.pipe(createGunzip({ chunkSize: CHUNK })) : raw;
  raw.on('error', (error) => input.destroy(error));
  try {
    yield* input as AsyncIterable<Buffer>;
  } finally {
    // Of whoever has read enough the file stays open otherwise.
    raw.destroy();
  }
}

/** Opens what there is of a segment now; null: it is gone. */
async function openSegment(file: string): Promise<{ handle: FileHandle; compressed: boolean } | null> {
  const compressed = file.endsWith('.gz');
  try {
    return { handle: await open(file), compressed };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return compressed ? null : openSegment(`${file}.gz`);
  }
}

/** Makes batches of the chunks of some files, which come in order. */
export class ChunkLines {
  private readonly files: readonly string[];
  private index = -1;
  /** The next line's number. */
  line = 1;

  constructor(files: readonly string[]) {
    this.files = files;
  }

  /** The lines of the next chunk. */
  take(index: number, bytes: Buffer): JournalBatch {
    if (index !== this.index) {
      this.index = index;
      this.line = 1;
    }
    const { line } = this;
    const lines = bytes.toString('utf8').split('\n');
    this.line += lines.length;
    return { file: this.files[index] ?? '', line, lines };
  }

  /** Number of the line behind the last one of this file. */
  endOf(index: number): number {
    return index === this.index ? this.line : 1;
  }
}

/**
 * Lines of the files in order, many at once. A file that cannot be read (to its end) is told to `broken`, after the
 * lines that could be read of it, and the next file goes on; without `broken` JRN001 is thrown.
 */
export async function* journalBatches(
  files: readonly string[],
  broken?: (error: ActorletError, file: string, line: number) => void,
): AsyncGenerator<JournalBatch> {
  const lines = new ChunkLines(files);
  const onBroken = (error: ActorletError, index: number) => {
    if (broken === undefined) throw error;
    broken(error, files[index] ?? '', lines.endOf(index));
  };
  for await (const { index, pieces } of journalChunks(files, onBroken)) {
    const [first, ...others] = pieces;
    if (first !== undefined) yield lines.take(index, others.length === 0 ? first : Buffer.concat(pieces));
  }
}

/** Lines of the files, one by one; empty ones are left out. */
export async function* journalLines(files: readonly string[]): AsyncGenerator<JournalLine> {
  for await (const { file, line, lines } of journalBatches(files)) {
    for (const [i, text] of lines.entries()) if (text !== '') yield { file, line: line + i, text };
  }
}

/** Reads a line; a kind that is not known comes back as such. Throws JRN002 or JRN003 that names file and line. */
export function parseLine({ file, line, text }: JournalLine, kinds?: Kinds): JournalRecord {
  let record: JournalRecord;
  try {
    record = recordOf(JSON.parse(text), kinds);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ActorletError(journalErrors.badRecord, { file, line, problem });
  }
  if (record.t !== 'segment' || record.version === JOURNAL_VERSION) return record;
  const { version } = record;
  throw new ActorletError(journalErrors.unknownVersion, { file, line, version, known: JOURNAL_VERSION });
}

function unreadable(file: string, error: unknown): ActorletError {
  return new ActorletError(journalErrors.unreadableFile, {
    file,
    problem: error instanceof Error ? error.message : String(error),
  });
}
