import type { ApiClient, ApiRequest } from '../../actors/cluster/api/api-client.ts';
import { LineQueue } from '../../actors/node/fleet/line-queue.ts';
import { strategicMergePatch } from '../simulated/api/support/patches.ts';

/** An object as the stand-in keeps it. */
export type Stored = {
  metadata: Record<string, unknown>;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
};

/** A stand-in for an API server in the same process: it keeps what it is sent, tells who watches, and knows no rules. */
export class StandInApi implements ApiClient {
  requests = 0;
  /** Hears each object as it is stored; null: it was removed. */
  onChange: ((resource: string, name: string, object: Stored | null) => void) | undefined;
  private version = 1;
  /** As bytes, outside the heap: what a real server keeps is not this process's. */
  private readonly objects = new Map<string, Buffer>();
  private readonly watches = new Map<string, Set<LineQueue<unknown>>>();

  /** Stores an object, with a UID and a version. */
  put(resource: string, object: Stored): Stored {
    const key = keyOf(resource, object.metadata['namespace'], object.metadata['name']);
    const type = this.objects.has(key) ? 'MODIFIED' : 'ADDED';
    const uid = object.metadata['uid'] ?? crypto.randomUUID();
    const stored = { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(++this.version) } };
    const text = JSON.stringify(stored);
    // Events are told, and nobody asks for them.
    if (resource !== 'events') this.objects.set(key, Buffer.from(text));
    this.tell(resource, type, text);
    this.onChange?.(resource, String(object.metadata['name']), stored);
    return JSON.parse(text) as Stored;
  }

  /** The object; undefined when there is none. */
  get(resource: string, name: string, namespace: unknown = ''): Stored | undefined {
    const bytes = this.objects.get(keyOf(resource, namespace, name));
    return bytes && (JSON.parse(bytes.toString()) as Stored);
  }

  /** All objects of a resource. */
  all(resource: string): Stored[] {
    return [...this.objects].flatMap(([key, bytes]) =>
      key.startsWith(`${resource}/`) ? [JSON.parse(bytes.toString()) as Stored] : [],
    );
  }

  remove(resource: string, name: string, namespace: unknown = ''): void {
    const found = this.get(resource, name, namespace);
    if (found === undefined) return;
    this.objects.delete(keyOf(resource, namespace, name));
    const metadata = { ...found.metadata, resourceVersion: String(++this.version) };
    this.tell(resource, 'DELETED', JSON.stringify({ ...found, metadata }));
    this.onChange?.(resource, name, null);
  }

  /** A pod is deleted, with its grace period or another: its node ends it and removes the object. */
  end(name: string, namespace: string, seconds?: number): void {
    const found = this.get('pods', name, namespace);
    if (found === undefined) return;
    const grace = seconds ?? found.spec?.['terminationGracePeriodSeconds'] ?? 30;
    const deletionTimestamp = new Date(Date.now() + Number(grace) * 1000).toISOString();
    this.put('pods', {
      ...found,
      metadata: { ...found.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace },
    });
  }

  request<T>(request: ApiRequest): Promise<T> {
    this.requests++;
    return Promise.resolve(this.answer(request) as T);
  }

  stream({ on, signal }: ApiRequest): Promise<AsyncIterable<unknown>> {
    const queue = new LineQueue<unknown>();
    const queues = this.watches.get(on.resource) ?? new Set();
    this.watches.set(on.resource, queues.add(queue));
    signal?.addEventListener('abort', () => queue.end(), { once: true });
    return Promise.resolve(queue.read(() => queues.delete(queue)));
  }

  limited(): ApiClient {
    return this;
  }

  close(): void {
    // Nothing is open.
  }

  private tell(resource: string, type: string, text: string): void {
    // As it would come over the wire.
    for (const queue of this.watches.get(resource) ?? []) queue.put({ type, object: JSON.parse(text) as Stored });
  }

  /** Removes those of a resource of which these fields are so: `spec.a=b,spec.c=d`. */
  private removeAll(resource: string, fieldSelector: string): void {
    const fields = fieldSelector.split(',').map((field) => field.split('='));
    for (const { metadata, spec } of this.all(resource))
      if (fields.every(([path = '', value]) => spec?.[path.replace(/^spec\./, '')] === value))
        this.remove(resource, String(metadata['name']), metadata['namespace']);
  }

  private answer({ method, on, name, body, query }: ApiRequest): unknown {
    const { resource, namespace = '' } = on;
    if (method === 'GET' && name === undefined)
      return { metadata: { resourceVersion: String(this.version) }, items: [] };
    if (method === 'DELETE' && name === undefined && query?.['fieldSelector'] !== undefined)
      return this.removeAll(resource, query['fieldSelector']) ?? {};
    if (method === 'DELETE') return this.remove(resource, name ?? '', namespace) ?? {};
    const sent = JSON.parse(JSON.stringify(body ?? {})) as Stored;
    if (method === 'POST') return this.put(resource, sent);
    const known = this.get(resource, name ?? '', namespace);
    if (method === 'GET') return known;
    // A patch names what changes of a list alone: who replaced the list by it would be told the rest for ever.
    const after = method === 'PATCH' ? (strategicMergePatch(known, sent) as Stored) : sent;
    return this.put(resource, { ...after, metadata: { ...known?.metadata, ...after.metadata } });
  }
}

function keyOf(resource: string, namespace: unknown, name: unknown): string {
  return `${resource}/${String(namespace ?? '')}/${String(name)}`;
}
