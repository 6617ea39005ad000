import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { ActorletError } from '../../machines/errors/define.ts';
import { explainErrors } from '../../machines/errors/explain-errors.ts';

/** What the command touches beside files; tests give their own. */
export interface ExplainCommandEnvironment {
  write: (text: string) => void;
  /** Ms since the epoch. */
  now: () => number;
}

interface ExplainFlags {
  json?: boolean;
  journal?: string[];
  rootDir: string;
  at?: string;
}

/** `actorlet explain POD`: why a pod is in its state, from the journal of a running agent or from files. */
export function explainCommand(
  environment: ExplainCommandEnvironment = { write: (text) => process.stdout.write(text), now: Date.now },
): Command {
  return new Command('explain')
    .description('say in words why a pod is in its state: what it waits for, what failed, what comes next')
    .argument(
      '<pod>',
      'NAMESPACE/NAME, NAME or UID; also of a pod that is gone; @node: the node itself; @admission, @pulls ...: a machine of it',
    )
    .option('--journal <path...>', 'journal files or folders (default: that of the agent on this node)')
    .option('--root-dir <dir>', "the agent's --root-dir, whose folder journal is read", '/var/lib/kubelet')
    .option('--at <time>', 'the moment to explain, e.g. 2026-01-31T12:00:00Z, or ms since the epoch (default: now)')
    .option('--json', 'as JSON; times in ms since the epoch')
    .action(async (pod: string, flags: ExplainFlags) => {
      const own = join(flags.rootDir, 'journal');
      if (flags.journal === undefined && !existsSync(own)) throw new ActorletError(explainErrors.noAgent, { dir: own });
      const { explainFromJournal } = await import('../../actors/inspect/explain/explain-from-journal.ts');
      const { explanationText } = await import('../../machines/explain/explanation-text.ts');
      const explanation = await explainFromJournal({
        pod,
        journals: flags.journal ?? [own],
        ...(flags.at !== undefined && { at: timeOf(flags.at) }),
        now: environment.now(),
      });
      environment.write(
        flags.json === true ? `${JSON.stringify(explanation, null, 2)}\n` : explanationText(explanation),
      );
    });
}

/** A moment as people write it, ms since the epoch. Throws EXP003. */
export function timeOf(text: string): number {
  const at = /^\d{12,}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isNaN(at)) throw new ActorletError(explainErrors.badTime, { value: text });
  return at;
}
