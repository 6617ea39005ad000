import { Command } from 'commander';
import type { Difference } from '../../actors/journal/difference.ts';
import { exportPod } from '../../actors/journal/export-pod.ts';
import { journalBatches, journalFiles } from '../../actors/journal/journal-reader.ts';
import type { ReplayOptions, ReplayedStep } from '../../actors/journal/replay.ts';
import { Replayer, replayBatches } from '../../actors/journal/replay.ts';
import { momentOf } from '../../actors/journal/selection.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { journalErrors } from '../../machines/errors/journal-errors.ts';

interface Flags {
  from?: string;
  until?: string;
  pod?: string;
  json?: boolean;
  allDifferences?: boolean;
  export?: string;
}

/** Exit codes besides 0 (identical). */
const DIFFERENT = 1;
const DAMAGED = 3;

/** `actorlet replay`: exit code 0 when identical, 1 with a difference, 3 when what could be read is identical but the files are damaged. */
export function replayCommand(): Command {
  return new Command('replay')
    .description('step the machines over recorded messages and compare states and effects byte for byte')
    .argument('<file...>', 'journal files (.jsonl, .jsonl.gz) or folders of them, oldest first')
    .option('--pod <pod>', 'only this pod (namespace/name or UID); its steps are printed')
    .option('--from <moment>', 'print the steps from this message number or time on')
    .option('--until <moment>', 'end with this message number or time, and print the steps up to it')
    .option('--json', 'print steps and differences as JSON, one object a line')
    .option('--all-differences', 'go on after a difference: each pod that decides otherwise, with its first difference')
    .option('--export <pod>', 'write this pod alone to standard output, names and values masked, for a bug report')
    .action(async (paths: string[], flags: Flags) => {
      const files = await journalFiles(paths);
      if (flags.export === undefined) await run(files, flags);
      else process.stdout.write(await exportPod(files, flags.export));
    });
}

async function run(files: string[], flags: Flags): Promise<void> {
  const began = performance.now();
  const write = outlet();
  const damages: ActorletError[] = [];
  const onDamage = (damage: ActorletError) => void damages.push(damage);
  const options: ReplayOptions = {
    ...(flags.pod !== undefined && { pod: flags.pod }),
    ...(flags.from !== undefined && { from: momentOf('--from', flags.from) }),
    ...(flags.until !== undefined && { until: momentOf('--until', flags.until) }),
    onDamage,
  };
  if (flags.pod !== undefined || flags.from !== undefined || flags.until !== undefined)
    options.onStep = (step) => write(flags.json === true ? `${JSON.stringify(step)}\n` : stepText(step));
  const differing = new Map<string, Difference>();
  const onDifference = (difference: Difference) => {
    if (!differing.has(difference.uid)) {
      differing.set(difference.uid, difference);
      write(flags.json === true ? `${JSON.stringify({ difference })}\n` : describe(difference));
    }
    return flags.allDifferences === true;
  };
  const replayer = new Replayer(options);
  const result = await replayBatches(journalBatches(files, onDamage), replayer, { onDifference, onDamage });
  const seconds = (performance.now() - began) / 1000;
  const rate = Math.round(result.messages / Math.max(seconds, 1e-3));
  if (flags.pod !== undefined && result.pods === 0 && damages.length === 0)
    throw new ActorletError(journalErrors.unknownPod, { pod: flags.pod });
  if (flags.json !== true) {
    if (result.difference === null) write('identical\n');
    else if (flags.allDifferences === true) write(`${differing.size} of ${result.pods} pods decide otherwise\n`);
  }
  write.flush();
  const notes = [`${result.messages} messages of ${result.pods} pods in ${seconds.toFixed(2)} s (${rate}/s)`];
  if (result.unanswered > 0)
    notes.push(`${result.unanswered} messages had no recorded outcome (the agent ended while it handled them)`);
  for (const damage of damages) notes.push(damage.message);
  process.stderr.write(notes.map((note) => `${note}\n`).join(''));
  if (result.difference !== null) process.exitCode = DIFFERENT;
  else if (damages.length > 0) process.exitCode = DAMAGED;
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
