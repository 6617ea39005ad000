import { setTimeout as delay } from 'node:timers/promises';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';
import { isOlder } from '../api/resource-version.ts';
import { knownObject, sameContent } from './object-content.ts';
import type { KnownObject } from './object-content.ts';
import { isStatus, whileForbidden } from './object-errors.ts';
import { collectionOf } from './object-source.ts';
import type { ObjectSource, ObjectSourceSettings } from './object-source.ts';

/** Since when an answer is good that is to be asked for anew. */
const NEVER = -Infinity;

/** How long an answer is good. */
export interface PollSettings extends ObjectSourceSettings {
  /** Strategy `Cache`: ms from annotation `node.alpha.kubernetes.io/ttl`, or one minute. Strategy `Get`: 0. */
  ttlMs: () => number;
}

/**
 * Keeps one object by GETs, for the strategies `Cache` and `Get`. What volumes show is asked for again with each tick
 * (kubelet does so when it sets volumes up again, about once a minute). While the server is away, the last known
 * content is served.
 */
export class PolledObject implements ObjectSource {
  private readonly settings: PollSettings;
  /** Undefined: not known yet; null: there is none. */
  private known: KnownObject | null | undefined;
  /** Ms of the steady clock when `known` was true; NEVER = to be asked anew. */
  private since = NEVER;
  private asking: Promise<void> | null = null;
  private failing = false;
  private stopped = false;

  constructor(settings: PollSettings) {
    this.settings = settings;
  }

  get healthy(): boolean {
    return this.known !== undefined && !this.failing;
  }

  async get(): Promise<ObjectContent | null> {
    if (this.known === undefined || !this.isFresh()) {
      try {
        await this.ask(true);
      } catch (error) {
        // An absent object may be there by now: that is no content to go on with.
        if (this.known == null) throw error;
      }
    }
    return this.known?.content ?? null;
  }

  /** A new pod must see what is there now. */
  referenced(): void {
    this.since = NEVER;
  }

  stop(): void {
    this.stopped = true;
  }

  tick(shown: boolean): void {
    if (!shown || this.known === undefined || this.isFresh()) return;
    this.ask(false).catch(() => undefined);
  }

  private isFresh(): boolean {
    if (this.known == null) return false;
    return this.settings.steady() - this.since < this.settings.ttlMs();
  }

  private ask(mayBeForbidden: boolean): Promise<void> {
    this.asking ??= this.fetch(mayBeForbidden).finally(() => (this.asking = null));
    return this.asking;
  }

  private async fetch(mayBeForbidden: boolean): Promise<void> {
    const { api, ref, steady, onChange, getTimeoutMs } = this.settings;
    const began = steady();
    const get = () =>
      api.request({
        method: 'GET',
        on: collectionOf(ref),
        name: ref.name,
        timeoutMs: getTimeoutMs,
        // A look that only refreshes is served from the server's cache.
        ...(this.known != null && this.since > NEVER && { query: { resourceVersion: '0' } }),
      });
    let next: KnownObject | null;
    try {
      const found = await (mayBeForbidden ? whileForbidden(get, (ms) => delay(ms, undefined, { ref: false })) : get());
      next = knownObject(ref.kind, found);
    } catch (error) {
      this.failing = !isStatus(error, 404);
      if (this.failing) throw error;
      next = null;
    }
    this.failing = false;
    const before = this.known;
    const older = next !== null && before != null && next.uid === before.uid;
    if (older && isOlder(next?.resourceVersion ?? '', before.resourceVersion)) return;
    this.known = next;
    this.since = began;
    const changed = before !== undefined && !sameContent(before?.content ?? null, next?.content ?? null);
    if (changed && !this.stopped) onChange();
  }
}
