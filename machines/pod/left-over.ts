import { entryOf } from '../entry-of.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import type { PodContext } from './pod-context.ts';

/** What a runtime says when the client of a StartContainer call went away (Go's context.Canceled, containerd and CRI-O). */
const BROKEN_OFF = /context cancell?ed/;

/** Failed tries to remove one, after which the pod goes on without it. */
const REMOVE_TRIES = 3;

/**
 * A container that an earlier agent made and never got to run: it died before StartContainer, or in the middle of it,
 * upon which the runtime ends the container. It is removed (see clean-up.ts) and made anew, so that no restart is counted.
 *
 * One that the runtime will not remove (its task was made all the same, and containerd refuses) counts as ended: its
 * name is taken, so the next one has to be a restart.
 */
export function leftOver(context: Pick<PodContext, 'containers' | 'tasks'>, seen: ObservedContainer | null): boolean {
  if (seen === null || seen.id === (entryOf(context.containers, seen.name)?.context.id ?? '')) return false;
  if ((context.tasks[`container.remove/${seen.id}`]?.failures ?? 0) >= REMOVE_TRIES) return false;
  return seen.state === 'created' || (seen.state === 'exited' && seen.startedAt <= 0 && BROKEN_OFF.test(seen.message));
}
