import { behaves } from '../protocol/behaviour.ts';
import type { ContainerContext, ContainerEvent, ContainerWorld } from './container-context.ts';
import { ask, errorOf, RETRY_MS } from './asking.ts';
import type { Out } from './asking.ts';
import { containerEvent } from './container-events.ts';
import { startError } from './start-actions.ts';
import { nextKey } from './start-effects.ts';

/** Pause before a container is looked at again of which a look could not tell, ms. */
const LOOK_AGAIN_MS = 5_000;

/**
 * StartContainer failed: RunContainerError. It may have been carried out all the same (an answer that is lost), so no other
 * one is made before a look that began after that has told what became of it (kubelet's next `SyncPod` waits for such a
 * status: `podCache.GetNewerThan`).
 */
export function startDoubted(context: ContainerContext, event: ContainerEvent): Out {
  const raw = errorOf(event);
  const message = startError(event.world, raw);
  return {
    patch: {
      op: '',
      deadline: null,
      waiting: { reason: 'RunContainerError', message },
      doubt: { since: event.world.at, message },
    },
    effects: [containerEvent(context, 'Warning', 'Failed', `Error: ${named(context, event.world, raw.message)}`)],
  };
}

/**
 * Runtimes say which container it was: with its name in place of its id the events of all tries are one (kubelet
 * recordContainerEvent). The container's status tells the id.
 */
function named({ id, name }: ContainerContext, { settings }: ContainerWorld, said: string): string {
  return id !== '' && behaves(settings, 'failedStartsNameTheContainer') ? said.split(id).join(name) : said;
}

/** The machine's own look; what others see meanwhile counts as well. */
export function askWhatBecame(context: ContainerContext): Out {
  return ask(context, { type: 'cri.ContainerStatus', key: nextKey(context), params: { containerId: context.id } });
}

/** The look failed: another one follows, and PLEG is asked for one of its own. */
export function lookFailed(context: ContainerContext, event: ContainerEvent): Out {
  const message = `${context.doubt?.message ?? ''}; whether it runs is not known: no look at it has succeeded since`;
  return {
    patch: {
      op: '',
      deadline: event.world.at + LOOK_AGAIN_MS,
      waiting: { reason: 'RunContainerError', message },
    },
    effects: [{ type: 'pleg.Observe', key: '', params: {} }],
  };
}

/** Pause before the next try when the runtime has the container as ended, ms: kubelet's PLEG sees its end within that. */
const ENDED_MS = 1_000;

/** A look has told that it does not run: the next try follows after the pause of every failed start, or that of an end. */
export function doubtOver({ id, doubt }: ContainerContext, { world }: ContainerEvent): Out {
  const ended = world.observed?.id === id && world.observed.state === 'exited';
  const pause = ended && behaves(world.settings, 'endedStartsAreRetriedSoon') ? ENDED_MS : RETRY_MS;
  return {
    patch: {
      op: '',
      deadline: (doubt?.since ?? world.at) + pause,
      waiting: { reason: 'RunContainerError', message: doubt?.message ?? '' },
      doubt: null,
    },
  };
}
