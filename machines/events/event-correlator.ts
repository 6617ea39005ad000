import type { RecordedEvent } from '../protocol/recorded-event.ts';
import { rfc3339 } from '../values/rfc3339.ts';
import { apiEvent, eventName } from './api-event.ts';
import type { ApiEvent } from './api-event.ts';
import { Lru } from './lru.ts';

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

// Source and host are left out of the keys that client-go builds: one agent has one of each.

/** Parts cannot run into each other: none may hold U+0000. */
function key(...parts: string[]): string {
  return parts.join('\u0000');
}

function objectKey({ involvedObject: object, type }: ApiEvent): string {
  return key(object.kind, object.namespace, object.name, object.uid, object.apiVersion, type);
}

/** All that must be the same for an event to count as one that came again. */
function sameKey(event: ApiEvent): string {
  return key(objectKey(event), event.involvedObject.fieldPath ?? '', event.reason, event.message);
}

/** Events that differ only in message (and field path): together they may become one. */
function similarKey(event: ApiEvent): string {
  return key(objectKey(event), event.reason);
}

/** Events of one type about one object: they share a rate limit. */
function spamKey(event: ApiEvent): string {
  return objectKey(event);
}

/** From so many different messages on, similar events become one. */
const MAX_MESSAGES = 10;
/** Quiet time in ms after which similar events count as new. */
const INTERVAL_MS = 600_000;

interface Similar {
  /** Different ones, {@link MAX_MESSAGES} at most. */
  messages: readonly string[];
  lastAt: number;
}

/** Says which events are so many alike that they are told as one (client-go: EventAggregator). */
class SimilarEvents {
  private readonly groups: Lru<Similar>;

  constructor(size: number) {
    this.groups = new Lru(size);
  }

  /** Notes an event of the group; true when it is to be combined with the others. */
  combine(group: string, message: string, at: number): boolean {
    let similar = this.groups.get(group);
    if (!similar || Math.abs(at - similar.lastAt) > INTERVAL_MS) similar = { messages: [], lastAt: at };
    const { messages } = similar;
    similar.lastAt = at;
    this.groups.set(group, similar);
    const known = messages.includes(message);
    const many = messages.length + (known ? 0 : 1) >= MAX_MESSAGES;
    // client-go forgets any one of them. Forgetting this one keeps those that have an event of their own.
    if (many) similar.messages = known ? messages.filter((other) => other !== message) : messages;
    else if (!known) similar.messages = messages.concat(message);
    return many;
  }
}

/** Events of one type that an object may have at once. */
const BURST = 25;
/** One more each five minutes. */
const PER_MS = 1 / 300_000;

interface Bucket {
  tokens: number;
  /** When `tokens` was right, in ms since the epoch. */
  at: number;
}

/**
 * Keeps an object that is always unwell from filling the API server with its events: a token bucket for each key
 * (client-go: EventSourceObjectSpamFilter).
 */
class SpamFilter {
  private readonly buckets: Lru<Bucket>;

  constructor(size: number) {
    this.buckets = new Lru(size);
  }

  /** Takes a token; false when there is none and the event must go. */
  admits(key: string, at: number): boolean {
    const bucket = this.buckets.get(key) ?? { tokens: BURST, at };
    // A clock that went back gives nothing and takes nothing.
    bucket.tokens = Math.min(BURST, bucket.tokens + Math.max(0, at - bucket.at) * PER_MS);
    bucket.at = at;
    const admitted = bucket.tokens >= 1;
    if (admitted) bucket.tokens -= 1;
    this.buckets.set(key, bucket);
    return admitted;
  }
}
