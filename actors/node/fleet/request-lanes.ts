import { unlessAborted } from '../../host/time/unless-aborted.ts';
import type { ApiRequest } from '../../cluster/api/api-client.ts';
import type { Lanes } from '../../cluster/api/create-api-client.ts';

/** Requests of all nodes of the process that are under way at once: more make each slower, and none sooner answered. */
const MOST = 32;
/** Events: nobody waits for those. */
const MOST_EVENTS = 4;
/** What keeps a node Ready. */
const AT_ONCE: ReadonlySet<string> = new Set(['leases', 'nodes']);

/**
 * Has the requests of all nodes of a process wait for each other, so that what a node tells while many others tell something is told once
 * and of the newest, as with the limit of one node's own (`MAX_IN_FLIGHT` of the status manager). Leases and nodes wait for nobody: a node that is
 * late with them is taken for lost. Events come after all else, but are never left out.
 */
export class RequestLanes implements Lanes {
  private readonly all = new Lane(MOST);
  private readonly events = new Lane(MOST_EVENTS);

  async enter({ on }: ApiRequest, signal: AbortSignal): Promise<() => void> {
    if (AT_ONCE.has(on.resource)) return () => undefined;
    return (on.resource === 'events' ? this.events : this.all).enter(signal);
  }

  isCrowded(): boolean {
    return this.all.isFull();
  }
}

/** So many at once, first come, first served. */
class Lane {
  private readonly most: number;
  private underWay = 0;
  /** Who waits, oldest first: called with its turn. */
  private readonly waiting = new Set<(turn: true) => void>();

  constructor(most: number) {
    this.most = most;
  }

  isFull(): boolean {
    return this.underWay >= this.most;
  }

  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.isFull()) await this.turn(signal);
    else this.underWay++;
    return () => this.leave();
  }

  /** Who leaves hands the place on, so that nobody comes in between. */
  private async turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<true>();
    this.waiting.add(resolve);
    try {
      await unlessAborted(promise, signal);
    } catch (error) {
      // It was handed on in the same moment, or never will be.
      if (!this.waiting.delete(resolve)) this.leave();
      throw error;
    }
  }

  private leave(): void {
    const [next] = this.waiting;
    if (next === undefined) {
      this.underWay--;
      return;
    }
    this.waiting.delete(next);
    next(true);
  }
}
