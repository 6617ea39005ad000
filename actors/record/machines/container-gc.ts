import type { AnyMachineSnapshot } from 'xstate';
import type {
  ContainerGcContext,
  ContainerGcMessage,
  ContainerGcOrder,
} from '../../../machines/container-gc/container-gc-context.ts';
import { containerGcMachine } from '../../../machines/container-gc/container-gc-machine.ts';
import { resolve, statePath, step } from '../../../machines/machine-step/step.ts';
import { journaled } from './journaled-machine.ts';

/** A snapshot of the collector of containers. */
export type ContainerGcSnapshot = AnyMachineSnapshot & { context: ContainerGcContext };

/** The collector of containers. Looks of which nothing follows are not told to it. */
export const containerGc = journaled<ContainerGcSnapshot, ContainerGcMessage, ContainerGcOrder>({
  name: 'container-gc',
  step: (from, message) => {
    const { snapshot, effects } = step<ContainerGcSnapshot, ContainerGcOrder>(containerGcMachine, from, message);
    return { state: snapshot, outputs: effects };
  },
  stateName: ({ value }) => statePath(value),
  why: ({ context }) => context.failure ?? '',
  write: ({ value, context }) => ({ head: { value, context }, rows: [] }),
  revive: (head) => resolve(containerGcMachine, head as { value: unknown; context: object }) as ContainerGcSnapshot,
});
