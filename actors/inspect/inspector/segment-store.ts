import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Place } from './step-table.ts';

/** Uncompressed segments are kept up to this many bytes in all, and this long after they were last needed. */
const KEPT_BYTES = 96 << 20;
const KEPT_MS = 30_000;
/** A segment is an eighth of a journal's bound; only a file that somebody put together is larger than this. */
const MAX_INFLATED = 1 << 30;

/** Reads lines by their places until it is closed. */
export interface LineReading {
  /** The line's bytes; null when its segment is gone. */
  line(place: Place): Buffer | null;
  close(): void;
}

interface Inflated {
  bytes: Buffer;
  used: number;
}

/**
 * The journal's segments, each by a number. Lines are read from disk when they are needed; a segment that the agent has
 * compressed meanwhile is uncompressed whole, and kept for a while.
 */
export class SegmentStore {
  private readonly paths: string[] = [];
  private readonly numbers = new Map<string, number>();
  private readonly dropped = new Set<number>();
  private readonly inflated = new Map<number, Inflated>();
  private sweep: NodeJS.Timeout | undefined;

  /** Number of a segment. @param path with or without `.gz`: both name the same segment */
  add(path: string): number {
    const plain = plainPath(path);
    let number = this.numbers.get(plain);
    if (number === undefined) {
      number = this.paths.push(plain) - 1;
      this.numbers.set(plain, number);
    }
    return number;
  }

  /** The segment's path without `.gz`. */
  path(segment: number): string {
    return this.paths[segment] ?? '';
  }

  /** The segment is not on disk any more. */
  drop(segment: number): void {
    this.dropped.add(segment);
    this.inflated.delete(segment);
  }

  isDropped(segment: number): boolean {
    return this.dropped.has(segment);
  }

  /** Opens what is read within one answer: files are not held open longer, since the agent removes them. */
  reading(): LineReading {
    const open = new Map<number, number | null>();
    return {
      line: (place) => {
        let fd = open.get(place.segment);
        if (fd === undefined) {
          fd = this.inflated.has(place.segment) ? null : openOrNull(this.path(place.segment));
          open.set(place.segment, fd);
        }
        return fd === null ? this.inflatedLine(place) : readAt(fd, place);
      },
      close: () => {
        for (const fd of open.values()) if (fd !== null) closeSync(fd);
        open.clear();
      },
    };
  }

  close(): void {
    clearInterval(this.sweep);
    this.sweep = undefined;
    this.inflated.clear();
  }

  private inflatedLine({ segment, offset, bytes }: Place): Buffer | null {
    let kept = this.inflated.get(segment);
    if (kept === undefined) {
      const content = inflate(`${this.path(segment)}.gz`);
      if (content === null) return null;
      kept = { bytes: content, used: 0 };
      this.keep(segment, kept);
    }
    kept.used = performance.now();
    return offset + bytes <= kept.bytes.length ? kept.bytes.subarray(offset, offset + bytes) : null;
  }

  private keep(segment: number, content: Inflated): void {
    let total = content.bytes.length;
    for (const { bytes } of this.inflated.values()) total += bytes.length;
    // Maps are in order of insertion; the oldest go first.
    for (const [other, { bytes }] of this.inflated) {
      if (total <= KEPT_BYTES) break;
      this.inflated.delete(other);
      total -= bytes.length;
    }
    this.inflated.set(segment, content);
    this.sweep ??= setInterval(() => this.forget(), KEPT_MS).unref();
  }

  private forget(): void {
    const before = performance.now() - KEPT_MS;
    for (const [segment, { used }] of this.inflated) if (used < before) this.inflated.delete(segment);
    if (this.inflated.size > 0) return;
    clearInterval(this.sweep);
    this.sweep = undefined;
  }
}

/** A segment's path without `.gz`. */
export function plainPath(path: string): string {
  return path.endsWith('.gz') ? path.slice(0, -3) : path;
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}

function readAt(fd: number, { offset, bytes }: Place): Buffer | null {
  const out = Buffer.allocUnsafe(bytes);
  for (let done = 0; done < bytes;) {
    const read = readSync(fd, out, done, bytes - done, offset + done);
    if (read === 0) return null;
    done += read;
  }
  return out;
}

function inflate(path: string): Buffer | null {
  try {
    return gunzipSync(readFileSync(path), { maxOutputLength: MAX_INFLATED });
  } catch {
    return null;
  }
}
