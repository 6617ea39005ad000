import type { RecordedEvent } from '../protocol/recorded-event.ts';
import { rfc3339 } from '../values/rfc3339.ts';
import { apiEvent, eventName } from './api-event.ts';
import type { ApiEvent } from './api-event.ts';
import { sameKey, similarKey, spamKey } from './event-keys.ts';
import { Lru } from './lru.ts';
import { SimilarEvents } from './similar-events.ts';
import { SpamFilter } from './spam-filter.ts';

/** Entries of each memory of the correlator (client-go: maxLruCacheEntries). */
const ENTRIES = 4096;

/** Fields that change when an event comes again, as a strategic merge patch. */
export interface EventPatch {
  count: number;
  lastTimestamp: string;
  message?: string;
}

/** What is to be sent for one happening. */
export type Correlated =
  /** Nothing: the object has had too many events. */
  | { send: 'nothing' }
  /** A new event. */
  | { send: 'create'; event: ApiEvent }
  /** A change of an event that was sent before; `event` is its whole, for when the API server no longer has it. */
  | { send: 'patch'; event: ApiEvent; patch: EventPatch };

interface Sent {
  name: string;
  firstTimestamp: string;
  count: number;
}

/**
 * Decides what the API server hears of events, as client-go's EventCorrelator: what comes again is counted, ten similar
 * ones within ten minutes become `(combined from similar events): ...`, and no object has more than 25 at once and one
 * each five minutes after that. Knows no clock: `at` (ms since the epoch) comes with each call.
 */
export class EventCorrelator {
  private readonly nodeName: string;
  private readonly similar: SimilarEvents;
  private readonly sent: Lru<Sent>;
  private readonly spam: SpamFilter;
  private lastNanos = 0n;

  constructor(nodeName: string, entries: number = ENTRIES) {
    this.nodeName = nodeName;
    this.similar = new SimilarEvents(entries);
    this.sent = new Lru(entries);
    this.spam = new SpamFilter(entries);
  }

  correlate(happening: RecordedEvent, at: number): Correlated {
    const own = apiEvent(happening, this.nodeName, this.nanos(happening.at));
    const group = similarKey(own);
    const combined = this.similar.combine(group, own.message, at);
    const event = combined ? this.combinedOf(own, at) : own;
    const patch = this.countAgain(event, combined ? group : sameKey(own));
    // Asked last, as client-go does: what is held back counts nevertheless, and the next patch tells the true number.
    if (!this.spam.admits(spamKey(event), at)) return { send: 'nothing' };
    return patch ? { send: 'patch', event, patch } : { send: 'create', event };
  }

  /** Like the aggregator's own event: of now, without annotations and reporting component. */
  private combinedOf(event: ApiEvent, at: number): ApiEvent {
    const time = rfc3339(at);
    const { name: _name, annotations: _annotations, ...metadata } = event.metadata;
    return {
      ...event,
      metadata: { ...metadata, name: eventName(event.involvedObject, this.nanos(at)) },
      message: `(combined from similar events): ${event.message}`,
      firstTimestamp: time,
      lastTimestamp: time,
      reportingComponent: '',
      reportingInstance: '',
    };
  }

  /** Turns `event` into the next count of the one under `key` and gives the patch; null when it is the first. */
  private countAgain(event: ApiEvent, key: string): EventPatch | null {
    const last = this.sent.get(key);
    if (last) {
      event.metadata.name = last.name;
      event.firstTimestamp = last.firstTimestamp;
      event.count = last.count + 1;
    }
    this.sent.set(key, { name: event.metadata.name, firstTimestamp: event.firstTimestamp, count: event.count });
    if (!last) return null;
    return {
      count: event.count,
      lastTimestamp: event.lastTimestamp,
      ...(event.message ? { message: event.message } : {}),
    };
  }

  /** Nanoseconds for a name. The clock gives milliseconds, so events of the same one are told apart by counting on. */
  private nanos(at: number): bigint {
    const nanos = BigInt(Math.trunc(at)) * 1_000_000n;
    this.lastNanos = nanos > this.lastNanos ? nanos : this.lastNanos + 1n;
    return this.lastNanos;
  }
}
