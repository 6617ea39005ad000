import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { EventCorrelator } from '../../../machines/events/event-correlator.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import type { Correlated } from '../../../machines/events/event-correlator.ts';
import { ApiStatusError, isNotFound } from '../api/api-client.ts';
import type { ApiClient, ApiResource } from '../api/api-client.ts';
import type { EventSink } from './event-sink.ts';

/** Events that may wait; more are dropped (client-go: maxQueuedEvents). */
const MAX_QUEUED = 1_000;
/** Tries for one event (client-go: maxTriesPerEvent). */
const MAX_TRIES = 12;
/** Time between tries in ms (client-go: defaultSleepDuration). */
const RETRY_MS = 10_000;

/** What {@link ApiEvents} needs. */
export interface ApiEventsOptions {
  api: ApiClient;
  nodeName: string;
  /** `eventRecordQPS`: requests a second, 0 = no limit. */
  qps: number;
  /** `eventBurst`: requests at once. */
  burst: number;
  log: Logger;
  /** Ms since the epoch. */
  now: () => number;
  /** For tests: ms between tries, 10000. */
  retryMs?: number;
  /** For tests: 0 up to 1, spreads the first retry so that not all nodes come back at once. */
  random?: () => number;
}

/** What became of the events since the start. */
export interface EventCounts {
  created: number;
  patched: number;
  /** Held back because their object had too many. */
  filtered: number;
  /** The queue was full. */
  dropped: number;
  /** The API server refused them. */
  rejected: number;
  /** Given up after all tries. */
  failed: number;
}

/**
 * Sends events to the API server, one after the other and never in anybody's way (client-go: EventBroadcaster). While
 * the server cannot be reached they wait, up to a thousand; each is tried twelve times.
 */
export class ApiEvents implements EventSink {
  readonly counts: EventCounts = { created: 0, patched: 0, filtered: 0, dropped: 0, rejected: 0, failed: 0 };
  private readonly api: ApiClient;
  private readonly log: Logger;
  private readonly now: () => number;
  private readonly retryMs: number;
  private readonly random: () => number;
  private readonly correlator: EventCorrelator;
  private readonly stopping = new AbortController();
  private queue: RecordedEvent[] = [];
  private sending = false;
  /** Dropped since the log last said so. */
  private untold = 0;

  constructor(options: ApiEventsOptions) {
    this.api = options.api.limited(options.qps, options.burst);
    this.log = options.log;
    this.now = options.now;
    this.retryMs = options.retryMs ?? RETRY_MS;
    this.random = options.random ?? Math.random;
    this.correlator = new EventCorrelator(options.nodeName);
  }

  record(event: RecordedEvent): void {
    if (this.stopping.signal.aborted) return;
    if (this.queue.length >= MAX_QUEUED) {
      this.counts.dropped++;
      // One line when it begins and one with the number when it is over: a line each would only fill the disk.
      if (this.untold++ === 0) {
        this.log.error({ event: brief(event) }, 'Unable to record event: too many queued events, dropped event');
      }
      return;
    }
    this.queue.push(event);
    if (!this.sending) void this.sendAll();
  }

  /** Gives up what waits and what is on its way. */
  stop(): void {
    this.stopping.abort();
    this.queue = [];
  }

  private async sendAll(): Promise<void> {
    this.sending = true;
    for (let event = this.queue.shift(); event; event = this.queue.shift()) {
      if (this.untold > 0) {
        this.log.error({ dropped: this.untold }, 'Events were dropped while too many were queued');
        this.untold = 0;
      }
      try {
        const correlated = this.correlator.correlate(event, this.now());
        if (correlated.send === 'nothing') this.counts.filtered++;
        else await this.deliver(correlated);
      } catch (err) {
        // One that makes no sense must not end all events of the node.
        this.counts.failed++;
        this.log.error({ err, reason: event.reason }, 'Unable to record event');
      }
    }
    this.sending = false;
  }

  private async deliver(correlated: Exclude<Correlated, { send: 'nothing' }>): Promise<void> {
    for (let tries = 1; !this.stopping.signal.aborted; tries++) {
      const error = await this.attempt(correlated);
      if (!error || this.stopping.signal.aborted) return;
      const about = { event: brief(correlated.event), err: error };
      const wait = this.waitFor(error, tries);
      if (wait === null) {
        this.counts.rejected++;
        // Both happen in good order: the object's namespace goes away, or an earlier try got through unanswered.
        if (expected(error)) this.log.debug(about, 'Server rejected event (will not retry!)');
        else this.log.error(about, 'Server rejected event (will not retry!)');
        return;
      }
      if (tries >= MAX_TRIES) {
        this.counts.failed++;
        this.log.error(about, 'Unable to write event (retry limit exceeded!)');
        return;
      }
      this.log.error(about, 'Unable to write event (may retry after sleeping)');
      await sleep(wait, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
  }

  /** Sends once; gives the error when it did not work. */
  private async attempt(correlated: Exclude<Correlated, { send: 'nothing' }>): Promise<unknown> {
    const { event } = correlated;
    const on: ApiResource = { group: '', version: 'v1', resource: 'events', namespace: event.metadata.namespace };
    const { signal } = this.stopping;
    try {
      if (correlated.send === 'patch') {
        try {
          await this.api.request({ method: 'PATCH', on, name: event.metadata.name, body: correlated.patch, signal });
          this.counts.patched++;
          return null;
        } catch (error) {
          // Events live an hour on the API server: what has expired there is made again with its count.
          if (!isNotFound(error)) throw error;
        }
      }
      await this.api.request({ method: 'POST', on, body: event, signal });
      this.counts.created++;
      return null;
    } catch (error) {
      return error;
    }
  }

  /**
   * Ms until the next try; null when the server has answered: what it refuses it would refuse again, and where it asked
   * to wait (Retry-After) the client has done so already.
   */
  private waitFor(error: unknown, tries: number): number | null {
    if (error instanceof ApiStatusError && error.status !== 0) return null;
    return tries === 1 ? this.retryMs * this.random() : this.retryMs;
  }
}

/** What the log says of an event. */
function brief(event: RecordedEvent | Exclude<Correlated, { send: 'nothing' }>['event']): object {
  const object = 'object' in event ? event.object : event.involvedObject;
  return { kind: object.kind, object: `${object.namespace}/${object.name}`, reason: event.reason, type: event.type };
}

function expected(error: unknown): boolean {
  if (!(error instanceof ApiStatusError)) return false;
  return error.reason === 'AlreadyExists' || error.message.includes('because it is being terminated');
}
