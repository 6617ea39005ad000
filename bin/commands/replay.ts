import { Command, InvalidArgumentError } from 'commander';
import type { ReplayFlags } from './run-replay.ts';

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
    .option('--threads <number>', 'replay in so many threads (default: as many as the files are worth)', parseThreads)
    .option('--export <pod>', 'write this pod alone to standard output, names and values masked, for a bug report')
    .action(async (paths: string[], flags: ReplayFlags) => {
      const { runReplay } = await import('./run-replay.ts');
      await runReplay(paths, flags);
    });
}

function parseThreads(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number of threads from 1 to 999.');
}
