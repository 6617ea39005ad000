import type { Container } from '../protocol/api-types.ts';
import type { EnvEntry } from '../protocol/cri-shapes.ts';
import { expandFrom } from './expansion.ts';

/** Command and arguments with `$(NAME)` replaced from the container's environment. */
export function expandCommand(container: Container, envs: readonly EnvEntry[]): { command: string[]; args: string[] } {
  const values = new Map(envs.map(({ key, value }) => [key, value]));
  const each = (text: string): string => expandFrom(text, values);
  return { command: (container.command ?? []).map(each), args: (container.args ?? []).map(each) };
}
