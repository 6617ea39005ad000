import type { StatusEntry } from './status-entry.ts';

/** How long a status waits that says nothing yet, ms (see `statusUrgency`): longer than a quick start or end takes. */
export const HOLD_MS = 300;
/** The same for an end, and once one such status was sent: many at once make each one long, and little is told, ms. */
export const LONG_HOLD_MS = 2_000;
/**
 * The same while the way to the server is crowded, from when it was told, ms: what says more goes first, and what says little then goes
 * with it or not at all.
 */
export const CROWDED_HOLD_MS = 5_000;
/** How soon it is tried again whether the way is free, ms. */
export const CROWDED_LOOK_MS = 1_000;

/** States in which nothing of the pod is left that others could stumble over: containers, volumes, cgroup. */
const CLEANED: ReadonlySet<string> = new Set(['terminated.kept', 'terminated.removing', 'terminated.finished']);

/** Is the pod on its way to its end? */
export function isEnding({ state }: Pick<StatusEntry, 'state'>): boolean {
  return state.startsWith('terminating.');
}

/** Has the pod ended, and left nothing? */
export function isCleaned({ state }: Pick<StatusEntry, 'state'>): boolean {
  return CLEANED.has(state);
}
