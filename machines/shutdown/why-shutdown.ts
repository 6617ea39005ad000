import type { ShutdownContext, ShutdownRun } from './shutdown-context.ts';
import { isShuttingDown } from './shutdown-context.ts';

/** What a shutdown waits for, or why the node could not wait for one; '' when all is well. */
export function whyShutdown({ focus, link, run, lock }: ShutdownContext): string {
  if (run === null || !isShuttingDown({ focus })) {
    if (focus === 'guarding.unguarded') return `${link.problem}; it is tried again`;
    return '';
  }
  if (focus === 'shutDown') return 'the machine goes down: nothing is waited for any more';
  const held = lock === 'held' ? '' : ', though the machine does not wait for it (no inhibitor lock)';
  if (focus === 'shuttingDown.telling') return `the API server is told how pods ended${held}`;
  return `${waitText(run)}${held}`;
}

function waitText({ groups, turn, ending, until }: ShutdownRun): string {
  const { priority = 0, seconds = 0 } = groups[turn] ?? {};
  const names = ending.filter(({ group }) => group === turn).map(({ namespace, name }) => `${namespace}/${name}`);
  const left = groups.slice(turn + 1).filter(({ pods }) => pods.length > 0).length;
  const then = left === 0 ? '' : `; ${left} more group${left === 1 ? '' : 's'} after that`;
  return `pods of priority ${priority} and above end (${names.join(', ')}), within ${seconds} s, until ${new Date(until).toISOString()}${then}`;
}
