import type { AnyMachineSnapshot } from 'xstate';
import { resolve, statePath, step } from '../../../machines/machine-step/step.ts';
import { whyShutdown } from '../../../machines/shutdown/why-shutdown.ts';
import type { ShutdownContext, ShutdownMessage, ShutdownOrder } from '../../../machines/shutdown/shutdown-context.ts';
import { shutdownMachine } from '../../../machines/shutdown/shutdown-machine.ts';
import { journaled } from './journaled-machine.ts';

/** A shutdown machine's snapshot. */
export type ShutdownSnapshot = AnyMachineSnapshot & { context: ShutdownContext };

/** Graceful shutdown of the node. A few records in a life of the agent, and those of a shutdown. */
export const shutdown = journaled<ShutdownSnapshot, ShutdownMessage, ShutdownOrder>({
  name: 'shutdown',
  step: (from, message) => {
    const { snapshot, effects } = step<ShutdownSnapshot, ShutdownOrder>(shutdownMachine, from, message);
    return { state: snapshot, outputs: effects };
  },
  stateName: ({ value }) => statePath(value),
  why: ({ context }) => whyShutdown(context),
  write: ({ value, context }) => ({ head: { value, context }, rows: [] }),
  revive: (head) => {
    const { value, context } = head as { value: unknown; context: object };
    return resolve(shutdownMachine, { value, context }) as ShutdownSnapshot;
  },
});
