import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EvictionMessage } from '../../../machines/eviction/eviction-context.ts';
import { pressureReport } from '../../../machines/pressure/pressure-report.ts';
import type { PressureReport } from '../../../machines/pressure/pressure-report.ts';
import { journalBatches, journalFiles, parseLine } from '../../record/journal/journal-reader.ts';
import { Playback } from '../../record/journal/playback.ts';
import { kindOf } from '../../record/journal/records.ts';
import type { JournalRecord } from '../../record/journal/records.ts';
import type { EvictionSnapshot } from '../../record/machines/eviction.ts';
import { eviction } from '../../record/machines/eviction.ts';
import { node } from '../../record/machines/node.ts';

/** What a journal says of a node's eviction. */
export interface EvictionRecord {
  nodeName: string;
  /** Where its machine was at the first record; null: there is none. */
  first: { at: number; state: EvictionSnapshot } | null;
  /** Where it is at the end. */
  last: { at: number; state: EvictionSnapshot } | null;
  /** All that it was told, in order. */
  messages: EvictionMessage[];
  /** Newest time of any record of it or of the node's machine, ms since the epoch. */
  newest: number;
}

/**
 * Reads what eviction was told, up to a moment. What stands around a damaged line still tells.
 * @param paths journal files or folders
 * @throws ActorletError JRN001 when a file that was named cannot be read
 */
export async function evictionRecord(
  paths: readonly string[],
  until = Number.POSITIVE_INFINITY,
): Promise<EvictionRecord> {
  const files = await journalFiles(paths.flatMap(foldersOf));
  const playback = new Playback({ machines: [eviction], follows: () => true, outcomes: false });
  const record: EvictionRecord = { nodeName: '', first: null, last: null, messages: [], newest: 0 };
  const own = ['segment', 'msg'].map((sort) => `{"r":"${kindOf(eviction, sort as 'msg')}"`);
  const ofNode = `{"r":"${kindOf(node, 'segment')}"`;
  const saw = (at: number): void => {
    const state = playback.stateOf(eviction, '') as EvictionSnapshot | undefined;
    if (state === undefined) return;
    record.first ??= { at, state };
    record.last = { at, state };
    record.newest = Math.max(record.newest, at);
  };
  const take = (line: JournalRecord): void => {
    if (line.t === 'segment' && line.machine === eviction && line.at <= until) {
      playback.begin(line);
      saw(line.at);
    } else if (line.t === 'msg' && line.raw.at <= until && playback.message(line) !== null) {
      record.messages.push(line.raw as EvictionMessage);
      saw(line.raw.at);
    }
  };
  for await (const { lines } of journalBatches(files, () => undefined)) {
    for (const text of lines) {
      if (text.startsWith(ofNode)) record.nodeName = nodeNameOf(text) ?? record.nodeName;
      if (!own.some((start) => text.startsWith(start))) continue;
      try {
        take(parseLine({ file: '', line: 0, text }));
      } catch {
        continue;
      }
    }
  }
  return record;
}

/** A journal whose newest record is younger than this is one of a running agent: the clock goes on, ms. */
const LIVE_MS = 600_000;

/**
 * What a record comes to. Null: it has nothing of eviction.
 * @param at the moment, ms since the epoch; undefined: now for a running agent, else the newest record
 */
export function reportOf(
  { last, newest }: Pick<EvictionRecord, 'last' | 'newest'>,
  at: number | undefined,
  now: number,
): PressureReport | null {
  if (last === null) return null;
  return pressureReport(last.state.context, at ?? (now - newest < LIVE_MS ? Math.max(now, newest) : newest));
}

/** Of a journal's folder only the logs of eviction and of the node are read: those of pods are large. */
function foldersOf(path: string): string[] {
  const folders = [eviction, node].map(({ folder }) => join(path, folder));
  return existsSync(folders[0] ?? '') ? folders.filter((folder) => existsSync(folder)) : [path];
}

function nodeNameOf(text: string): string | null {
  try {
    const { nodeName } = JSON.parse(text) as { nodeName?: unknown };
    return typeof nodeName === 'string' ? nodeName : null;
  } catch {
    return null;
  }
}
