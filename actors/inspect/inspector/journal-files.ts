import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { basename, join } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import { SINGLES } from '../../record/machines/registry.ts';
import { plainPath } from './segment-store.ts';

/** A segment of a shard's log, or of a single machine's, on disk. */
export interface SegmentFile {
  /** As it is on disk, with `.gz` when it is compressed. */
  path: string;
  /** Name of its log, e.g. `shard-00` or `node`, or of the file when it is not called like a segment. */
  writer: string;
  seq: number;
}

const LOGS = [...SINGLES.values()].map(({ name }) => name).join('|');
// eslint-disable-next-line no-restricted-syntax -- made of the names above
const NAME = new RegExp(`^(.*shard-\\d+|${LOGS})-(\\d+)\\.jsonl(?:\\.gz)?$`);

/**
 * The segments of the shards and of all single machines in a journal's folder, each once: while one is being compressed both
 * forms are there, and the plain one counts.
 */
export function inspectedSegments(dir: string): SegmentFile[] {
  const singles = [...SINGLES.values()].flatMap(({ name, folder }) => singleSegments(join(dir, folder), `${name}-`));
  return [...segmentsIn(dir, 'shard-'), ...singles];
}

function singleSegments(dir: string, start: string): SegmentFile[] {
  try {
    return segmentsIn(dir, start);
  } catch (error) {
    // Older journals do not have all of them.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function segmentsIn(dir: string, start: string): SegmentFile[] {
  const found = new Map<string, SegmentFile>();
  for (const name of readdirSync(dir).sort()) {
    // `.jsonl` sorts before `.jsonl.gz`.
    if (!NAME.test(name) || !name.startsWith(start) || found.has(plainPath(name))) continue;
    found.set(plainPath(name), segmentFile(join(dir, name)));
  }
  return [...found.values()];
}

/** A file as a segment. */
export function segmentFile(path: string): SegmentFile {
  const match = NAME.exec(basename(path));
  return { path, writer: match?.[1] ?? basename(path), seq: Number(match?.[2] ?? 0) };
}

/**
 * In the order in which they were begun: a pod can change its shard when the agent is started with another number of
 * them. Files that do not begin with a segment keep their place behind the one before.
 */
export function inOrderOfTime(files: readonly SegmentFile[]): SegmentFile[] {
  let last = 0;
  const dated = files.map((file) => ({ file, at: (last = beganAt(file.path) ?? last) }));
  return dated.sort((a, b) => a.at - b.at).map(({ file }) => file);
}

function beganAt(path: string): number | null {
  const head = headOf(path);
  const at = head === null ? null : /^\{"r":"(?:[a-z]+\.)?segment","v":\d+,"at":(\d+)/.exec(head);
  return at === null ? null : Number(at[1]);
}

function headOf(path: string): string | null {
  const bytes = Buffer.alloc(4096);
  try {
    const fd = openSync(path, 'r');
    try {
      const head = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
      // Only the start of the file is given, so its end cannot be asked for.
      const plain = path.endsWith('.gz') ? gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH }) : head;
      return plain.toString('latin1', 0, 256);
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}
