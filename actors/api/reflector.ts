import { setTimeout as sleep } from 'node:timers/promises';
import { ApiStatusError } from './api-client.ts';
import { eventError } from './answer-error.ts';
import { BackOff } from './back-off.ts';
import { isExpired, isTooNew, listFromCache, listNewest } from './list-pages.ts';
import type { Logger } from 'pino';
import type { ApiClient, ApiRequest, ApiResource } from './api-client.ts';
import type { Listed } from './list-pages.ts';

/** What a reflector keeps: any object of the API as plain JSON. */
export interface Reflected {
  metadata?: { name?: string; namespace?: string; uid?: string; resourceVersion?: string };
}

/** A change after the list, in the order the server told it. A change that is not new is not told. */
export interface ReflectorEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** As it is now; for DELETED as it last was. */
  object: T;
}

/** What {@link Reflector} needs. */
export interface ReflectorOptions<T extends Reflected> {
  api: ApiClient;
  on: ApiResource;
  fieldSelector?: string;
  labelSelector?: string;
  log: Logger;
  /** Changes or shrinks an object before it is kept (`metadata.managedFields` is dropped before). */
  transform?: (object: T) => T;
  /** After each list, when the cache holds it: all objects, those that did not change the same as before. */
  onSync?: (objects: T[]) => void;
  /** After each change, when the cache holds it. */
  onEvent?: (event: ReflectorEvent<T>) => void;
  /** For tests. */
  backOff?: BackOff;
  random?: () => number;
}

/** A watch that ends sooner than this, with no event, has failed (client-go's "very short watch"). */
const shortWatchMs = 1000;

/**
 * Keeps a copy of a collection of the API by list and watch (client-go's Reflector, KEP-956 bookmarks). While the
 * server is away the copy stays as it is: a failure never removes an object.
 */
export class Reflector<T extends Reflected> {
  /** True after the first list. */
  synced = false;
  /** What failed last, undefined while all is well. */
  lastError: ApiStatusError | undefined;
  private readonly options: ReflectorOptions<T>;
  private readonly backOff: BackOff;
  private readonly controller = new AbortController();
  private readonly firstSync = Promise.withResolvers<undefined>();
  private objects = new Map<string, T>();
  private version = '';
  /** Nothing has come from a watch since the last list. */
  private justListed = false;
  private listing: 'cached' | 'newest' | 'none' = 'cached';
  private running: Promise<void> | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.options = options;
    this.backOff = options.backOff ?? new BackOff(undefined, options.random);
  }

  /** Begins to list and watch, until `stop`. */
  start(): void {
    this.running ??= this.run();
  }

  /** Ends the watch; nothing is told any more. The cache stays readable. */
  stop(): void {
    this.controller.abort();
  }

  /** Whether the first list is there after so many ms at most. */
  async syncedWithin(ms: number): Promise<boolean> {
    if (this.synced) return true;
    const timer = new AbortController();
    const late = sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([this.firstSync.promise, late]);
    timer.abort();
    return this.synced;
  }

  /** Resolves after the first list; stays open when the reflector is stopped before that. */
  whenSynced(): Promise<void> {
    return this.firstSync.promise;
  }

  /** The object as it was last seen; namespace '' for cluster-wide ones. */
  get(namespace: string, name: string): T | undefined {
    return this.objects.get(`${namespace}/${name}`);
  }

  /** All objects, in a new array. */
  list(): T[] {
    return [...this.objects.values()];
  }

  private get stopped(): boolean {
    return this.controller.signal.aborted;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const failed = await this.round();
      if (this.stopped) return;
      if (failed === 'well') continue;
      const waitMs = this.backOff.next(failed === 'short' ? undefined : failed);
      if (failed !== 'short') this.lastError = failed;
      this.complain(failed, waitMs);
      await sleep(waitMs, undefined, { signal: this.controller.signal }).catch(() => undefined);
    }
  }

  /** Lists if needed, then watches until the watch ends. Says what failed. */
  private async round(): Promise<ApiStatusError | 'short' | 'well'> {
    try {
      if (this.listing !== 'none') await this.relist(this.listing);
      return await this.watch();
    } catch (error) {
      const failure = asStatusError(error);
      if (isExpired(failure) || isTooNew(failure)) {
        const aged = this.listing === 'none' && !this.justListed;
        this.listing = 'newest';
        // A version that went out of date is no trouble: list at once. When a list is out of date at once, wait.
        if (aged) return 'well';
      }
      return failure;
    }
  }

  private async relist(how: 'cached' | 'newest'): Promise<void> {
    const { api } = this.options;
    const request = this.request({});
    const listed = await (how === 'cached' ? listFromCache<T>(api, request) : listNewest<T>(api, request));
    if (this.stopped) return;
    this.replace(listed);
    this.listing = 'none';
    this.justListed = true;
    this.synced = true;
    this.lastError = undefined;
    this.tell(() => this.options.onSync?.(this.list()));
    this.firstSync.resolve(undefined);
  }

  private replace({ items, resourceVersion }: Listed<T>): void {
    const before = this.objects;
    this.objects = new Map();
    for (const item of items) {
      const key = keyOf(item);
      const old = before.get(key);
      this.objects.set(key, old !== undefined && sameVersion(old, item) ? old : this.shrink(item));
    }
    this.version = resourceVersion;
  }

  private async watch(): Promise<ApiStatusError | 'short' | 'well'> {
    if (this.stopped) return 'well';
    const seconds = 300 + Math.floor((this.options.random ?? Math.random)() * 300);
    const query = { watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: String(seconds) };
    // The server ends the watch after `seconds`; one that does not has been forgotten by it.
    const guard = new AbortController();
    const timer = setTimeout(() => guard.abort(), (seconds + 30) * 1000);
    const forward = (): void => guard.abort();
    const { signal } = this.controller;
    signal.addEventListener('abort', forward, { once: true });
    const started = performance.now();
    let events = 0;
    try {
      const lines = await this.options.api.stream(
        this.request({ ...query, resourceVersion: this.version }, guard.signal),
      );
      this.lastError = undefined;
      try {
        for await (const line of lines) {
          if (this.stopped) return 'well';
          if (this.take(line as WatchLine<T>)) {
            events++;
            this.backOff.reset();
          }
        }
      } catch (error) {
        if (error instanceof ApiStatusError) throw error;
        this.options.log.debug({ resource: this.options.on.resource, err: asStatusError(error) }, 'Watch was cut');
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', forward);
    }
    const longLived = performance.now() - started >= shortWatchMs;
    if (!longLived && events === 0) return 'short';
    this.justListed = false;
    this.backOff.reset();
    return 'well';
  }

  /** Handles one line; true when it was an event of an object. */
  private take({ type, object }: WatchLine<T>): boolean {
    if (type === 'ERROR') throw eventError(object);
    const version = object.metadata?.resourceVersion;
    this.justListed = false;
    if (type === 'BOOKMARK') {
      this.version = version ?? this.version;
      return false;
    }
    const key = keyOf(object);
    const old = this.objects.get(key);
    if (type === 'DELETED') {
      this.version = version ?? this.version;
      if (!this.objects.delete(key)) return true;
      const last = this.shrink(object);
      this.tell(() => this.options.onEvent?.({ type: 'DELETED', object: last }));
      return true;
    }
    if (type !== 'ADDED' && type !== 'MODIFIED') return false;
    this.version = version ?? this.version;
    if (old !== undefined && sameVersion(old, object)) return true;
    const kept = this.shrink(object);
    this.objects.set(key, kept);
    this.tell(() => this.options.onEvent?.({ type: old === undefined ? 'ADDED' : 'MODIFIED', object: kept }));
    return true;
  }

  private request(query: Record<string, string>, signal: AbortSignal = this.controller.signal): ApiRequest {
    const { on, fieldSelector, labelSelector } = this.options;
    return {
      method: 'GET',
      on,
      query: { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }), ...query },
      signal,
    };
  }

  private shrink(object: T): T {
    const metadata = object.metadata as { managedFields?: unknown } | undefined;
    if (metadata !== undefined) delete metadata.managedFields;
    return this.options.transform?.(object) ?? object;
  }

  /** A listener that throws must not end the watch. */
  private tell(listener: () => void): void {
    try {
      listener();
    } catch (err) {
      this.options.log.error({ resource: this.options.on.resource, err }, 'A listener of the watch failed');
    }
  }

  private complain(failed: ApiStatusError | 'short', waitMs: number): void {
    const { log, on, fieldSelector } = this.options;
    const what = failed === 'short' ? 'the watch ended at once' : failed.message;
    const fields = { resource: on.resource, namespace: on.namespace, fieldSelector, waitMs: Math.round(waitMs) };
    log.warn({ ...fields, error: what }, this.listing === 'none' ? 'Failed to watch' : 'Failed to list');
  }
}

interface WatchLine<T> {
  type: string;
  object: T;
}

function keyOf(object: Reflected): string {
  return `${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''}`;
}

function sameVersion(a: Reflected, b: Reflected): boolean {
  return (
    a.metadata?.resourceVersion === b.metadata?.resourceVersion &&
    a.metadata?.uid === b.metadata?.uid &&
    a.metadata?.resourceVersion !== undefined
  );
}

function asStatusError(error: unknown): ApiStatusError {
  if (error instanceof ApiStatusError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiStatusError(0, 'Unreachable', message, 0, { cause: error });
}
