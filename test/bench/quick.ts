/**
 * What may not get worse by a fifth, in counts that are the same on each machine however busy it is; a minute of CPU at most.
 *   bin/bench --quick [--pods 20]
 * Prints a row for each with what it was when it was last looked at, and ends with 1 when one is more than a fifth above it. What has become better is
 * to be written into {@link KNOWN} here. CI runs it as test/simulated/agent/pod-counts.test.ts.
 */
import { parseArgs } from 'node:util';
import { loadedText } from './loaded-text.ts';
import { podCounts } from './pod-counts.ts';

/** One thing that is guarded. */
export interface Row {
  name: string;
  now: number;
  known: number;
  /** From here on it has become worse. */
  most: number;
}

/** What was counted on 2026-11-23. */
const KNOWN = {
  'calls to the runtime of a static pod without volumes': 8,
  'effects of its life': 17,
  'bytes in the journal of an effect': 1826,
  'modules of a worker thread': 537,
  'KiB of text of a worker thread': 3112,
  'modules of the daemon': 1264,
  'KiB of text of the daemon': 6614,
};
type Name = keyof typeof KNOWN;

/** By how much something may grow before it is told. */
const SLACK = 1.2;

/** Counts all of them. */
export async function quickRows(pods: number): Promise<Row[]> {
  const counts = await podCounts(pods);
  const worker = await loadedText('actors/pods/shard/shard-worker.ts');
  const daemon = await loadedText('bin/commands/run-daemon.ts');
  const now: Record<Name, number> = {
    'calls to the runtime of a static pod without volumes': counts.runtimeCalls,
    'effects of its life': counts.effects,
    'bytes in the journal of an effect': counts.journalBytesOfEffect,
    'modules of a worker thread': worker.modules,
    'KiB of text of a worker thread': worker.kibibytes,
    'modules of the daemon': daemon.modules,
    'KiB of text of the daemon': daemon.kibibytes,
  };
  return (Object.keys(KNOWN) as Name[]).map((name) => {
    const known = KNOWN[name];
    return { name, now: now[name], known, most: Math.round(known * SLACK * 10) / 10 };
  });
}

/** A row as it is printed. */
export function rowText({ name, now, known, most }: Row): string {
  const judged = now > most ? 'WORSE' : now < known * 0.9 ? 'better: write it down' : 'ok';
  return `${name.padEnd(54)} ${String(Math.round(now * 10) / 10).padStart(7)}  known ${String(known).padStart(5)}  at most ${String(most).padStart(7)}  ${judged}`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { pods: { type: 'string', default: '20' } } });
  const rows = await quickRows(Number(values.pods));
  process.stdout.write(`${rows.map(rowText).join('\n')}\n`);
  process.exitCode = rows.some(({ now, most }) => now > most) ? 1 : 0;
}
