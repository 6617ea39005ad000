import type { Decision } from '../machine-step/act.ts';
import type { DeviceContext, DeviceEvent } from './device-context.ts';
import type { VolumeOrder } from './volume-orders.ts';

type Of<T extends DeviceEvent['type']> = Extract<DeviceEvent, { type: T }>;
type Step = Decision<DeviceContext, VolumeOrder>;

/** Its attachment is to be waited for. */
export function attach({ device }: DeviceContext, { at, key, by }: Of<'begin' | 'again'>): Step {
  return {
    patch: { op: key, retryAt: null, since: at },
    effects: [{ type: 'device.attach', key, device, ...by }],
  };
}

/** The same of one that could not be given back: it may be staged or not, and the delay was that of another call. */
export function attachAnew(context: DeviceContext, event: Of<'again'>): Step {
  const { patch, effects } = attach(context, event);
  return { patch: { ...patch, ...ANEW }, effects };
}

/** It could not be given back, and is to be made ready again. */
export function stageAnew(context: DeviceContext, event: Of<'again'>): Step {
  const { patch, effects } = stage(context, event);
  return { patch: { ...patch, ...ANEW }, effects };
}

const ANEW = { mayBeThere: true, failures: 0, problem: null };

/** It is to be made ready for all pods of the node. */
export function stage({ device, devicePath }: DeviceContext, { at, key, by }: Of<'begin' | 'again'>): Step {
  return {
    patch: { op: key, retryAt: null, since: at },
    effects: [{ type: 'device.stage', key, device, ...by, devicePath }],
  };
}

/** It is attached, and is to be made ready. */
export function stageAttached(context: DeviceContext, { at, key, by, devicePath }: Of<'attached'>): Step {
  const { patch, effects } = stage({ ...context, devicePath }, { type: 'begin', at, key, by });
  return { patch: { ...patch, devicePath, failures: 0, problem: null }, effects };
}

/** It is attached, and that is all it needs. */
export function attachedNow(_context: DeviceContext, { at, devicePath }: Of<'attached'>): Step {
  return { patch: { devicePath, op: '', failures: 0, problem: null, retryAt: null, since: at } };
}

/** It is ready. */
export function stagedNow(_context: DeviceContext, { at, stagedPath }: Of<'staged'>): Step {
  return { patch: { stagedPath, op: '', failures: 0, problem: null, retryAt: null, mayBeThere: true, since: at } };
}

/** An earlier agent has left it staged. */
export function foundStaged(_context: DeviceContext, { at, stagedPath }: Of<'found'>): Step {
  return { patch: { stagedPath, mayBeThere: true, since: at } };
}

/** The node has its part in making it larger. */
export function expand(
  { device, devicePath, stagedPath }: DeviceContext,
  { at, key, by, publishedPath, oldBytes, newBytes }: Of<'expand'>,
): Step {
  return {
    patch: { op: key, retryAt: null, since: at },
    effects: [{ type: 'device.expand', key, device, ...by, devicePath, stagedPath, publishedPath, oldBytes, newBytes }],
  };
}

/** It is as large as it was to be. */
export function expandedNow(_context: DeviceContext, { at, bytes }: Of<'expanded'>): Step {
  return { patch: { bytes, op: '', failures: 0, problem: null, retryAt: null, since: at } };
}

/** The call under way is given up; its outcome is waited for, and it is made again when there is still somebody to make it for. */
export function callOff({ op }: DeviceContext): Step {
  return { effects: [{ type: 'call.giveUp', key: op }] };
}

/** A call has failed. */
export function failedOnce({ failures }: DeviceContext, { at, problem, retryAt }: Of<'failed'>): Step {
  return { patch: { op: '', failures: failures + 1, problem, retryAt, since: at } };
}

/** The call that stages it has failed; one that is certain of that has left nothing, unless one before was not. */
export function stageFailed(context: DeviceContext, event: Of<'failed'>): Step {
  return { patch: { ...failedOnce(context, event).patch, mayBeThere: context.mayBeThere || !event.done } };
}

/** The call under way is given up. */
export function giveUp({ op }: DeviceContext, { at }: Of<'leave'>): Step {
  return { patch: { since: at }, effects: [{ type: 'call.giveUp', key: op }] };
}

/** It is to be given back. */
export function unstage(
  { device, plugin, name, mode, stagedPath }: DeviceContext,
  { at, key }: Of<'begin' | 'leave' | 'staged' | 'expanded' | 'failed'>,
): Step {
  return {
    patch: { op: key, retryAt: null, since: at },
    effects: [{ type: 'device.unstage', key, device, plugin, name, mode, stagedPath }],
  };
}

/** The same for the first time: what failed before was something else. */
export function leave(context: DeviceContext, event: Of<'leave' | 'staged' | 'expanded' | 'failed'>): Step {
  const now = event.type === 'staged' ? { ...context, stagedPath: event.stagedPath } : context;
  const { patch, effects } = unstage(now, event);
  return { patch: { ...patch, stagedPath: now.stagedPath, failures: 0, problem: null }, effects };
}

/** Nothing of it is left on the node. */
export function over(_context: DeviceContext, { at }: Of<'leave' | 'unstaged' | 'failed'>): Step {
  return { patch: { op: '', mayBeThere: false, problem: null, retryAt: null, since: at } };
}
