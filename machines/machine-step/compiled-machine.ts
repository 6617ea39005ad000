import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { decisionOf } from './act.ts';
import type { Decide } from './act.ts';
import { ANY_ENTER } from './move.ts';

/** A guard as a plain function. */
export type Guard = (context: unknown, event: unknown) => boolean;

/** A transition as it is taken from an innermost state: when `guard` holds; `actions` run in order; then the machine is in `target` (null: where it was). */
export interface CompiledTransition {
  guard: Guard | null;
  actions: readonly Decide[];
  target: CompiledState | null;
}

/** An innermost state with all transitions out of it, its own first, then those of the states around it. */
export interface CompiledState {
  /** The state value as XState writes it; one object for all snapshots in this state. */
  value: unknown;
  /** Dotted path, e.g. `syncing.running`. */
  path: string;
  /** By type of the event, internal ones too. */
  on: ReadonlyMap<string, readonly CompiledTransition[]>;
  always: readonly CompiledTransition[];
}

/** A machine as a table: {@link CompiledState} by dotted path. */
export type CompiledMachine = ReadonlyMap<string, CompiledState>;

const compiled = new WeakMap<object, CompiledMachine | null>();

/**
 * The machine as a table, which is stepped over an order of magnitude faster than XState interprets the same
 * definition. Null for a machine that uses more than actorlet's machines do (parallel or final root states, history,
 * delays, invocations, actions that {@link act} did not make, ...): XState itself steps those.
 */
export function compiledMachine(machine: AnyStateMachine): CompiledMachine | null {
  let made = compiled.get(machine);
  if (made === undefined) compiled.set(machine, (made = compile(machine)));
  return made;
}

/** Thrown inside {@link compile} only. */
class Unsupported extends Error {}

type MutableState = { -readonly [K in keyof CompiledState]: CompiledState[K] };

function compile(machine: AnyStateMachine): CompiledMachine | null {
  try {
    const leaves = leavesOf(machine.root);
    const states = new Map<AnyStateNode, MutableState>(
      leaves.map((node) => [
        node,
        { value: valueOf(node.path), path: node.path.join('.'), on: new Map(), always: [] } satisfies MutableState,
      ]),
    );
    for (const [leaf, state] of states) fill(machine, leaf, state, states);
    return new Map([...states.values()].map((state) => [state.path, state]));
  } catch (error) {
    if (error instanceof Unsupported) return null;
    throw error;
  }
}

function leavesOf(node: AnyStateNode): AnyStateNode[] {
  const plain = node.invoke.length === 0 && node.after.length === 0 && node.exit.length === 0 && node.tags.length === 0;
  const known = node.type === 'atomic' || node.type === 'compound' || (node.type === 'final' && node.path.length > 1);
  if (!plain || !known) throw new Unsupported();
  const children = Object.values(node.states);
  return children.length === 0 ? [node] : children.flatMap(leavesOf);
}

function fill(
  machine: AnyStateMachine,
  leaf: AnyStateNode,
  state: MutableState,
  states: ReadonlyMap<AnyStateNode, CompiledState>,
): void {
  const on = new Map<string, CompiledTransition[]>();
  const always: CompiledTransition[] = [];
  for (const node of upwards(leaf)) {
    for (const [event, transitions] of node.transitions) {
      // XState asks an exact type of a state before a wildcard of the same state only; at the root both are the same.
      if (event.includes('*') && !(event === ANY_ENTER && node.parent === undefined)) throw new Unsupported();
      on.set(event, [...(on.get(event) ?? []), ...transitions.map((t) => transitionOf(machine, leaf, t, states))]);
    }
    for (const t of node.always ?? []) always.push(transitionOf(machine, leaf, t, states));
  }
  state.on = on;
  state.always = always;
}

/** The node and those around it, innermost first. */
function upwards(node: AnyStateNode): AnyStateNode[] {
  const out: AnyStateNode[] = [];
  for (let at: AnyStateNode | undefined = node; at !== undefined; at = at.parent) out.push(at);
  return out;
}

function transitionOf(
  machine: AnyStateMachine,
  leaf: AnyStateNode,
  transition: AnyTransitionDefinition,
  states: ReadonlyMap<AnyStateNode, CompiledState>,
): CompiledTransition {
  const guard = transition.guard === undefined ? null : guardOf(machine, transition.guard);
  const actions = transition.actions.map(decideOf);
  const [target, ...more] = transition.target ?? [];
  if (target === undefined) return { guard, actions, target: null };
  if (more.length > 0) throw new Unsupported();
  const entered = enteredBy(transition.source, target, transition.reenter);
  for (const node of entered) actions.push(...node.entry.map(decideOf));
  const last = entered.at(-1) ?? leaf;
  const state = states.get(last);
  if (state === undefined) throw new Unsupported();
  return { guard, actions, target: state };
}

/** The states that a transition enters, outermost first, down to an innermost one (SCXML's domain and entry set without parallels). */
function enteredBy(source: AnyStateNode, target: AnyStateNode, reenter: boolean): AnyStateNode[] {
  const sources = upwards(source);
  const targets = upwards(target);
  const within = targets.includes(source);
  const domain = !reenter && within ? source : targets.slice(1).find((node) => sources.slice(1).includes(node));
  if (domain === undefined) throw new Unsupported();
  const path = targets.slice(0, targets.indexOf(domain)).reverse();
  let last = target;
  for (let next = last.initial?.target?.[0]; next !== undefined; next = last.initial?.target?.[0]) {
    if (next.parent !== last || (last.initial?.actions.length ?? 0) > 0) throw new Unsupported();
    path.push(next);
    last = next;
  }
  return path;
}

function guardOf(machine: AnyStateMachine, guard: unknown): Guard {
  const named = typeof guard === 'string' ? machine.implementations.guards[guard] : guard;
  // A function without `check` is a plain guard; and(), or(), not() have one.
  if (typeof named !== 'function' || 'check' in named) throw new Unsupported();
  const check = named as (args: { context: unknown; event: unknown }) => boolean;
  return (context, event) => check({ context, event });
}

function decideOf(action: unknown): Decide {
  const decide = decisionOf(action);
  if (decide === null) throw new Unsupported();
  return decide;
}

function valueOf(path: readonly string[]): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return {};
  return rest.length === 0 ? head : { [head]: valueOf(rest) };
}

/**
 * Where the machine begins, as a dotted path; null when its beginning does more than to be there (entry actions).
 */
export function initialPath(machine: AnyStateMachine): string | null {
  let node: AnyStateNode = machine.root;
  for (;;) {
    if (node.entry.length > 0) return null;
    const next: AnyStateNode | undefined = node.type === 'compound' ? node.initial.target[0] : undefined;
    if (next === undefined) return node.path.join('.');
    if (next.parent !== node || node.initial.actions.length > 0) return null;
    node = next;
  }
}
