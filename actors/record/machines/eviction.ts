import type { AnyMachineSnapshot } from 'xstate';
import type { EvictionContext, EvictionMessage, EvictionOrder } from '../../../machines/eviction/eviction-context.ts';
import { initialEviction } from '../../../machines/eviction/eviction-context.ts';
import { evictionMachine } from '../../../machines/eviction/eviction-machine.ts';
import { resolve, statePath, step } from '../../../machines/machine-step/step.ts';
import { journaled } from './journaled-machine.ts';

/** An eviction machine's snapshot. */
export type EvictionSnapshot = AnyMachineSnapshot & { context: EvictionContext };

/** Eviction. Looks at a node that is well change nothing and are not told to it, so its log is short. */
export const eviction = journaled<EvictionSnapshot, EvictionMessage, EvictionOrder>({
  name: 'eviction',
  step: (from, message) => {
    const { snapshot, effects } = step<EvictionSnapshot, EvictionOrder>(evictionMachine, from, message);
    return { state: snapshot, outputs: effects };
  },
  stateName: ({ value }) => statePath(value),
  write: ({ value, context }) => ({ head: { value, context }, rows: [] }),
  revive: (head) => {
    const { value, context } = head as { value: unknown; context: object };
    // Journals of before had no soundings.
    return resolve(evictionMachine, { value, context: { ...initialEviction(), ...context } }) as EvictionSnapshot;
  },
});
