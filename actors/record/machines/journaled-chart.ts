import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { resolve, statePath, step } from '../../../machines/machine-step/step.ts';
import { journaled } from './journaled-machine.ts';
import type { JournaledMachine, Message } from './journaled-machine.ts';

/** A snapshot of a machine that is a chart of its own. */
export type ChartSnapshot<C> = AnyMachineSnapshot & { context: C };

/** What is told of such a machine. */
interface ChartDeclaration<C> {
  name: string;
  chart: AnyStateMachine;
  why?: (snapshot: ChartSnapshot<C>) => string;
  /** A new context, whose fields stand in for those that journals of before have not. */
  fresh?: () => C;
}

/** The declaration of a machine that there is one of and that XState steps: its place is its state and its context. */
export function journaledChart<C extends object, M extends Message, O>({
  name,
  chart,
  why,
  fresh,
}: ChartDeclaration<C>): JournaledMachine<ChartSnapshot<C>, M, O> {
  return journaled<ChartSnapshot<C>, M, O>({
    name,
    step: (from, message) => {
      const { snapshot, effects } = step<ChartSnapshot<C>, O>(chart, from, message);
      return { state: snapshot, outputs: effects };
    },
    stateName: ({ value }) => statePath(value),
    ...(why && { why }),
    write: ({ value, context }) => ({ head: { value, context }, rows: [] }),
    revive: (head) => {
      const { value, context } = head as { value: unknown; context: object };
      return resolve(chart, { value, context: { ...fresh?.(), ...context } }) as ChartSnapshot<C>;
    },
  });
}
