import { NODE_MACHINES } from '../../../machines/charts/node-machines.ts';
import { compiledMachine } from '../../../machines/machine-step/compiled-machine.ts';
import type { Stand } from '../../../machines/machine-step/compiled-machine.ts';

/** What a machine's definition allows. */
export interface PossibleMoves {
  /** Dotted paths of its innermost states. */
  states: readonly string[];
  /** `from -> to`, for each two different states that one message can lead from and to. */
  moves: readonly string[];
}

/** What the definitions of the node's machines allow, by the machine's name. */
export function possibleMoves(): Map<string, PossibleMoves> {
  const possible = new Map<string, PossibleMoves>();
  for (const machine of Object.values(NODE_MACHINES)) {
    const stands = [...(compiledMachine(machine)?.values() ?? [])];
    const moves = stands.flatMap((from) =>
      [...reachableFrom(from)].filter((to) => to !== from).map((to) => `${from.path} -> ${to.path}`),
    );
    possible.set(machine.id, { states: stands.map(({ path }) => path), moves });
  }
  return possible;
}

/** Where one message can lead: by a way of the state's own, and on from there by ways that need none. */
function reachableFrom(from: Stand): Set<Stand> {
  const reached = new Set<Stand>();
  const visit = (stand: Stand): void => {
    if (reached.has(stand)) return;
    reached.add(stand);
    for (const { to } of stand.always) if (to !== null) visit(to);
  };
  for (const ways of from.on.values()) for (const { to } of ways) visit(to ?? from);
  return reached;
}
