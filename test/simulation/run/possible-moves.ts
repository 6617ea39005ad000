import { NODE_MACHINES } from '../../../machines/charts/node-machines.ts';
import { compiledMachine } from '../../../machines/machine-step/compiled-machine.ts';
import type { CompiledState, CompiledTransition } from '../../../machines/machine-step/compiled-machine.ts';
import { unreachedMoves, unsimulatedMachines, unsimulatedStates } from './unreached-moves.ts';
import type { UnreachedMoves } from './unreached-moves.ts';

/** What a machine can come to and through. */
export interface PossibleMoves {
  /** Dotted paths of its innermost states. */
  states: readonly string[];
  /** `from -> to`, for each two different states that one message can lead from and to. */
  moves: readonly string[];
}

let known: Map<string, PossibleMoves> | null = null;

/** What the node's machines can do, by the machine's name: what their definitions allow, less what no run comes to. */
export function possibleMoves(): ReadonlyMap<string, PossibleMoves> {
  if (known !== null) return known;
  known = new Map();
  for (const [machine, { states, moves }] of allowedMoves()) {
    if (Object.hasOwn(unsimulatedMachines, machine)) continue;
    const rows = unreachedMoves.filter((row) => row.machine === machine);
    const isSimulated = (state: string): boolean => !Object.hasOwn(unsimulatedStates[machine] ?? {}, state);
    known.set(machine, {
      states: states.filter(isSimulated),
      moves: moves.filter((move) => move.split(' -> ').every(isSimulated) && !rows.some((row) => rulesOut(row, move))),
    });
  }
  return known;
}

let all: ReadonlySet<string> | null = null;

/** Can a machine make this move, `machine state -> state`? */
export function isPossible(move: string): boolean {
  all ??= new Set([...possibleMoves()].flatMap(([machine, { moves }]) => moves.map((each) => `${machine} ${each}`)));
  return all.has(move);
}

/** What the definitions of the node's machines allow, by the machine's name, whatever their guards ask. */
export function allowedMoves(): Map<string, PossibleMoves> {
  const allowed = new Map<string, PossibleMoves>();
  for (const machine of Object.values(NODE_MACHINES)) {
    const states = [...(compiledMachine(machine)?.values() ?? [])].filter((state) => !isPassing(state));
    const moves = states.flatMap((from) =>
      [...reachableFrom(from)].filter((to) => to !== from && !isPassing(to)).map((to) => `${from.path} -> ${to.path}`),
    );
    allowed.set(machine.id, { states: states.map(({ path }) => path), moves });
  }
  return allowed;
}

/** Does this row say that a machine never makes this move, `from -> to`? */
export function rulesOut({ from, to }: UnreachedMoves, move: string): boolean {
  const [before = '', after = ''] = move.split(' -> ');
  const within = (path: string) => (name: string) => path === name || path.startsWith(`${name}.`);
  return from.some(within(before)) && to.some(within(after));
}

/** A state that is left in the step that comes to it: no machine is ever seen there. */
function isPassing({ always }: CompiledState): boolean {
  return always.some(({ guard }) => guard === null);
}

/** Where one message can lead: by a transition of the state's own, and on from there by those that need no message. */
function reachableFrom(from: CompiledState): Set<CompiledState> {
  const reached = new Set<CompiledState>();
  const visit = (state: CompiledState): void => {
    if (reached.has(state)) return;
    reached.add(state);
    for (const { target } of open(state.always)) if (target !== null) visit(target);
  };
  for (const transitions of from.on.values()) for (const { target } of open(transitions)) visit(target ?? from);
  return reached;
}

/** The transitions that can be taken at all: of those after one that asks nothing none ever is. */
function open(transitions: readonly CompiledTransition[]): readonly CompiledTransition[] {
  const last = transitions.findIndex(({ guard }) => guard === null);
  return last === -1 ? transitions : transitions.slice(0, last + 1);
}
