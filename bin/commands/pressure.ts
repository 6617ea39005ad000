import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { ActorletError } from '../../machines/errors/define.ts';
import { pressureErrors } from '../../machines/errors/pressure-errors.ts';
import type { ExplainCommandEnvironment } from './explain.ts';
import { timeOf } from './explain.ts';

interface PressureFlags {
  json?: boolean;
  journal?: string[];
  rootDir: string;
  at?: string;
  dryRun?: string[];
}

/** `actorlet pressure`: how near the node is to evictions, from the journal of a running agent or from files. */
export function pressureCommand(
  environment: ExplainCommandEnvironment = { write: (text) => process.stdout.write(text), now: Date.now },
): Command {
  return new Command('pressure')
    .description(
      'say how near the node is to evictions: each signal, its thresholds, how fast it moves, who would go first',
    )
    .option('--journal <path...>', 'journal files or folders (default: that of the agent on this node)')
    .option('--root-dir <dir>', "the agent's --root-dir, whose folder journal is read", '/var/lib/kubelet')
    .option('--at <time>', 'the moment to tell of, e.g. 2026-01-31T12:00:00Z, or ms since the epoch (default: now)')
    .option(
      '--dry-run <field=value...>',
      'who would have gone, by the journal, with other settings: evictionHard.memory.available=500Mi',
    )
    .option('--json', 'as JSON; times in ms since the epoch, amounts in bytes or counts')
    .action(async (flags: PressureFlags) => {
      const own = join(flags.rootDir, 'journal');
      if (flags.journal === undefined && !existsSync(own))
        throw new ActorletError(pressureErrors.noAgent, { dir: own });
      const journals = flags.journal ?? [own];
      const at = flags.at === undefined ? undefined : timeOf(flags.at);
      const text =
        flags.dryRun === undefined
          ? await told(journals, at, flags, environment.now())
          : await supposed(journals, at, flags, flags.dryRun);
      environment.write(text);
    });
}

async function told(journals: readonly string[], at: number | undefined, flags: PressureFlags, now: number) {
  const { evictionRecord, reportOf } = await import('../../actors/inspect/pressure/pressure-from-journal.ts');
  const record = await evictionRecord(journals, at);
  const report = reportOf(record, at, now);
  if (report === null) throw nothingRecorded(journals, at);
  if (flags.json === true) return `${JSON.stringify({ nodeName: record.nodeName, ...report }, null, 2)}\n`;
  const { pressureText } = await import('../../machines/pressure/pressure-text.ts');
  return pressureText(report, record.nodeName);
}

/** The eviction machine once more through what was recorded, with other settings. */
async function supposed(journals: readonly string[], at: number | undefined, flags: PressureFlags, changes: string[]) {
  const { evictionRecord } = await import('../../actors/inspect/pressure/pressure-from-journal.ts');
  const { parseChange } = await import('../../machines/pressure/other-settings.ts');
  const { whatIf } = await import('../../machines/pressure/what-if.ts');
  const { whatIfText } = await import('../../machines/pressure/what-if-text.ts');
  const asked = changes.map((text) => {
    const read = wrong(text, () => parseChange(text));
    return (settings: Parameters<typeof read>[0]) => wrong(text, () => read(settings));
  });
  const { first, messages } = await evictionRecord(journals, at);
  if (first === null) throw nothingRecorded(journals, at);
  const came = whatIf({ at: first.at, context: first.state.context }, messages, (settings) =>
    asked.reduce((changed, change) => change(changed), settings),
  );
  return flags.json === true ? `${JSON.stringify(came, null, 2)}\n` : whatIfText(came, changes);
}

function wrong<T>(value: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ActorletError(pressureErrors.badThreshold, { value, problem: error.message }, { cause: error });
  }
}

function nothingRecorded(journals: readonly string[], at: number | undefined): ActorletError {
  const until = at === undefined ? '' : ` until ${new Date(at).toISOString()}`;
  return new ActorletError(pressureErrors.nothingRecorded, { journal: journals.join(', '), until });
}
