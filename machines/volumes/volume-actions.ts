import type { Decision } from '../machine-step/act.ts';
import type { VolumeContext, VolumeEvent } from './volume-context.ts';

type Out = Decision<VolumeContext>;
type Of<T extends VolumeEvent['type']> = Extract<VolumeEvent, { type: T }>;

/** SetUp, or taking it down, is under way. */
export function asked(_context: VolumeContext, { key }: Of<'setUp' | 'tearDown'>): Out {
  return { patch: { op: key, retryAt: null } };
}

/** It is there, and what it shows is up to date. */
export function setUp(context: VolumeContext, { at, path }: Of<'done'>): Out {
  return { patch: { ...QUIET, path: path === '' ? context.path : path, mountedAt: at } };
}

/** It is gone from the node. */
export function tornDown(): Out {
  return { patch: { ...QUIET, path: '' } };
}

/** Noted, with the time of the next try. */
export function failedOnce(context: VolumeContext, { error, retryAt }: Of<'failed'>): Out {
  return { patch: { op: '', failures: context.failures + 1, error, retryAt } };
}

/** No next try: the definition is at fault. */
export function refused(context: VolumeContext, { error }: Of<'refused'>): Out {
  return { patch: { op: '', failures: context.failures + 1, error, retryAt: null } };
}

/** Nothing is under way, and no next try has a time. */
export function rested(): Out {
  return { patch: { op: '', retryAt: null } };
}

const QUIET = { op: '', failures: 0, error: '', retryAt: null } as const;
