import type { NodePlace } from '../../../machines/explain/node-reasons.ts';
import type { NodeMessage } from '../../../machines/node/node-context.ts';
import type { NodeSnapshot } from '../../record/journal/node-replay.ts';
import { restoredNode, stepNode } from '../../record/journal/node-replay.ts';
import type { JournalRecord } from '../../record/journal/records.ts';

/** The node on its way through a journal. */
export class NodeTrail {
  #snapshot: NodeSnapshot | null = null;
  #since = 0;

  /** Null while the journal has said nothing of it. */
  get place(): NodePlace | null {
    return this.#snapshot === null ? null : { context: this.#snapshot.context, since: this.#since };
  }

  /** A record of the node's log; others are passed over. */
  take(record: JournalRecord): void {
    if (record.r === 'node.segment') this.#moved(restoredNode(record.value, record.context), record.at);
    if (record.r === 'node.msg') this.step(record.m as unknown as NodeMessage);
  }

  /** One message; those of a node whose beginning is not known are passed over. */
  step(message: NodeMessage): void {
    if (this.#snapshot === null) return;
    try {
      this.#moved(stepNode(this.#snapshot, message).snapshot, message.at);
    } catch {
      // As in the agent: a message on which the machine throws changes nothing.
    }
  }

  #moved(snapshot: NodeSnapshot, at: number): void {
    if (this.#snapshot?.context.focus !== snapshot.context.focus) this.#since = at;
    this.#snapshot = snapshot;
  }
}
