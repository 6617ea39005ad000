/**
 * Thousands of pods of all sorts that come and go through a whole agent with a simulated runtime and a fake API server, and
 * what of memory is left after each so many, once garbage was collected: what grows with the pods that are gone is a leak.
 *   bin/bench leaks [--pods 2000] [--round 50] [--every 250] [--shapes evicted,...] [--ends 0] [--plain] [--inspect] [--journal 8] [--snapshots DIR] [--argv '--flag ...']
 * `--shapes`: of which sorts the pods are (`test/simulated/leaks/support/shapes.ts`). `--ends N`: so many worker threads end after each
 * round. `--plain`: garbage is not collected for the readings. `--inspect`: with the inspector's thread. `--journal MIB`: bound of the journal. `--snapshots DIR`: heap snapshots of each thread at the second and
 * the last reading. `--argv`: Node's own flags, as bin/actorlet gives them by default. Prints one JSON object: a row for each reading,
 * and bytes for each pod from the second to the last reading.
 */
import { mkdirSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { Churn } from '../simulated/leaks/support/churn.ts';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '2000' },
    round: { type: 'string', default: '50' },
    every: { type: 'string', default: '250' },
    shapes: { type: 'string' },
    snapshots: { type: 'string' },
    argv: { type: 'string' },
    inspect: { type: 'boolean', default: false },
    journal: { type: 'string' },
    plain: { type: 'boolean', default: false },
    ends: { type: 'string', default: '0' },
    trace: { type: 'boolean', default: false },
  },
});
const [pods, round, every] = [Number(values.pods), Number(values.round), Number(values.every)];
// As bin/actorlet starts it.
process.env['MALLOC_ARENA_MAX'] ??= '1';
process.env['AGENT_EXEC_ARGV'] =
  values.argv ??
  '--max-semi-space-size=2 --optimize-for-size --no-flush-bytecode --invocation-count-for-maglev=6000 --invocation-count-for-turbofan=20000';

interface Row {
  gone: number;
  /** KiB of each thread's JavaScript heap, main first. */
  heaps: number[];
  externals: number[];
  arrayBuffers: number[];
  handles: Record<string, number>[];
  /** `used/total` MiB of the heaps, main's first. */
  used: string;
  /** Before the garbage was collected, and after; MiB. */
  rssMiB: [number, number];
  /** MiB of what is no file's. */
  anonymousMiB: number;
  fds: number;
  threads: number;
  /** Folders of pods and of their logs that are left. */
  folders: number;
}

const ends: (() => unknown)[] = [];
try {
  const churn = await Churn.start(ends, {
    probed: !values.plain,
    ...(values.shapes !== undefined && { shapes: values.shapes.split(',') }),
    inspect: values.inspect,
    ...(values.journal !== undefined && { journalMaxBytes: Number(values.journal) << 20 }),
  });
  const { pid } = churn.agent;
  const status = async (field: string) => {
    const text = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? NaN);
  };
  const mib = async (field: string) => Math.round(((await status(field)) / 1024) * 10) / 10;
  const read = async (snapshotTo?: string): Promise<Row> => {
    const before = await mib('VmRSS');
    const heaps = values.plain ? [] : await churn.agent.heap(snapshotTo);
    const kib = (of: (heap: (typeof heaps)[number]) => number) => heaps.map((heap) => Math.round(of(heap) / 1024));
    return {
      gone: churn.gone,
      heaps: kib((h) => h.heapUsed),
      externals: kib((h) => h.external),
      arrayBuffers: kib((h) => h.arrayBuffers),
      handles: heaps.map((h) => h.handles),
      used: (await churn.agent.usage()).heaps,
      rssMiB: [before, await mib('VmRSS')],
      anonymousMiB: await mib('RssAnon'),
      fds: (await readdir(`/proc/${pid}/fd`)).length,
      threads: await status('Threads'),
      folders: (await churn.folders()).length,
    };
  };
  if (values.snapshots !== undefined) mkdirSync(values.snapshots, { recursive: true });
  const rows: Row[] = [];
  while (churn.gone < pods) {
    await churn.pass(round);
    for (let i = 0; i < Number(values.ends); i++) await churn.endWorker(i % 2);
    if (churn.gone % every !== 0) continue;
    await sleep(2_000);
    const last = churn.gone >= pods;
    const snapshot = values.snapshots !== undefined && (rows.length === 1 || last);
    rows.push(await read(snapshot ? join(values.snapshots ?? '', `at-${churn.gone}`) : undefined));
    if (values.trace) process.stderr.write(`${new Date().toISOString()} ${JSON.stringify(rows.at(-1))}\n`);
  }
  const [, from] = rows;
  const to = rows.at(-1);
  const bytesPerPod =
    from === undefined || to === undefined || to === from
      ? null
      : to.heaps.map((kib, i) => Math.round(((kib - (from.heaps[i] ?? 0)) * 1024) / (to.gone - from.gone)));
  process.stdout.write(`${JSON.stringify({ rows, bytesPerPod })}\n`);
  await churn.agent.stop();
} finally {
  for (const end of ends.reverse()) await end();
}
