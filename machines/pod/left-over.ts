import { containerHash } from '../container-config/container-hash.ts';
import { entryOf } from '../values/entry-of.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { ObservedContainer } from '../protocol/observed.ts';
import { toldOf } from '../status/status-lists.ts';
import { newestSandbox } from './observation.ts';
import type { PodContext } from './pod-context.ts';
import { specContainer } from './spec.ts';

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
export function leftOver(context: PodContext, seen: ObservedContainer | null): boolean {
  if (seen === null || seen.id === ownId(context, seen.name) || takesUp(context, seen)) return false;
  if ((context.tasks[`container.remove/${seen.id}`]?.failures ?? 0) >= REMOVE_TRIES) return false;
  return seen.state === 'created' || (seen.state === 'exited' && seen.startedAt <= 0 && BROKEN_OFF.test(seen.message));
}

/**
 * A container that an earlier agent made, and that is as one made now would be: it is started. It must not be removed: that
 * agent's StartContainer may still be under way in the runtime. RemoveContainer then fails, or kills what has begun to run
 * meanwhile, and a second one would do the work of an init container twice.
 */
export function takesUp(context: PodContext, seen: ObservedContainer | null): boolean {
  if (seen?.state !== 'created' || !behaves(context.settings, 'createdAreStarted')) return false;
  if (seen.id === ownId(context, seen.name) || seen.sandboxId !== newestSandbox(context.observed)?.id) return false;
  const owner = specContainer(context.pod, seen.name);
  if (owner === null || seen.hash !== containerHash(owner.container)) return false;
  const told = toldOf(context.status ?? context.pod.status, seen.name);
  return told === undefined || told.restartCount <= seen.restartCount;
}

function ownId(context: PodContext, name: string): string {
  return entryOf(context.containers, name)?.context.id ?? '';
}
