import { ConfigurationInvalid } from '../../actors/configure/configuration/problems.ts';
import { ActorletError } from '../../machines/errors/define.ts';

/** Prints an error as people should read it, and gives the exit code. */
export function explainError(error: unknown): number {
  if (error instanceof ActorletError || error instanceof ConfigurationInvalid)
    process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
}
