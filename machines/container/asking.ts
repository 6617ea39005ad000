import type { Decision } from '../machine-step/act.ts';
import type { Effect } from '../protocol/effects.ts';
import type { ContainerContext, ContainerEvent } from './container-context.ts';

/** What an action of the container machine comes to. */
export type Out = Decision<ContainerContext>;

/** Pause after a failed start (kubelet's backOffPeriod of the pod worker), ms. */
export const RETRY_MS = 10_000;

/** Asks for an effect and waits for its outcome. */
export function ask(context: ContainerContext, effect: Effect, more: Effect[] = []): Out {
  return { patch: { op: effect.key, seq: context.seq + 1, deadline: null }, effects: [...more, effect] };
}

/** The outcome that an event brings, if it brings one. */
export function outcomeOf(event: ContainerEvent) {
  return event.type === 'done' ? event.outcome : null;
}

/** The error that an event brings. */
export function errorOf(event: ContainerEvent): { code: string; message: string } {
  return event.type === 'failed' ? event.outcome.error : { code: 'Unknown', message: 'unknown error' };
}
