import { readFileSync, readdirSync, truncateSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { wholeLines } from './log-disk.ts';
import { segmentsOf } from './segment-files.ts';

/** Which log it is, and where to tell what could not be tidied. */
interface LogPlace {
  dir: string;
  /** Start of the segments' names. */
  name: string;
  log: Logger;
}

/** Number of the last segment that agents before this one wrote, tidied; 0 when there is none. */
export function lastSegment(place: LogPlace): number {
  const before = segmentsOf(place.dir, place.name);
  const left = tidy(place, before.at(-1)?.path) ? before.slice(0, -1) : before;
  return Math.max(0, ...left.map(({ seq }) => seq));
}

/**
 * What an agent that was killed left: half a line at the end of its last segment, half a compressed file. A segment in which nothing
 * stands yet is none, and its number is free; true = it is gone.
 */
function tidy({ dir, name, log }: LogPlace, last: string | undefined): boolean {
  try {
    for (const file of readdirSync(dir)) {
      if (file.startsWith(`${name}-`) && file.endsWith('.gz.tmp')) unlinkSync(join(dir, file));
    }
    if (last?.endsWith('.jsonl') === true) {
      const content = readFileSync(last);
      const whole = wholeLines(content);
      if (whole === 0) {
        unlinkSync(last);
        return true;
      }
      if (whole !== content.length) truncateSync(last, whole);
    }
  } catch (error) {
    log.warn({ err: error, dir }, 'Journal folder was not tidied');
  }
  return false;
}
