import { setTimeout as delay } from 'node:timers/promises';
import { ApiStatusError } from '../api/api-client.ts';
import { WatchBackOff } from '../api/watch-back-off.ts';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';
import { isOlder } from '../api/resource-version.ts';
import { knownObject, nameOf, sameContent } from './object-content.ts';
import type { KnownObject } from './object-content.ts';
import { isStatus } from './object-errors.ts';
import { collectionOf, notSynced } from './object-source.ts';
import type { ObjectSource, ObjectSourceSettings } from './object-source.ts';
import { readWatchEvent } from './watch-event.ts';
import type { WatchEvent } from './watch-event.ts';

/** Waits between attempts in ms: after the Node authorizer's 403, and after anything else. */
const OTHER_WAIT = { firstMs: 200, maxMs: 10_000, share: 0.25 };
const WAITS = { forbidden: { firstMs: 50, maxMs: 2000, share: 0 }, unreachable: OTHER_WAIT, general: OTHER_WAIT };

/** An object that no volume shows and nobody asked for so long is no longer watched (kubelet: five resync periods). */
const IDLE_MS = 5 * 60_000;

/**
 * Keeps one object by one watch that begins with its state (`sendInitialEvents`), one call for each object. It asks for
 * any state (`resourceVersion=0`): the newest one costs some 75 ms, as the server then waits for etcd's progress.
 * So that an object made a moment ago is not called absent, absence is checked with a GET.
 */
export class WatchedObject implements ObjectSource {
  private readonly settings: ObjectSourceSettings;
  private known: KnownObject | null = null;
  private synced = false;
  private immutable = false;
  private stopper: AbortController | null = null;
  private readonly waiting = new Set<() => void>();
  private lastError: unknown = null;
  private lastGet: number;
  /** Where a watch goes on after it ended; '' = anew. */
  private resumeFrom = '';
  /** The server's gate `WatchList` is off: the state comes from a list. */
  private listsFirst = false;

  constructor(settings: ObjectSourceSettings) {
    this.settings = settings;
    this.lastGet = settings.steady();
    this.start();
  }

  get healthy(): boolean {
    return this.synced && this.lastError === null;
  }

  async get(): Promise<ObjectContent | null> {
    this.lastGet = this.settings.steady();
    this.start();
    if (!this.synced) await this.firstAnswer();
    return this.known?.content ?? null;
  }

  referenced(): void {
    this.lastGet = this.settings.steady();
    this.start();
  }

  stop(): void {
    this.stopper?.abort();
    this.stopper = null;
  }

  tick(shown: boolean): void {
    if (shown || !this.synced || this.stopper === null) return;
    if (this.settings.steady() - this.lastGet < IDLE_MS) return;
    this.settings.log.debug({ ...this.settings.ref }, 'Not acquired for long time, Stopped watching for changes');
    this.stop();
    this.synced = false;
    this.known = null;
    this.resumeFrom = '';
  }

  private start(): void {
    if (this.stopper !== null || this.immutable) return;
    this.stopper = new AbortController();
    void this.run(this.stopper.signal);
  }

  private async firstAnswer(): Promise<void> {
    const { getTimeoutMs, ref } = this.settings;
    await new Promise<void>((resolve, reject) => {
      const told = () => {
        clearTimeout(timer);
        this.waiting.delete(told);
        resolve();
      };
      const timer = setTimeout(() => {
        this.waiting.delete(told);
        reject(notSynced(ref.kind, this.lastError));
      }, getTimeoutMs);
      this.waiting.add(told);
    });
  }

  /** One watch after the other until stopped. Never rejects. */
  private async run(signal: AbortSignal): Promise<void> {
    // Jitter keeps a returning server from being asked for all objects at once; the authorizer's lag needs none.
    const backOff = new WatchBackOff(WAITS);
    while (!signal.aborted) {
      let refusal: ApiStatusError | undefined;
      let atLeast = 0;
      try {
        if (await this.watch(signal)) backOff.reset();
        // A server that ends each watch at once must not be asked in a loop.
        atLeast = OTHER_WAIT.firstMs;
      } catch (error) {
        if (signal.aborted) return;
        if (isStatus(error, 410)) this.resumeFrom = '';
        else if (isStatus(error, 422) && !this.listsFirst) this.listsFirst = true;
        else this.failed(error);
        if (error instanceof ApiStatusError) refusal = error;
      }
      await delay(Math.max(backOff.next(refusal), atLeast), undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** One watch to its end; true when it told anything. */
  private async watch(signal: AbortSignal): Promise<boolean> {
    const { api, ref } = this.settings;
    if (this.resumeFrom === '' && this.listsFirst) await this.list(signal);
    const initial = this.resumeFrom === '';
    const stream = await api.stream({
      method: 'GET',
      on: collectionOf(ref),
      query: {
        watch: 'true',
        fieldSelector: `metadata.name=${ref.name}`,
        allowWatchBookmarks: 'true',
        // As kubelet: longer than the usual 5 to 10 min, since there are many of them.
        timeoutSeconds: String(1800 + Math.floor(Math.random() * 1800)),
        ...(initial
          ? { resourceVersion: '0', resourceVersionMatch: 'NotOlderThan', sendInitialEvents: 'true' }
          : { resourceVersion: this.resumeFrom }),
      },
      signal,
    });
    let told = false;
    let complete = !initial;
    let present = false;
    for await (const line of stream) {
      if (signal.aborted) return told;
      const event = readWatchEvent(line);
      if (event === null) continue;
      told = true;
      if (event.type === 'BOOKMARK') {
        if (event.initialEnd && !complete) {
          if (!present) await this.checkAbsence(signal);
          complete = true;
        }
        this.lastError = null;
      } else if (nameOf(event.object) === ref.name) {
        present = true;
        this.takeEvent(event);
      }
      // Before the initial events are complete their versions are those of the objects, perhaps too old to go on from.
      if (complete && event.resourceVersion !== '') this.resumeFrom = event.resourceVersion;
    }
    return told;
  }

  /** One that makes no sense is passed over: what was known stays, and the next one may be good. */
  private takeEvent({ type, object }: WatchEvent): void {
    let next: KnownObject | null = null;
    try {
      if (type !== 'DELETED') next = knownObject(this.settings.ref.kind, object);
    } catch (error) {
      this.failed(error);
      return;
    }
    this.take(next);
  }

  private async list(signal: AbortSignal): Promise<void> {
    const { api, ref } = this.settings;
    const query = { fieldSelector: `metadata.name=${ref.name}`, resourceVersion: '0' };
    const list = await api.request<{ metadata?: { resourceVersion?: string }; items?: unknown[] }>({
      method: 'GET',
      on: collectionOf(ref),
      query,
      signal,
    });
    if (signal.aborted) return;
    const found = (list.items ?? []).find((item) => nameOf(item) === ref.name);
    if (found === undefined) await this.checkAbsence(signal);
    else this.take(knownObject(ref.kind, found));
    this.resumeFrom = list.metadata?.resourceVersion ?? '';
  }

  /** The server's cache has no such object: perhaps it is behind. */
  private async checkAbsence(signal: AbortSignal): Promise<void> {
    const { api, ref } = this.settings;
    try {
      const found = await api.request({ method: 'GET', on: collectionOf(ref), name: ref.name, signal });
      if (!signal.aborted) this.take(knownObject(ref.kind, found));
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      if (!signal.aborted) this.take(null);
    }
  }

  private take(next: KnownObject | null): void {
    this.lastError = null;
    const before = this.known;
    const first = !this.synced;
    if (!first && next !== null && before !== null && next.uid === before.uid) {
      if (isOlder(next.resourceVersion, before.resourceVersion)) return;
    }
    this.known = next;
    this.synced = true;
    if (next?.immutable === true) {
      this.immutable = true;
      this.settings.log.debug({ ...this.settings.ref }, 'Stopped watching for changes - object is immutable');
      this.stop();
    }
    for (const tell of [...this.waiting]) tell();
    if (!first && !sameContent(before?.content ?? null, next?.content ?? null)) this.settings.onChange();
  }

  private failed(error: unknown): void {
    if (this.lastError === null)
      this.settings.log.debug({ ...this.settings.ref, err: error }, 'Cannot watch the object; it is tried again');
    this.lastError = error;
  }
}
