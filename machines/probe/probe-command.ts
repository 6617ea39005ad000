import { assertFits, expandFrom, orTooLong } from '../container-config/expansion.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { ProbeWorld } from './probe-context.ts';

/** What a command is made of. */
type Asked = Pick<ProbeWorld, 'probe' | 'container' | 'settings'>;

/**
 * The command of an exec probe with its `$(NAME)`s replaced from the variables that the container's own spec sets: empty for one that
 * comes from elsewhere (`valueFrom`), and a name that is not there stays as written (kubelet ExpandContainerCommandOnlyStatic). Hooks
 * are run as written.
 */
export function probeCommand({ probe, container, settings }: Asked): { command: string[] } | { error: string } {
  const written = probe.exec?.command ?? [];
  if (!behaves(settings, 'probeCommandsAreExpanded')) return { command: [...written] };
  const values = new Map((container.env ?? []).map(({ name, value }) => [name, value ?? '']));
  return orTooLong(
    () => {
      const command = written.map((text) => expandFrom(text, values));
      assertFits(command);
      return { command };
    },
    (error) => ({ error }),
  );
}
