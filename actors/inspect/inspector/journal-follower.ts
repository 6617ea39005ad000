import { stat } from 'node:fs/promises';
import { ActorletError } from '../../../machines/errors/define.ts';
import { journalErrors } from '../../../machines/errors/journal-errors.ts';
import type { SegmentFile } from './journal-files.ts';
import { inOrderOfTime, segmentFile, inspectedSegments } from './journal-files.ts';
import type { JournalIndex } from './journal-index.ts';
import { SegmentFeed } from './segment-feed.ts';
import { plainPath } from './segment-store.ts';

/** A place where a journal cannot be read; what follows in that file is left out. */
export interface Damage {
  file: string;
  /** Number of the line, from 1. */
  line: number;
  problem: string;
}

/** A log that is being read. */
interface Reading {
  seq: number;
  feed: SegmentFeed;
  segment: number;
  line: number;
  /** It is damaged: the next segment is waited for. */
  ended: boolean;
}

/**
 * Reads a journal into the index: files once, or the folder of a running agent for as long as it goes on, with new
 * segments, compressed ones and dropped ones.
 */
export class JournalFollower {
  private readonly index: JournalIndex;
  readonly damages: Damage[] = [];
  private readonly logs = new Map<string, Reading>();
  private readonly known = new Map<string, number>();
  private running: Promise<void> | null = null;

  constructor(index: JournalIndex) {
    this.index = index;
  }

  /**
   * Reads files and folders to their end.
   * @throws ActorletError JRN001 when a path cannot be read
   */
  async readAll(paths: readonly string[]): Promise<void> {
    const files: SegmentFile[] = [];
    for (const path of paths) {
      try {
        if ((await stat(path)).isDirectory()) files.push(...inspectedSegments(path));
        else if (!files.some((file) => plainPath(file.path) === plainPath(path))) files.push(segmentFile(path));
      } catch (error) {
        throw new ActorletError(journalErrors.unreadableFile, { file: path, problem: textOf(error) });
      }
    }
    for (const file of inOrderOfTime(files)) {
      const reading = this.begin(file);
      await this.read(file.writer, reading);
      if (reading.feed.openBytes > 0 && !reading.ended)
        this.damages.push({ file: file.path, line: reading.line + 1, problem: 'the last line is cut' });
      reading.feed.close();
    }
    this.index.noMore();
  }

  /** Reads what a running agent has written into its folder since the last call. Calls at the same time share one look. */
  follow(dir: string): Promise<void> {
    this.running ??= this.look(dir).finally(() => (this.running = null));
    return this.running;
  }

  close(): void {
    for (const { feed } of this.logs.values()) feed.close();
    this.logs.clear();
  }

  private async look(dir: string): Promise<void> {
    let files: SegmentFile[];
    try {
      files = inspectedSegments(dir);
    } catch {
      // The folder is made by the first shard that starts.
      return;
    }
    this.dropMissing(files);
    const fresh = files.filter((file) => {
      const log = this.logs.get(file.writer);
      return log === undefined || file.seq > log.seq;
    });
    // The segments that are open are read to their end before the ones that follow them.
    for (const [writer, log] of this.logs) await this.read(writer, log);
    for (const file of inOrderOfTime(fresh)) {
      this.logs.get(file.writer)?.feed.close();
      const reading = this.begin(file);
      this.logs.set(file.writer, reading);
      await this.read(file.writer, reading);
    }
  }

  private begin(file: SegmentFile): Reading {
    const segment = this.index.store.add(file.path);
    this.known.set(plainPath(file.path), segment);
    return { seq: file.seq, feed: new SegmentFeed(file.path), segment, line: 0, ended: false };
  }

  private async read(writer: string, reading: Reading): Promise<void> {
    if (reading.ended) return;
    // A compressed segment does not grow.
    if (reading.feed.path.endsWith('.gz')) reading.ended = true;
    try {
      await reading.feed.read((line, offset) => {
        reading.line++;
        this.index.take(writer, reading.segment, line, offset);
      });
    } catch (error) {
      reading.ended = true;
      reading.feed.close();
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
        if (reading.feed.path.endsWith('.gz')) return;
        // It was compressed since the folder was listed.
        Object.assign(reading, { feed: new SegmentFeed(`${reading.feed.path}.gz`), ended: false });
        await this.read(writer, reading);
        return;
      }
      this.damages.push({ file: reading.feed.path, line: Math.max(1, reading.line), problem: textOf(error) });
    }
  }

  private dropMissing(files: readonly SegmentFile[]): void {
    const there = new Set(files.map((file) => plainPath(file.path)));
    const gone = [...this.known].filter(([path]) => !there.has(path));
    if (gone.length === 0) return;
    for (const [path] of gone) this.known.delete(path);
    this.index.drop(gone.map(([, segment]) => segment));
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
