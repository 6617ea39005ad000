import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Effect } from '../protocol/effects.ts';

/** A machine's place as plain JSON: what the journal, the status report and the inspector carry. */
export interface Place<C> {
  value: unknown;
  context: C;
}

/** The one XState action by which machines hand out effects: `enqueue({ type: 'effect', params: { effect } })`. */
export interface EffectAction {
  type: 'effect';
  params: { effect: Effect };
}

/**
 * An inert actor scope, reused for every step: XState's own `transition()` builds one for each call, which
 * costs more than the step itself. Nothing may be spawned, sent or scheduled through it: the machines are
 * invoke-free, and their only action is `effect`.
 */
const collected: unknown[] = [];
const scope = {
  id: 'actorlet',
  sessionId: 'actorlet',
  logger: () => undefined,
  defer: () => undefined,
  stopChild: () => undefined,
  emit: () => undefined,
  actionExecutor: (action: { type: string; params?: unknown }) => {
    if (action.type !== 'effect')
      throw new Error(`a machine asked for the action ${action.type}, which no host carries out`);
    collected.push((action.params as EffectAction['params']).effect);
  },
  system: { _sendInspectionEvent: () => undefined, get: () => undefined, _relay: () => undefined },
  self: { id: 'actorlet', sessionId: 'actorlet' },
};

type Scope = Parameters<AnyStateMachine['transition']>[2];

/** Places a machine at `place`, without running entry actions. */
export function resolve(machine: AnyStateMachine, place: Place<unknown>): AnyMachineSnapshot {
  return machine.resolveState({ value: place.value as never, context: place.context as never });
}

/**
 * One pure step: snapshot + event -> next snapshot + effects, in the order in which they were decided.
 * `resolveState` is not needed between steps: hand the returned snapshot in again.
 */
export function step<S extends AnyMachineSnapshot, F = Effect>(
  machine: AnyStateMachine,
  snapshot: S,
  event: { type: string },
): { snapshot: S; effects: F[] } {
  const from = collected.length;
  try {
    const next = machine.transition(snapshot, event, scope as unknown as Scope) as S;
    return { snapshot: next, effects: collected.splice(from) as F[] };
  } catch (error) {
    collected.length = from;
    throw error;
  }
}

/** A state value as a dotted path, e.g. `syncing.creatingSandbox`. */
export function statePath(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, child]) => {
      const rest = statePath(child);
      return rest === '' ? key : `${key}.${rest}`;
    })
    .join('|');
}
