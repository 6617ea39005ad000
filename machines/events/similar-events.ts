import { Lru } from './lru.ts';

/** From so many different messages on, similar events become one. */
const MAX_MESSAGES = 10;
/** Quiet time in ms after which similar events count as new. */
const INTERVAL_MS = 600_000;

interface Similar {
  messages: Set<string>;
  lastAt: number;
}

/** Says which events are so many alike that they are told as one (client-go: EventAggregator). */
export class SimilarEvents {
  private readonly groups: Lru<Similar>;

  constructor(size: number) {
    this.groups = new Lru(size);
  }

  /** Notes an event of the group; true when it is to be combined with the others. */
  combine(group: string, message: string, at: number): boolean {
    let similar = this.groups.get(group);
    if (!similar || Math.abs(at - similar.lastAt) > INTERVAL_MS) similar = { messages: new Set(), lastAt: at };
    similar.messages.add(message);
    similar.lastAt = at;
    this.groups.set(group, similar);
    if (similar.messages.size < MAX_MESSAGES) return false;
    // client-go forgets any one of them. Forgetting this one keeps those that have an event of their own.
    similar.messages.delete(message);
    return true;
  }
}
