import { suggestion } from '../../actors/configure/configuration/closest-name.ts';
import { configErrors } from '../../machines/errors/config-errors.ts';
import { ActorletError } from '../../machines/errors/define.ts';

/** The error for a first word that is no command. */
export function unknownCommand(command: string, commands: readonly string[]): ActorletError {
  return new ActorletError(configErrors.unknownCommand, {
    ...{ command, suggestion: suggestion(command, commands), commands: commands.join(', ') },
  });
}
