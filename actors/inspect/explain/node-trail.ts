import type { NodePlace } from '../../../machines/explain/node-reasons.ts';
import type { NodeContext } from '../../../machines/node/node-context.ts';

/** The node on its way through a journal. */
export class NodeTrail {
  #place: NodePlace | null = null;

  /** Null while the journal has said nothing of it. */
  get place(): NodePlace | null {
    return this.#place;
  }

  /** Where it is at this moment: at the start of a segment, or after a message. */
  saw(context: NodeContext, at: number): void {
    const known = this.#place;
    this.#place = { context, since: known?.context.focus === context.focus ? known.since : at };
  }
}
