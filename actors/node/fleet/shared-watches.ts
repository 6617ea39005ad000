import type { Logger } from 'pino';
import type { ApiClient, ApiRequest } from '../../cluster/api/api-client.ts';
import type { Reflected } from '../../cluster/api/reflector.ts';
import { LineQueue } from './line-queue.ts';
import { SharedCollection } from './shared-collection.ts';
import type { WatchLine } from './shared-collection.ts';

/** Where a list or watch of a node is answered from. */
export interface SharedPart {
  collection: SharedCollection;
  /** The part of it that the node asks for; '' is all. */
  part: string;
  /** As lists of the API server name what they hold. */
  resource: string;
}

/** How long the watch of an object that nobody reads any more is kept, ms. */
const IDLE_MS = 60_000;
/** Collections that all nodes read whole. */
const WHOLE: ReadonlySet<string> = new Set(['services', 'runtimeclasses']);
/** Objects that pods name, each watched by the nodes that have such a pod. */
const SINGLE: ReadonlySet<string> = new Set(['configmaps', 'secrets']);

/**
 * The watches that all nodes of the process share: one of all pods that are bound to a node, one of all nodes, one of services, one
 * of nodes' ResourceSlices where there are drivers, and one of each object that pods name, however many nodes show it. Kubelets watch each for themselves.
 */
export class SharedWatches {
  private readonly api: ApiClient;
  private readonly log: Logger;
  private readonly collections = new Map<string, SharedCollection>();
  private readonly sweeping: NodeJS.Timeout;
  private readonly idleSince = new Map<string, number>();
  /** The status that a node's agent told of a pod last: the API's one is the same most of the time. */
  private readonly toldBy: ((nodeName: string, uid: string) => unknown) | undefined;

  constructor(api: ApiClient, log: Logger, toldBy?: (nodeName: string, uid: string) => unknown) {
    this.api = api;
    this.toldBy = toldBy;
    this.log = log;
    this.sweeping = setInterval(() => this.sweep(), IDLE_MS / 2).unref();
  }

  /** Watches that are open to the API server. */
  get size(): number {
    return this.collections.size;
  }

  stop(): void {
    clearInterval(this.sweeping);
    for (const collection of this.collections.values()) collection.stop();
    this.collections.clear();
  }

  /** What of the shared answers this list or watch; null when it is to go to the API server. */
  find({ method, on, name, query }: ApiRequest): SharedPart | null {
    if (method !== 'GET' || name !== undefined || query?.['labelSelector'] !== undefined) return null;
    const { resource, namespace } = on;
    const [field = '', value = ''] = (query?.['fieldSelector'] ?? '').split('=');
    if (resource === 'pods' && field === 'spec.nodeName') return this.part(on, value, 'spec.nodeName!=', nodeOf);
    if (resource === 'nodes' && field === 'metadata.name') return this.part(on, value, undefined, nameOf);
    if (resource === 'resourceslices' && field === 'spec.nodeName')
      return this.part(on, value, 'spec.nodeName!=', nodeOf);
    if (WHOLE.has(resource) && field === '' && namespace === undefined) return this.part(on, '', undefined, () => '');
    if (SINGLE.has(resource) && field === 'metadata.name') return this.part(on, '', `metadata.name=${value}`, () => '');
    return null;
  }

  private part(
    on: ApiRequest['on'],
    part: string,
    fieldSelector: string | undefined,
    partOf: (object: Reflected) => string,
  ): SharedPart {
    const key = `${on.namespace ?? ''}/${on.resource}/${fieldSelector ?? ''}`;
    let collection = this.collections.get(key);
    if (collection === undefined) {
      const { api, log, toldBy } = this;
      collection = new SharedCollection({
        api,
        on,
        log,
        partOf,
        ...(on.resource === 'pods' &&
          toldBy !== undefined && {
            like: (object: Reflected) => ({ status: toldBy(partOf(object), object.metadata?.uid ?? '') }),
          }),
        ...(fieldSelector !== undefined && { fieldSelector }),
      });
      this.collections.set(key, collection);
      collection.start();
    }
    return { collection, part, resource: on.resource };
  }

  /** Ends watches of objects that no pod has named for a while. */
  private sweep(): void {
    const now = performance.now();
    for (const [key, collection] of this.collections) {
      if (!collection.idle) this.idleSince.delete(key);
      else if (!this.idleSince.has(key)) this.idleSince.set(key, now);
      else if (now - (this.idleSince.get(key) ?? now) >= IDLE_MS) {
        this.collections.delete(key);
        this.idleSince.delete(key);
        collection.stop();
      }
    }
  }
}

/** A watch of a part: what changes from now on; first all there is, and its end, for who asks for that (`sendInitialEvents`). */
export function watchPart({ collection, part, resource }: SharedPart, initial: boolean, signal?: AbortSignal) {
  const queue = new LineQueue<WatchLine>();
  const ignore = collection.listen(part, (line) => queue.put(line));
  const end = (): void => {
    ignore();
    queue.end();
  };
  signal?.addEventListener('abort', end, { once: true });
  if (initial) {
    for (const object of collection.list(part)) queue.put({ type: 'ADDED', object });
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    // No version: a watch that ends begins anew with all there is.
    queue.put({ type: 'BOOKMARK', object: { kind: resource, metadata: { annotations } as Reflected['metadata'] } });
  }
  const lines = queue.read(() => {
    ignore();
    signal?.removeEventListener('abort', end);
  });
  return { lines, end };
}

function nodeOf(object: Reflected): string {
  return (object as { spec?: { nodeName?: string } }).spec?.nodeName ?? '';
}

function nameOf({ metadata }: Reflected): string {
  return metadata?.name ?? '';
}
