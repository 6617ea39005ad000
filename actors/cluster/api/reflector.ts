import { setTimeout as sleep } from 'node:timers/promises';
import { textOf } from '../../../machines/values/json-object.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ApiStatusError } from './api-client.ts';
import { eventError } from './answer-error.ts';
import { WatchBackOff } from './watch-back-off.ts';
import { NotJson } from './json-lines.ts';
import { withoutNulls } from './without-nulls.ts';
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
  /** Why an object cannot be used (`spec.volumes: must be a list`), or undefined. It is passed over; what is known of it stays. */
  refuse?: (object: T) => string | undefined;
  /** Changes or shrinks an object before it is kept (`metadata.managedFields` is dropped before). */
  transform?: (object: T) => T;
  /** After each list, when the cache holds it: all objects, those that did not change the same as before. */
  onSync?: (objects: T[]) => void;
  /** After each change, when the cache holds it. */
  onEvent?: (event: ReflectorEvent<T>) => void;
  /** For tests. */
  backOff?: WatchBackOff;
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
  private readonly backOff: WatchBackOff;
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
    this.backOff = options.backOff ?? new WatchBackOff(undefined, options.random);
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
      const key = this.usableKey(item);
      const old = before.get(key ?? keyOf(item));
      if (old !== undefined && (key === undefined || sameVersion(old, item))) this.objects.set(keyOf(old), old);
      else if (key !== undefined) this.keep(key, item);
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
          if (this.take(line as Partial<WatchLine<T>> | null)) {
            events++;
            this.backOff.reset();
          }
        }
      } catch (error) {
        if (error instanceof ApiStatusError) throw error;
        // What the line said is unknown, and the next watch might begin with it again: a list tells all of it.
        if (error instanceof NotJson) this.listing = 'newest';
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

  /** Handles one line; true when it was an event of an object. One that makes no sense is passed over: the next may be good. */
  private take(line: Partial<WatchLine<T>> | null): boolean {
    const { type, object } = line ?? {};
    if (type === 'ERROR') throw eventError(object);
    this.justListed = false;
    if (type === 'BOOKMARK') {
      this.version = versionOf(object) || this.version;
      return false;
    }
    if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return false;
    const key = this.usableKey(object, type === 'DELETED');
    if (key === undefined || object === undefined) return false;
    this.version = versionOf(object) || this.version;
    const old = this.objects.get(key);
    if (type === 'DELETED') {
      if (!this.objects.delete(key)) return true;
      const last = this.shrink(object) ?? old;
      if (last !== undefined) this.tell(() => this.options.onEvent?.({ type: 'DELETED', object: last }));
      return true;
    }
    if (old !== undefined && sameVersion(old, object)) return true;
    const kept = this.keep(key, object);
    if (kept === undefined) return false;
    this.tell(() => this.options.onEvent?.({ type: old === undefined ? 'ADDED' : 'MODIFIED', object: kept }));
    return true;
  }

  /** The key of an object that can be used. The API server sends no others, unless something between is broken. */
  private usableKey(object: T | undefined, gone = false): string | undefined {
    let problem = problemOf(object);
    try {
      // An object that is gone need only be known by its name.
      if (problem === undefined && object !== undefined && !gone) problem = this.options.refuse?.(object);
    } catch (error) {
      problem = String(error);
    }
    if (problem === undefined && object !== undefined) return keyOf(object);
    this.passOver(object, problem);
    return undefined;
  }

  private passOver(object: T | undefined, problem: string | undefined): void {
    const { log, on } = this.options;
    log.warn(
      { resource: on.resource, object: keyOf(object), problem },
      'The API server sent an object that cannot be used; it is passed over, and what was known of it stays',
    );
  }

  private keep(key: string, object: T): T | undefined {
    const kept = this.shrink(object);
    if (kept !== undefined) this.objects.set(key, kept);
    return kept;
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

  /** The object as it is kept; undefined when it cannot be made. */
  private shrink(object: T): T | undefined {
    const metadata = object.metadata as { managedFields?: unknown } | undefined;
    if (metadata !== undefined) delete metadata.managedFields;
    try {
      const plain = withoutNulls(object);
      return this.options.transform?.(plain) ?? plain;
    } catch (error) {
      this.passOver(object, String(error));
      return undefined;
    }
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

function keyOf(object: Reflected | undefined): string {
  const { namespace, name } = object?.metadata ?? {};
  return `${textOf(namespace)}/${textOf(name)}`;
}

function versionOf(object: Reflected | null | undefined): string {
  return textOf(object?.metadata?.resourceVersion);
}

/** What no object of the API lacks: without it nobody could tell which one it is. */
function problemOf(object: Reflected | null | undefined): string | undefined {
  const metadata: unknown = object?.metadata;
  if (typeof metadata !== 'object' || metadata === null) return 'metadata: must be an object';
  const { name, namespace, uid, resourceVersion } = metadata as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') return 'metadata.name: must be a string';
  for (const [field, value] of Object.entries({ namespace, uid, resourceVersion }))
    if (value !== undefined && typeof value !== 'string') return `metadata.${field}: must be a string`;
  return undefined;
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
  const message = messageOf(error);
  return new ApiStatusError(0, 'Unreachable', message, 0, { cause: error });
}
