import { ApiStatusError } from '../../cluster/api/api-client.ts';
import type { ApiClient, ApiRequest } from '../../cluster/api/api-client.ts';
import { watchPart } from './shared-watches.ts';
import type { SharedPart, SharedWatches } from './shared-watches.ts';

/** The version that shared lists have: a watch from it begins where the list ended. */
const LISTED = '1';

/**
 * One node's way to the API server: lists and watches are answered from those that all nodes share, all else goes on. The way can
 * be cut, for one node alone.
 */
export class NodeApi implements ApiClient {
  private readonly api: ApiClient;
  private readonly shared: SharedWatches;
  private readonly link: Link;

  constructor(api: ApiClient, shared: SharedWatches, link = new Link()) {
    this.api = api;
    this.shared = shared;
    this.link = link;
  }

  /** Nothing reaches the server any more, and nothing comes from it, until {@link mend}. */
  cut(): void {
    this.link.cut();
  }

  mend(): void {
    this.link.isCut = false;
  }

  async request<T>(request: ApiRequest): Promise<T> {
    this.mustReach();
    const part = this.shared.find(request);
    if (part === null) return this.link.ask(request, (asked) => this.api.request<T>(asked));
    await synced(part, request.signal);
    this.mustReach();
    // From now on the part's changes are kept for the watch that follows.
    this.link.begin(part);
    const { collection, resource } = part;
    return { kind: `${resource}List`, metadata: { resourceVersion: LISTED }, items: collection.list(part.part) } as T;
  }

  async stream(request: ApiRequest): Promise<AsyncIterable<unknown>> {
    this.mustReach();
    const part = this.shared.find(request);
    if (part === null) return this.api.stream(request);
    const { resourceVersion = '', sendInitialEvents } = request.query ?? {};
    const initial = sendInitialEvents === 'true';
    if (!initial && (resourceVersion !== LISTED || !this.link.isListed(part)))
      throw new ApiStatusError(410, 'Expired', 'too old resource version: the shared watch goes on from lists alone');
    await synced(part, request.signal);
    this.mustReach();
    return this.link.watch(part, initial, request.signal);
  }

  limited(qps: number, burst: number): ApiClient {
    return new NodeApi(this.api.limited(qps, burst), this.shared, this.link);
  }

  isCrowded(): boolean {
    return this.api.isCrowded?.() === true;
  }

  close(): void {
    this.link.cut();
  }

  private mustReach(): void {
    if (this.link.isCut) throw unreachable();
  }
}

/** The state of a node's way, which all its clients share. */
class Link {
  isCut = false;
  private readonly ends = new Set<() => void>();
  private readonly underWay = new Set<AbortController>();
  /** Watches that began with a list, until somebody reads them. */
  private readonly begun = new Map<string, ReturnType<typeof watchPart>>();

  cut(): void {
    this.isCut = true;
    for (const request of [...this.underWay]) request.abort(unreachable());
    for (const end of [...this.ends]) end();
    for (const { end } of this.begun.values()) end();
    this.begun.clear();
  }

  /** What is under way when the way is cut is never answered, and what still waits for its turn never goes out. */
  async ask<T>(request: ApiRequest, ask: (request: ApiRequest) => Promise<T>): Promise<T> {
    const given = request.signal;
    // Not AbortSignal.any: with signals that live as long as the agent it costs twelve times as much (12 us), for each request.
    const own = new AbortController();
    const abort = (): void => own.abort(given?.reason);
    given?.addEventListener('abort', abort, { once: true });
    if (given?.aborted === true) abort();
    this.underWay.add(own);
    try {
      const answer = await ask({ ...request, signal: own.signal });
      if (own.signal.reason instanceof ApiStatusError) throw own.signal.reason;
      return answer;
    } catch (error) {
      throw own.signal.reason instanceof ApiStatusError ? own.signal.reason : error;
    } finally {
      this.underWay.delete(own);
      given?.removeEventListener('abort', abort);
    }
  }

  begin(part: SharedPart): void {
    const before = this.begun.get(keyOf(part));
    before?.end();
    this.begun.set(keyOf(part), watchPart(part, false));
  }

  isListed(part: SharedPart): boolean {
    return this.begun.has(keyOf(part));
  }

  watch(part: SharedPart, initial: boolean, signal?: AbortSignal): AsyncIterable<unknown> {
    const key = keyOf(part);
    const begun = initial ? undefined : this.begun.get(key);
    this.begun.delete(key);
    const watch = begun ?? watchPart(part, initial);
    const { lines, end } = watch;
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
    this.ends.add(end);
    const { ends } = this;
    return (async function* read() {
      try {
        yield* lines;
      } finally {
        ends.delete(end);
        signal?.removeEventListener('abort', end);
      }
    })();
  }
}

async function synced({ collection }: SharedPart, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) throw new ApiStatusError(0, 'Aborted', 'the request was aborted');
  let aborted: () => void = () => undefined;
  const gone = new Promise<never>((_resolve, reject) => {
    aborted = () => reject(new ApiStatusError(0, 'Aborted', 'the request was aborted'));
  });
  signal?.addEventListener('abort', aborted, { once: true });
  try {
    await collection.whenSynced(gone);
  } finally {
    signal?.removeEventListener('abort', aborted);
  }
}

function keyOf({ collection, part, resource }: SharedPart): string {
  return `${resource}/${collection.id}/${part}`;
}

function unreachable(): ApiStatusError {
  return new ApiStatusError(0, 'Unreachable', 'cannot reach the API server: the network of this node is cut');
}
