import type { ObservedContainer } from '../protocol/observed.ts';

/** What a runtime says when the client of a StartContainer call went away (Go's context.Canceled, containerd and CRI-O). */
const BROKEN_OFF = /context cancell?ed/;

/**
 * A container that an earlier agent made and never got to run: it died before StartContainer, or in the middle of it,
 * upon which the runtime ends the container. It is removed (see clean-up.ts) and made anew, so that no restart is counted.
 *
 * @param ownId id of the container that this agent's machine has made or taken over
 */
export function leftOver(seen: ObservedContainer | null, ownId: string): boolean {
  if (seen === null || seen.id === ownId) return false;
  return seen.state === 'created' || (seen.state === 'exited' && seen.startedAt <= 0 && BROKEN_OFF.test(seen.message));
}
