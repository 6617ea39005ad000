import { enqueueActions } from 'xstate';
import type { Effect } from '../protocol/effects.ts';

/** What one decision comes to: fields of the context that change, and effects in order. */
export interface Decision<C, F = Effect> {
  patch?: Partial<C>;
  effects?: F[];
}

/**
 * Turns a pure decision into an XState action: the patch is assigned and each effect handed out as the action
 * `effect`. All actions of all machines are made this way, so a machine has no other way to act.
 */
export function act<C, E, F = Effect>(decide: (context: C, event: E) => Decision<C, F>) {
  return enqueueActions(({ context, event, enqueue }) => {
    const { patch, effects } = decide(context as C, event as E);
    if (patch !== undefined) enqueue.assign(patch as never);
    for (const effect of effects ?? []) enqueue({ type: 'effect', params: { effect } } as never);
  }) as never;
}
