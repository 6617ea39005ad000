import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../host/files/host-failure.ts';

/** When the last shutdown of the node began and ended, ms since the epoch; null: it did not. */
export interface ShutdownTimes {
  startedAt: number | null;
  endedAt: number | null;
}

/** Kubelet's name of the file below the root directory. */
const FILE = 'graceful_node_shutdown_state';
/** A time that is none, as Go writes it. */
const NEVER = '0001-01-01T00:00:00Z';

/** Kubelet's file: an agent that comes up again tells of the shutdown before. */
export class ShutdownTimesFile {
  readonly path: string;

  constructor(rootDir: string) {
    this.path = join(rootDir, FILE);
  }

  /** Replaces the file. Throws when that fails. */
  store({ startedAt, endedAt }: ShutdownTimes): void {
    const text = JSON.stringify({ startTime: written(startedAt), endTime: written(endedAt) });
    const unfinished = `${this.path}.tmp`;
    writeFileSync(unfinished, text, { mode: 0o644 });
    chmodSync(unfinished, 0o644);
    // The machine is about to go down.
    const file = openSync(unfinished, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(unfinished, this.path);
  }

  /** What was stored; nothing when there is no file. Throws when it cannot be read. */
  load(): ShutdownTimes {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return { startedAt: null, endedAt: null };
      throw error;
    }
    const stored = JSON.parse(text) as { startTime?: unknown; endTime?: unknown } | null;
    return { startedAt: read(stored?.startTime), endedAt: read(stored?.endTime) };
  }
}

function written(at: number | null): string {
  return at === null ? NEVER : new Date(at).toISOString();
}

function read(time: unknown): number | null {
  if (typeof time !== 'string' || time === NEVER) return null;
  const at = Date.parse(time);
  return Number.isNaN(at) ? null : at;
}
