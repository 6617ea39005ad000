import type { NodeContext, NodeMessage, NodeOrder } from '../../../machines/node/node-context.ts';
import { nodeMachine } from '../../../machines/node/node-machine.ts';
import { journaledChart } from './journaled-chart.ts';
import type { ChartSnapshot } from './journaled-chart.ts';

/** A node machine's snapshot. */
export type NodeSnapshot = ChartSnapshot<NodeContext>;

/** The node. It gets a message only when something has changed, so its log is short. */
export const node = journaledChart<NodeContext, NodeMessage, NodeOrder>({
  name: 'node',
  chart: nodeMachine,
  why: ({ context }) => context.reasons.join(', '),
});
