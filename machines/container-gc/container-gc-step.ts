import type { Decision } from '../machine-step/act.ts';
import { aggregate } from '../values/aggregate.ts';
import type { ContainerGcContext, ContainerGcMessage, ContainerGcOrder } from './container-gc-context.ts';
import { containersToRemove, foldersToRemove, sandboxesToRemove } from './evictable.ts';

type Of<T extends ContainerGcMessage['type']> = Extract<ContainerGcMessage, { type: T }>;
type Step = Decision<ContainerGcContext, ContainerGcOrder>;

/** A look at what may be removed. */
export type Look = Of<'containers.listed' | 'sandboxes.listed' | 'logs.listed'>;

/** What is to be removed after a look; null when nothing is. */
export function removal({ policy }: ContainerGcContext, look: Look): ContainerGcOrder | null {
  switch (look.type) {
    case 'containers.listed': {
      const containers = containersToRemove(look.dead, policy, look).map(({ id, uid, name, unknown }) => ({
        ...{ id, uid, name, stop: unknown },
      }));
      return containers.length > 0 ? { type: 'containers.Remove', containers } : null;
    }
    case 'sandboxes.listed': {
      const sandboxes = sandboxesToRemove(look.sandboxes, look.all).map(({ id, uid }) => ({ id, uid }));
      return sandboxes.length > 0 ? { type: 'sandboxes.Remove', sandboxes } : null;
    }
    case 'logs.listed': {
      const folders = foldersToRemove(look.folders, look.ready);
      const links = look.links.filter(({ ended }) => ended).map(({ name }) => name);
      return folders.length + links.length > 0 ? { type: 'logs.Remove', folders, links } : null;
    }
  }
}

/** The agent begins. */
export function begun(_context: ContainerGcContext, { policy }: Of<'gc.start'>): Step {
  return { patch: { policy } };
}

/** Something is to be removed. */
export function remove(context: ContainerGcContext, look: Look): Step {
  const order = removal(context, look);
  return order === null ? {} : { effects: [order] };
}

/** A part of the pass could not be done. */
export function fail({ problems }: ContainerGcContext, { problem }: Of<'gc.failed'>): Step {
  return { patch: { problems: [...problems, problem] } };
}

/** The pass is over. */
export function conclude({ problems }: ContainerGcContext): Step {
  if (problems.length === 0) return { patch: { failure: null } };
  const message = aggregate(problems);
  return { patch: { problems: [], failure: message }, effects: [{ type: 'event.Record', message }] };
}
