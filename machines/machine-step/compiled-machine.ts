import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { decisionOf } from './act.ts';
import type { Decide } from './act.ts';
import { askedBy } from './hold-when.ts';

/** A guard as a plain function. */
export type Check = (context: unknown, event: unknown) => boolean;

/** One way out of a state: taken when `check` holds; `decides` run in order; then the machine is in `to` (null: where it was). */
export interface Way {
  check: Check | null;
  decides: readonly Decide[];
  to: Stand | null;
}

/** An innermost state with all ways out of it, its own first, then those of the states around it. */
export interface Stand {
  /** The state value as XState writes it; one object for all snapshots that stand here. */
  value: unknown;
  /** Dotted path, e.g. `syncing.running`. */
  path: string;
  on: ReadonlyMap<string, readonly Way[]>;
  always: readonly Way[];
  /** `always` as a table, when each way in it asks for a value of the same thing. */
  turns: Turns | null;
}

/** Ways by what `pick` reads of the context; a value without a way leads nowhere. */
export interface Turns {
  pick: (context: unknown) => unknown;
  ways: ReadonlyMap<unknown, Way>;
}

/** A machine as a table: {@link Stand} by dotted path. */
export type CompiledMachine = ReadonlyMap<string, Stand>;

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

type MutableStand = { -readonly [K in keyof Stand]: Stand[K] };

function compile(machine: AnyStateMachine): CompiledMachine | null {
  try {
    const leaves = leavesOf(machine.root);
    const places = new Map<AnyStateNode, MutableStand>(
      leaves.map((node) => [
        node,
        {
          value: valueOf(node.path),
          path: node.path.join('.'),
          on: new Map(),
          always: [],
          turns: null,
        } satisfies MutableStand,
      ]),
    );
    for (const [leaf, place] of places) fill(machine, leaf, place, places);
    return new Map([...places.values()].map((place) => [place.path, place]));
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
  place: MutableStand,
  places: ReadonlyMap<AnyStateNode, Stand>,
): void {
  const on = new Map<string, Way[]>();
  const always: Way[] = [];
  const guards: unknown[] = [];
  for (const node of upwards(leaf)) {
    for (const [event, transitions] of node.transitions) {
      if (event.includes('*')) throw new Unsupported();
      on.set(event, [...(on.get(event) ?? []), ...transitions.map((t) => wayOf(machine, leaf, t, places))]);
    }
    for (const t of node.always ?? []) {
      always.push(wayOf(machine, leaf, t, places));
      guards.push(t.guard);
    }
  }
  place.on = on;
  place.always = always;
  place.turns = turnsOf(always, guards);
}

function turnsOf(always: readonly Way[], guards: readonly unknown[]): Turns | null {
  const first = askedBy(guards[0]);
  if (first === null) return null;
  const ways = new Map<unknown, Way>();
  for (const [i, way] of always.entries()) {
    const asked = askedBy(guards[i]);
    if (asked === null || asked.pick !== first.pick) return null;
    // The first one that holds is taken.
    if (!ways.has(asked.value)) ways.set(asked.value, way);
  }
  return { pick: first.pick as Turns['pick'], ways };
}

/** The node and those around it, innermost first. */
function upwards(node: AnyStateNode): AnyStateNode[] {
  const out: AnyStateNode[] = [];
  for (let at: AnyStateNode | undefined = node; at !== undefined; at = at.parent) out.push(at);
  return out;
}

function wayOf(
  machine: AnyStateMachine,
  leaf: AnyStateNode,
  transition: AnyTransitionDefinition,
  places: ReadonlyMap<AnyStateNode, Stand>,
): Way {
  const check = transition.guard === undefined ? null : checkOf(machine, transition.guard);
  const decides = transition.actions.map(decideOf);
  const [target, ...more] = transition.target ?? [];
  if (target === undefined) return { check, decides, to: null };
  if (more.length > 0) throw new Unsupported();
  const entered = enteredBy(transition.source, target, transition.reenter);
  for (const node of entered) decides.push(...node.entry.map(decideOf));
  const last = entered.at(-1) ?? leaf;
  const to = places.get(last);
  if (to === undefined) throw new Unsupported();
  return { check, decides, to };
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

function checkOf(machine: AnyStateMachine, guard: unknown): Check {
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
