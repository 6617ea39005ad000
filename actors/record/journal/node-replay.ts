import type { AnyMachineSnapshot } from 'xstate';
import { resolve, statePath, step } from '../../../machines/machine-step/step.ts';
import type { NodeContext, NodeMessage, NodeOrder } from '../../../machines/node/node-context.ts';
import { nodeMachine } from '../../../machines/node/node-machine.ts';
import type { Judged } from './difference.ts';
import { judge } from './supervisor-replay.ts';

/** A node machine's snapshot. */
export type NodeSnapshot = AnyMachineSnapshot & { context: NodeContext };

/** The node machine at a journaled place. */
export function restoredNode(value: unknown, context: object): NodeSnapshot {
  return resolve(nodeMachine, { value, context }) as NodeSnapshot;
}

/** One step of the node machine: pure, the same for the agent and for replay. */
export function stepNode(from: NodeSnapshot, message: NodeMessage): { snapshot: NodeSnapshot; orders: NodeOrder[] } {
  const { snapshot, effects } = step<NodeSnapshot, NodeOrder>(nodeMachine, from, message);
  return { snapshot, orders: effects };
}

/** Steps the node machine over its recorded messages. */
export class NodeReplay {
  private snapshot: NodeSnapshot | null = null;
  /** Messages without a recorded outcome so far. */
  readonly open = new Map<number, Judged>();
  messages = 0;

  /** A segment begins with the machine's place. Messages of the one before will not be answered any more. */
  begin(value: unknown, context: object): void {
    this.snapshot = restoredNode(value, context);
  }

  /** Handles a message; null when no segment has begun. */
  take(n: number, raw: Record<string, unknown>): Judged | null {
    const from = this.snapshot;
    if (from === null) return null;
    const judged = judge(raw, () => {
      const { snapshot, orders } = stepNode(from, raw as unknown as NodeMessage);
      this.snapshot = snapshot;
      return { state: statePath(snapshot.value), outputs: orders.map((order) => JSON.stringify(order)) };
    });
    this.messages++;
    this.open.set(n, judged);
    return judged;
  }
}
