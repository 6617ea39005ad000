import type { ObservedPod } from '../../../machines/protocol/observed.ts';
import { shareParts } from './share-parts.ts';

/**
 * The last look at each pod of a simulated node. Supervisor and pod keep one each, taken at different times; where nothing has changed
 * in between they keep the same one. (On a machine they are on two threads.)
 */
export class KeptLooks {
  private readonly last = new Map<string, ObservedPod>();

  /** The look, with what the one before it has of it. */
  shared(observed: ObservedPod): ObservedPod {
    const { uid, sandboxes, containers } = observed;
    shareParts(observed, this.last.get(uid));
    if (sandboxes.length === 0 && containers.length === 0) this.last.delete(uid);
    else this.last.set(uid, observed);
    return observed;
  }

  /** Pods of which something was there. */
  get size(): number {
    return this.last.size;
  }
}
