import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { initialTransition } from 'xstate';
import type { Effect } from '../protocol/effects.ts';
import { compiledMachine, initialPath } from './compiled-machine.ts';
import type { CompiledState, CompiledTransition } from './compiled-machine.ts';
import { ANY_ENTER, enterEvent, isEnter } from './move.ts';
import type { Move } from './move.ts';

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
 * invoke-free, and their only actions are `effect` and a raised event.
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
    // XState has put the event into the queue of the step already.
    if (action.type === 'xstate.raise') return;
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
  if (compiledMachine(machine)?.has(statePath(place.value)) === true)
    return new Stepped(machine, place) as unknown as AnyMachineSnapshot;
  return machine.resolveState({ value: place.value as never, context: place.context as never });
}

/** A snapshot as {@link step} makes it: of XState's snapshot what the agent and its observers look at. */
class Stepped {
  readonly status = 'active';
  readonly machine: AnyStateMachine;
  readonly value: unknown;
  readonly context: unknown;

  constructor(machine: AnyStateMachine, { value, context }: Place<unknown>) {
    this.machine = machine;
    this.value = value;
    this.context = context;
  }

  /** As XState's own snapshot: plain JSON, without the machine. */
  toJSON(): { status: string; value: unknown; context: unknown } {
    return { status: this.status, value: this.value, context: this.context };
  }
}

/** Microsteps without an event that a machine may take in one step; more is a circle of `always`. */
const MOST_MICROSTEPS = 1_000;

/**
 * One pure step: snapshot + event -> next snapshot + effects, in the order in which they were decided. The machine's
 * table is stepped over (see compiled-machine.ts); {@link interpretedStep} is what it must be equal to.
 */
export function step<S extends AnyMachineSnapshot, F = Effect>(
  machine: AnyStateMachine,
  snapshot: S,
  event: { type: string },
): { snapshot: S; effects: F[] } {
  if (snapshot.status !== 'active' || compiledMachine(machine) === null)
    return interpretedStep(machine, snapshot, event);
  const from: Place<unknown> = snapshot;
  const effects: F[] = [];
  const to = stepPlace(machine, from, event, effects);
  if (to === from) return { snapshot, effects };
  return { snapshot: new Stepped(machine, to) as unknown as S, effects };
}

/**
 * One pure step of a place, without snapshots around it: the next place; `effects` are added to. The same object comes
 * back when the event changes nothing. Only for machines that compile (all of actorlet's do).
 */
export function stepPlace<C, F>(
  machine: AnyStateMachine,
  from: Place<C>,
  event: { type: string },
  effects: F[],
): Place<C> {
  const start = stateOf(machine, from.value);
  let state = start;
  let context: unknown = from.context;
  let cause = event;
  let move: Move | null = null;
  let transition = choose(heardBy(state, event.type), context, event);
  for (let i = 0; ; i++) {
    if (transition !== null) {
      for (const decide of transition.actions) {
        const decision = decide(context, cause);
        if (decision.patch !== undefined)
          context = decision.whole === true ? decision.patch : Object.assign({}, context, decision.patch);
        if (decision.effects !== undefined) for (const effect of decision.effects) effects.push(effect as F);
        if (decision.move !== undefined) move = decision.move;
      }
      if (transition.target !== null) state = transition.target;
    }
    transition = state.always.length === 0 ? null : choose(state.always, context, cause);
    if (transition === null && move !== null) {
      cause = enterEvent(move);
      move = null;
      transition = choose(heardBy(state, cause.type), context, cause);
    }
    if (transition === null) break;
    if (i >= MOST_MICROSTEPS) throw new Error(`the machine ${machine.id} goes in circles in ${state.path}`);
  }
  if (state === start && context === from.context) return from;
  return { value: state.value, context: context as C };
}

const BEGINNINGS = new WeakMap<object, string | null>();

/** A machine's place at its birth, as XState's `initialTransition` gives it, for machines that do nothing at their birth. */
export function bornPlace<C>(machine: AnyStateMachine, input: unknown): Place<C> {
  let path = BEGINNINGS.get(machine);
  if (path === undefined) BEGINNINGS.set(machine, (path = initialPath(machine)));
  const state = path === null ? undefined : compiledMachine(machine)?.get(path);
  const { context } = machine.config as { context?: unknown };
  if (state === undefined || typeof context !== 'function') {
    const { value, context: made } = initialTransition(machine, input)[0] as AnyMachineSnapshot;
    return { value, context: made as C };
  }
  const begin = context as (args: { input: unknown }) => C;
  return stepPlace<C, never>(machine, { value: state.value, context: begin({ input }) }, { type: 'xstate.init' }, []);
}

/** The same as a snapshot. */
export function bornSnapshot(machine: AnyStateMachine, input: unknown): AnyMachineSnapshot {
  return new Stepped(machine, bornPlace(machine, input)) as unknown as AnyMachineSnapshot;
}

/** Whether a machine in the state `value` can be moved by an event of this type at all. */
export function hears(machine: AnyStateMachine, value: unknown, type: string): boolean {
  const state = stateOf(machine, value);
  return state.always.length > 0 || state.on.has(type);
}

function stateOf(machine: AnyStateMachine, value: unknown): CompiledState {
  const state = compiledMachine(machine)?.get(statePath(value));
  if (state === undefined) throw new Error(`the machine ${machine.id} has no state ${statePath(value)}`);
  return state;
}

/** The transitions of an event; of a move that the state does not declare the whole machine's. */
function heardBy(state: CompiledState, type: string): readonly CompiledTransition[] | undefined {
  return state.on.get(type) ?? (isEnter(type) ? state.on.get(ANY_ENTER) : undefined);
}

function choose(
  transitions: readonly CompiledTransition[] | undefined,
  context: unknown,
  event: unknown,
): CompiledTransition | null {
  if (transitions === undefined) return null;
  for (const transition of transitions)
    if (transition.guard === null || transition.guard(context, event)) return transition;
  return null;
}

/**
 * The same step done by XState itself: slower, and for every machine. Snapshots must be XState's own (as
 * {@link resolve} and this function give them).
 */
export function interpretedStep<S extends AnyMachineSnapshot, F = Effect>(
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

const PATHS = new WeakMap<object, string>();

/** A state value as a dotted path, e.g. `syncing.creatingSandbox`. State values are never changed in place. */
export function statePath(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  let path = PATHS.get(value);
  if (path === undefined) PATHS.set(value, (path = pathOf(value)));
  return path;
}

function pathOf(value: object): string {
  return Object.entries(value)
    .map(([key, child]) => {
      const rest = statePath(child);
      return rest === '' ? key : `${key}.${rest}`;
    })
    .join('|');
}
