import { readdirSync, rmSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A segment of a log on disk. */
export interface SegmentFile {
  path: string;
  seq: number;
  bytes: number;
}

/** Which segments there may be. */
export interface SegmentBound {
  dir: string;
  /** Start of the segments' names. */
  name: string;
  /** Of all segments together, bytes. */
  maxBytes: number;
}

/** Segments of a log on disk, oldest first. */
export function segmentsOf(dir: string, name: string): SegmentFile[] {
  return inOrder(
    named(readdirSync(dir), name).map((file) => [file, statSync(join(dir, file), { throwIfNoEntry: false })?.size]),
    { dir, name },
  );
}

/** Removes the oldest segments until the bound is kept; `open` and what is newer stays. */
export function dropOldestSync({ dir, name, maxBytes }: SegmentBound, open: string): void {
  for (const path of tooOld(segmentsOf(dir, name), maxBytes, open)) rmSync(path, { force: true });
}

/** As {@link dropOldestSync}, without waiting. */
export async function dropOldest({ dir, name, maxBytes }: SegmentBound, open: string): Promise<void> {
  const sizes: [string, number | undefined][] = [];
  for (const file of named(await readdir(dir), name)) {
    // It may have been replaced by its compressed form this very moment.
    const found = await stat(join(dir, file)).catch(() => undefined);
    sizes.push([file, found?.size]);
  }
  for (const path of tooOld(inOrder(sizes, { dir, name }), maxBytes, open)) await rm(path, { force: true });
}

function named(files: readonly string[], name: string): string[] {
  const prefix = `${name}-`;
  return files.filter((file) => file.startsWith(prefix) && /^\d+\.jsonl(\.gz)?$/.test(file.slice(prefix.length)));
}

function inOrder(
  files: readonly (readonly [string, number | undefined])[],
  { dir, name }: { dir: string; name: string },
): SegmentFile[] {
  return files
    .map(([file, bytes]) => ({
      path: join(dir, file),
      seq: parseInt(file.slice(name.length + 1), 10),
      bytes: bytes ?? 0,
    }))
    .sort((a, b) => a.seq - b.seq);
}

function tooOld(segments: readonly SegmentFile[], maxBytes: number, open: string): string[] {
  const out: string[] = [];
  let total = segments.reduce((sum, s) => sum + s.bytes, 0);
  for (const s of segments) {
    if (total <= maxBytes || s.path === open) break;
    out.push(s.path);
    total -= s.bytes;
  }
  return out;
}
