import type { AnyMachineSnapshot } from 'xstate';
import { resolve, statePath, step } from '../../../machines/machine-step/step.ts';
import type { NodeContext, NodeMessage, NodeOrder } from '../../../machines/node/node-context.ts';
import { nodeMachine } from '../../../machines/node/node-machine.ts';
import { journaled } from './journaled-machine.ts';

/** A node machine's snapshot. */
export type NodeSnapshot = AnyMachineSnapshot & { context: NodeContext };

/** The node machine at a journaled place. */
export function restoredNode(value: unknown, context: object): NodeSnapshot {
  return resolve(nodeMachine, { value, context }) as NodeSnapshot;
}

/** The node. It gets a message only when something has changed, so its log is short. */
export const node = journaled<NodeSnapshot, NodeMessage, NodeOrder>({
  name: 'node',
  step: (from, message) => {
    const { snapshot, effects } = step<NodeSnapshot, NodeOrder>(nodeMachine, from, message);
    return { state: snapshot, outputs: effects };
  },
  stateName: ({ value }) => statePath(value),
  why: ({ context }) => context.reasons.join(', '),
  write: ({ value, context }) => ({ head: { value, context }, rows: [] }),
  revive: (head) => {
    const { value, context } = head as { value: unknown; context: object };
    return restoredNode(value, context);
  },
});
