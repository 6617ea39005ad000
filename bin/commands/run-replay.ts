import type { Difference } from '../../actors/record/journal/difference.ts';
import { whoseOf } from '../../actors/record/journal/difference.ts';
import { exportPod } from '../../actors/record/journal/export-pod.ts';
import { journalBatches, journalFiles } from '../../actors/record/journal/journal-reader.ts';
import { parallelReplay, threadsFor } from '../../actors/record/journal/parallel-replay.ts';
import type { ReplayOptions, ReplayedStep } from '../../actors/record/journal/replay.ts';
import { Replayer, replayBatches } from '../../actors/record/journal/replay.ts';
import { momentOf } from '../../actors/record/journal/selection.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { journalErrors } from '../../machines/errors/journal-errors.ts';

/** What `actorlet replay` was asked for. */
export interface ReplayFlags {
  from?: string;
  until?: string;
  pod?: string;
  json?: boolean;
  allDifferences?: boolean;
  export?: string;
  threads?: number;
}

/** Exit codes besides 0 (identical). */
const DIFFERENT = 1;
const DAMAGED = 3;

/** Replays the files that `paths` name, or writes one pod of them. */
export async function runReplay(paths: readonly string[], flags: ReplayFlags): Promise<void> {
  const files = await journalFiles([...paths]);
  if (flags.export === undefined) await run(files, flags, paths);
  else process.stdout.write(await exportPod(files, flags.export));
}

/** What there is to say at the end. */
interface Outcome {
  messages: number;
  pods: number;
  unanswered: number;
  /** Names of the machines that had messages. */
  machines: string[];
  /** A difference, or several with `--all-differences`. */
  differing: number;
  damages: string[];
  /** Kinds of records that were left out. */
  unknownKinds: string[];
}

async function run(files: string[], flags: ReplayFlags, named: readonly string[]): Promise<void> {
  const began = performance.now();
  const write = outlet();
  const outcome = (await inThreads(files, flags, write)) ?? (await inOneThread(files, flags, write));
  const { messages, pods, machines, differing, unanswered, damages, unknownKinds } = outcome;
  const seconds = (performance.now() - began) / 1000;
  const rate = Math.round(messages / Math.max(seconds, 1e-3));
  if (flags.pod !== undefined && pods === 0 && damages.length === 0)
    throw new ActorletError(journalErrors.unknownPod, { pod: flags.pod });
  // Nothing was compared: to call that identical would be a lie.
  const whole = flags.from === undefined && flags.until === undefined;
  if (messages === 0 && whole && damages.length === 0 && unknownKinds.length === 0)
    throw new ActorletError(journalErrors.nothingThere, { files: named.join(', ') });
  if (flags.json !== true && (messages > 0 || !whole)) {
    if (differing === 0) write('identical\n');
    else if (flags.allDifferences === true) write(`${differing} of ${pods} pods decide otherwise\n`);
  }
  write.flush();
  const notes = [`${messages} messages of ${pods} pods in ${seconds.toFixed(2)} s (${rate}/s)`];
  // Not on standard output: scripts compare it with `identical`.
  if (machines.length > 0) notes.push(`replayed: ${machines.join(', ')}`);
  if (unanswered > 0)
    notes.push(`${unanswered} messages had no recorded outcome (the agent ended while it handled them)`);
  if (unknownKinds.length > 0)
    notes.push(new ActorletError(journalErrors.unknownKinds, { kinds: unknownKinds.join(', ') }).message);
  process.stderr.write([...notes, ...damages].map((note) => `${note}\n`).join(''));
  if (differing > 0) process.exitCode = DIFFERENT;
  else if (damages.length > 0) process.exitCode = DAMAGED;
}

/** Null when it is to be done in one thread: steps are printed as they come, or the journal asks for it. */
async function inThreads(files: string[], flags: ReplayFlags, write: (text: string) => void): Promise<Outcome | null> {
  if (flags.pod !== undefined || flags.from !== undefined || flags.until !== undefined) return null;
  const threads = flags.threads === undefined ? await threadsFor(files) : flags.threads;
  if (!(threads > 1)) return null;
  const result = await parallelReplay(files, { threads, goOn: flags.allDifferences === true });
  if (result === null) return null;
  for (const difference of result.differences) write(differenceText(difference, flags));
  return { ...result, differing: result.differences.length };
}

async function inOneThread(files: string[], flags: ReplayFlags, write: (text: string) => void): Promise<Outcome> {
  const damages: string[] = [];
  const unknownKinds = new Set<string>();
  const onDamage = (damage: ActorletError) => void damages.push(damage.message);
  const options: ReplayOptions = {
    ...(flags.pod !== undefined && { pod: flags.pod }),
    ...(flags.from !== undefined && { from: momentOf('--from', flags.from) }),
    ...(flags.until !== undefined && { until: momentOf('--until', flags.until) }),
    onDamage,
    onUnknownKind: (kind) => void unknownKinds.add(kind),
  };
  if (flags.pod !== undefined || flags.from !== undefined || flags.until !== undefined)
    options.onStep = (step) => write(flags.json === true ? `${JSON.stringify(step)}\n` : stepText(step));
  const differing = new Set<string>();
  const onDifference = (difference: Difference) => {
    if (!differing.has(whoseOf(difference))) write(differenceText(difference, flags));
    differing.add(whoseOf(difference));
    return flags.allDifferences === true;
  };
  const batches = journalBatches(files, onDamage);
  const result = await replayBatches(batches, new Replayer(options), { onDifference, onDamage });
  return { ...result, differing: differing.size, damages, unknownKinds: [...unknownKinds].sort() };
}

/** Standard output in large pieces: there may be a line for each of a million steps. */
function outlet() {
  let pending: string[] = [];
  const flush = () => {
    process.stdout.write(pending.join(''));
    pending = [];
  };
  return Object.assign(
    (text: string) => {
      if (pending.push(text) >= 1_000) flush();
    },
    { flush },
  );
}

/** One step on one line: time, number, pod, message, state, effects. */
function stepText({ at, n, pod, message, state, outputs }: ReplayedStep): string {
  const { effect, key } = message as { effect?: string; key?: string };
  const what = [message.type, effect, key].filter((part) => part !== undefined && part !== '').join(' ');
  const effects = outputs.map((output) => {
    const { type, key: own } = output as { type: string; key?: string };
    return own === undefined || own === '' ? type : `${type} ${own}`;
  });
  const came = effects.length === 0 ? '' : ` [${effects.join(', ')}]`;
  return `${new Date(at).toISOString()} #${n} ${pod}: ${what} -> ${state}${came}\n`;
}

function differenceText(difference: Difference, { json }: ReplayFlags): string {
  return json === true ? `${JSON.stringify({ difference })}\n` : describe(difference);
}

function describe(d: Difference): string {
  return [
    `different: ${d.what}`,
    `at:        ${d.file}, line ${d.line}`,
    `pod:       ${d.pod} (${d.uid})`,
    `message:   ${JSON.stringify(d.message)}`,
    `recorded:  ${d.recorded}`,
    `computed:  ${d.computed}`,
    '',
  ].join('\n');
}
