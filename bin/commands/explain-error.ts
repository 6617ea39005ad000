import { ConfigurationInvalid } from '../../actors/configure/configuration/problems.ts';
import { tellStandardError } from '../../actors/record/logging/journal-stream.ts';
import { ActorletError } from '../../machines/errors/define.ts';

/** Prints an error as people should read it, and gives the exit code. */
export function explainError(error: unknown): number {
  if (error instanceof ActorletError || error instanceof ConfigurationInvalid)
    tellStandardError(`${error.message}\n`, 3);
  else tellStandardError(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`, 3);
  return 1;
}
