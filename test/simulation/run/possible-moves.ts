import { NODE_MACHINES } from '../../../machines/charts/node-machines.ts';
import { compiledMachine } from '../../../machines/machine-step/compiled-machine.ts';
import type { Stand, Way } from '../../../machines/machine-step/compiled-machine.ts';
import { impossibleMoves } from './impossible-moves.ts';
import type { ImpossibleMoves } from './impossible-moves.ts';

/** What a machine can come to and through. */
export interface PossibleMoves {
  /** Dotted paths of its innermost states. */
  states: readonly string[];
  /** `from -> to`, for each two different states that one message can lead from and to. */
  moves: readonly string[];
}

let known: Map<string, PossibleMoves> | null = null;

/** What the node's machines can do, by the machine's name: what their definitions allow, less what their rules rule out. */
export function possibleMoves(): ReadonlyMap<string, PossibleMoves> {
  if (known !== null) return known;
  known = new Map();
  for (const [machine, { states, moves }] of allowedMoves()) {
    const rows = impossibleMoves.filter((row) => row.machine === machine);
    known.set(machine, { states, moves: moves.filter((move) => !rows.some((row) => rulesOut(row, move))) });
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
    const stands = [...(compiledMachine(machine)?.values() ?? [])];
    const moves = stands.flatMap((from) =>
      [...reachableFrom(from)].filter((to) => to !== from).map((to) => `${from.path} -> ${to.path}`),
    );
    allowed.set(machine.id, { states: stands.map(({ path }) => path), moves });
  }
  return allowed;
}

/** Does this row say that a machine never makes this move, `from -> to`? */
export function rulesOut({ from, to }: ImpossibleMoves, move: string): boolean {
  const [before = '', after = ''] = move.split(' -> ');
  const within = (path: string) => (name: string) => path === name || path.startsWith(`${name}.`);
  return from.some(within(before)) && to.some(within(after));
}

/** Where one message can lead: by a way of the state's own, and on from there by ways that need none. */
function reachableFrom(from: Stand): Set<Stand> {
  const reached = new Set<Stand>();
  const visit = (stand: Stand): void => {
    if (reached.has(stand)) return;
    reached.add(stand);
    for (const { to } of open(stand.always)) if (to !== null) visit(to);
  };
  for (const ways of from.on.values()) for (const { to } of open(ways)) visit(to ?? from);
  return reached;
}

/** The ways that can be taken at all: of those after one that asks nothing none ever is. */
function open(ways: readonly Way[]): readonly Way[] {
  const last = ways.findIndex(({ check }) => check === null);
  return last === -1 ? ways : ways.slice(0, last + 1);
}
