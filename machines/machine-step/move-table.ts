import { nodeErrors } from '../errors/node-errors.ts';
import { ActorletError } from '../errors/define.ts';
import { act } from './act.ts';
import type { EnterEvent } from './move.ts';

/**
 * Which states may follow which, for a machine whose decisions say where it is next: from each state (a compound one
 * stands for all states within it) to innermost states, each with what brings it about. Any other move is a fault.
 */
export type MoveTable<S extends string> = Readonly<Record<string, Readonly<Partial<Record<S, string>>>>>;

/** A row of a table as transitions of the state that it is about; `id`: the machine's. */
export function entering<S extends string>(id: string, row: Readonly<Partial<Record<S, string>>>) {
  const transitions = Object.entries<string | undefined>(row).map(([to, why]) => [
    `enter.${to}`,
    { target: `#${id}.${to}`, description: why },
  ]);
  return Object.fromEntries(transitions) as Record<`enter.${S}`, { target: string; description: string }>;
}

/**
 * The transition of the whole machine on {@link ANY_ENTER}: a move that no state declares. The step throws, so the message changes
 * nothing, and its host journals the fault. `nameOf`: whose machine it is, from its context.
 */
export function undeclared<C>(nameOf: (context: C) => string) {
  return {
    actions: act<C, EnterEvent>(function undeclaredMove(context, { from, to }) {
      throw new ActorletError(nodeErrors.undeclaredMove, { name: nameOf(context), from, to });
    }),
  };
}
