import type { Decision } from '../machine-step/act.ts';
import type { MountContext, MountEvent } from './mount-context.ts';
import type { VolumeOrder } from './volume-orders.ts';

type Of<T extends MountEvent['type']> = Extract<MountEvent, { type: T }>;
type Step = Decision<MountContext, VolumeOrder>;

/** Claim, volume and plugin are to be looked up. */
export function lookUp({ uid, volume }: MountContext, { at, key }: Of<'begin'>): Step {
  return { patch: { op: key, retryAt: null, since: at }, effects: [{ type: 'volume.resolve', key, uid, volume }] };
}

/** Who serves it is known. */
export function knownNow(_context: MountContext, { at, known }: Of<'resolved'>): Step {
  return { patch: { known, op: '', failures: 0, problem: null, retryAt: null, since: at } };
}

/** An earlier agent has left it in the pod's folder. */
export function foundThere(_context: MountContext, { at, known, path }: Of<'found'>): Step {
  return { patch: { known, path, mayBeThere: true, since: at } };
}

/** It is to be put where containers find it, the first time or again. */
export function publish(again: boolean) {
  return ({ uid, volume }: MountContext, { at, key, order }: Of<'begin'>): Step => {
    const { devicePath = '', stagedPath = '' } = order ?? {};
    return {
      patch: { op: key, retryAt: null, since: at },
      effects: [{ type: 'volume.publish', key, uid, volume, devicePath, stagedPath, again }],
    };
  };
}

/** Containers find it. */
export function publishedNow(_context: MountContext, { at, path }: Of<'published'>): Step {
  return {
    patch: { path, op: '', failures: 0, problem: null, retryAt: null, mayBeThere: true, since: at },
  };
}

/** Another volume of the pod is the same one, and is there. */
export function sharedNow(_context: MountContext, { at, path }: Of<'shared'>): Step {
  return { patch: { path, shared: true, failures: 0, problem: null, retryAt: null, since: at } };
}

/** A call has failed. */
export function failedOnce({ failures }: MountContext, { at, problem, retryAt }: Of<'failed'>): Step {
  return { patch: { op: '', failures: failures + 1, problem, retryAt, since: at } };
}

/** The call that puts it there has failed; one that is certain of that has left nothing, unless one before was not. */
export function publishFailed(context: MountContext, event: Of<'failed'>): Step {
  const { patch } = failedOnce(context, event);
  return { patch: { ...patch, mayBeThere: context.mayBeThere || !event.done } };
}

/** Something else stands in the way; no call was made. */
export function hinderedOnce({ failures }: MountContext, { at, problem, retryAt }: Of<'hindered'>): Step {
  return { patch: { failures: failures + 1, problem, retryAt, since: at } };
}

/** The call under way is given up. */
export function giveUp({ op }: MountContext, { at }: Of<'leave'>): Step {
  return { patch: { since: at, askedAt: null }, effects: [{ type: 'call.giveUp', key: op }] };
}

/** It is to be taken away. */
export function unpublish(
  { uid, known }: MountContext,
  { at, key }: Of<'begin' | 'leave' | 'published' | 'failed'>,
): Step {
  const { plugin = '', name = '', mode = 'Filesystem' } = known ?? {};
  return {
    patch: { op: key, retryAt: null, askedAt: null, since: at },
    effects: [{ type: 'volume.unpublish', key, uid, plugin, name, mode }],
  };
}

/** The same for the first time: what failed before was something else. */
export function leave(context: MountContext, event: Of<'leave' | 'published' | 'failed'>): Step {
  const { patch, effects } = unpublish(context, event);
  return { patch: { ...patch, failures: 0, problem: null }, effects };
}

/** Nothing of it is left. */
export function over(_context: MountContext, { at }: Of<'leave' | 'unpublished' | 'failed'>): Step {
  return { patch: { op: '', path: '', mayBeThere: false, problem: null, retryAt: null, askedAt: null, since: at } };
}
