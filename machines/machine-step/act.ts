import { enqueueActions } from 'xstate';
import type { Effect } from '../protocol/effects.ts';
import { enterEvent } from './move.ts';
import type { Move } from './move.ts';

/** What one decision comes to: fields of the context that change, and effects in order. */
export interface Decision<C, F = Effect> {
  patch?: Partial<C>;
  /** `patch` is the whole next context: it is taken as it is, without a copy. */
  whole?: boolean;
  effects?: F[];
  /** Where the machine goes within the same step, when the decision says that; the machine must declare it (see move-table.ts). */
  move?: Move;
}

/** A decision without its types: what {@link decisionOf} gives back. */
export type Decide = (context: unknown, event: unknown) => Decision<object, unknown>;

/** The pure decision behind each action that {@link act} has made. */
const DECISIONS = new WeakMap<object, Decide>();

/**
 * Turns a pure decision into an XState action: the patch is assigned and each effect handed out as the action
 * `effect`; a move is raised as an internal event. All actions of all machines are made this way, so a machine has no other way to act.
 */
export function act<C, E, F = Effect>(decide: (context: C, event: E) => Decision<C, F>) {
  const action = enqueueActions(({ context, event, enqueue }) => {
    const { patch, effects, move } = decide(context as C, event as E);
    if (patch !== undefined) enqueue.assign(patch as never);
    for (const effect of effects ?? []) enqueue({ type: 'effect', params: { effect } } as never);
    if (move !== undefined) enqueue.raise(enterEvent(move) as never);
  });
  DECISIONS.set(action, decide as Decide);
  return action as never;
}

/** The decision that an action of a machine was made from; null for one that was not made by {@link act}. */
export function decisionOf(action: unknown): Decide | null {
  return typeof action === 'function' ? (DECISIONS.get(action) ?? null) : null;
}
