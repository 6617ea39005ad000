import { ConfigurationInvalid } from '../../actors/configure/configuration/problems.ts';
import { ActorletError } from '../../machines/errors/define.ts';

/** Prints an error as people should read it, and gives the exit code. */
export async function explainError(error: unknown): Promise<number> {
  const text =
    error instanceof ActorletError || error instanceof ConfigurationInvalid
      ? error.message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  // Only what systemd has started asks where its words go: nobody else loads anything for that.
  if (process.env.JOURNAL_STREAM === undefined) process.stderr.write(`${text}\n`);
  else (await import('../../actors/record/logging/journal-stream.ts')).tellStandardError(`${text}\n`, 3);
  return 1;
}
