import { ApiStatusError } from '../../../actors/cluster/api/api-client.ts';
import type { ApiClient, ApiRequest } from '../../../actors/cluster/api/api-client.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { ObjectStore } from '../../simulated/api/support/object-store.ts';
import type { StoredChange } from '../../simulated/api/support/object-store.ts';
import { answer } from '../../simulated/api/support/rest-rules.ts';
import type { FakeRequest } from '../../simulated/api/support/rest-rules.ts';
import type { StoredObject } from '../../simulated/api/support/stored-object.ts';
import type { Fact } from './facts.ts';
import type { FaultClock } from './fault-clock.ts';
import { Inbox } from './inbox.ts';
import { answerStorage } from './storage/storage-answers.ts';
import type { StorageEdge } from './storage/storage-edge.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

/** What the API server's edge is made from. */
export interface ApiEdgeOptions {
  time: VirtualTime;
  faults: FaultClock;
  nodeName: string;
  tell: (fact: Fact) => void;
  /** Of nodes with CSI drivers. */
  storage: () => StorageEdge | null;
}

const PODS = '/v1/pods';

interface Watch {
  owner: Owner;
  inbox: Inbox<unknown>;
}

/** An API server with pods only, in memory, behind clients of the agent's interface. */
export class ApiEdge {
  readonly store = new ObjectStore();
  readonly owner: Owner = { name: 'api', alive: true };
  private readonly options: ApiEdgeOptions;
  private readonly watches = new Set<Watch>();
  private made = 0;
  private repeating = false;
  /** What the list of a server that lags shows. */
  private lagging: { items: StoredObject[]; version: number } | null = null;

  constructor(options: ApiEdgeOptions) {
    this.options = options;
    this.store.listen((change) => {
      options.time.busy();
      options.storage()?.controller.wake();
      options.tell({
        f: 'api',
        type: change.type,
        pod: asPod(change.object),
        before: change.before && asPod(change.before),
        repeated: this.repeating,
      });
      for (const watch of this.watches) this.send(watch, change);
    });
  }

  get(namespace: string, name: string): Pod | undefined {
    const found = this.store.get(PODS, namespace, name);
    return found && asPod(found);
  }

  list(): Pod[] {
    return this.store.list({ collection: PODS }).map(asPod);
  }

  /** Another client creates or replaces a pod. */
  put(pod: Pod): void {
    this.store.put(PODS, pod as unknown as StoredObject);
  }

  /** Another client asks for something. */
  ask(request: Partial<FakeRequest>): number {
    return answer(this.store, fake(request)).code;
  }

  remove(namespace: string, name: string): void {
    this.store.remove(PODS, namespace, name);
  }

  /** What is shown from now on by lists that may lag. */
  lag(on: boolean): void {
    this.lagging = on ? { items: this.store.list({ collection: PODS }), version: this.store.version } : null;
  }

  /** Watches end: as cut, as by their time, or because their version is too old. */
  endWatches(how: 'cut' | 'expired' | 'end'): void {
    for (const { inbox } of [...this.watches]) {
      if (how === 'end') inbox.end();
      else if (how === 'cut') inbox.fail(new Error('stream was cut'));
      else {
        // Others write, too: what this client saw last is older than what the server still knows.
        this.store.version += 10;
        this.store.compacted = this.store.version;
        inbox.put({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }, 1);
        inbox.end();
      }
    }
  }

  /** A client whose answers come to `owner`, as long as he lives. */
  client(owner: Owner): ApiClient {
    const client: ApiClient = {
      request: <T>(request: ApiRequest) => this.request(owner, request) as Promise<T>,
      stream: (request) => this.stream(owner, request),
      limited: () => client,
      close: () => undefined,
    };
    return client;
  }

  /** Watches of somebody who died are forgotten. */
  hangUp(owner: Owner): void {
    for (const watch of [...this.watches]) if (watch.owner === owner) this.watches.delete(watch);
  }

  private request(owner: Owner, request: ApiRequest): Promise<unknown> {
    const { time, faults } = this.options;
    time.busy();
    const fault = faults.strikes('api');
    const limit = request.timeoutMs ?? 30_000;
    return new Promise((resolve, reject) => {
      const refuse = (status: number, reason: string): void =>
        reject(new ApiStatusError(status, reason, 'a fault of the simulation'));
      request.signal?.addEventListener('abort', () => refuse(0, 'Unreachable'), { once: true });
      if (fault?.how === 'hang') {
        time.after(limit, owner, () => refuse(0, 'Unreachable'), false);
        return;
      }
      if (fault?.how === 'down' || fault?.how === 'fail') {
        const [status, reason] =
          fault.how === 'down' ? ([0, 'Unreachable'] as const) : ([500, 'InternalError'] as const);
        time.after(2, owner, () => refuse(status, reason), false);
        return;
      }
      const act = (): void => {
        const { code, body } = this.answer(request);
        time.after(
          fault?.how === 'slow' ? 8_000 : 2,
          owner,
          () => {
            if (fault?.how === 'lost') refuse(0, 'Unreachable');
            else if (code < 300) resolve(body);
            else {
              const { reason = '', message = '' } = body as { reason?: string; message?: string };
              reject(new ApiStatusError(code, reason, message));
            }
          },
          false,
        );
        if (fault?.how === 'twice' && request.method === 'PATCH' && request.on.resource === 'pods')
          time.after(1_500, this.owner, () => this.repeat(request), false);
      };
      time.after(2, this.owner, act, false);
    });
  }

  private repeat(request: ApiRequest): void {
    this.repeating = true;
    this.answer(request);
    this.repeating = false;
  }

  private answer(request: ApiRequest): { code: number; body: unknown } {
    const { method, on, name, body } = request;
    const storage = this.options.storage();
    const answered = storage && answerStorage(storage.objects, request);
    if (answered !== null) {
      if (method !== 'GET') storage?.controller.wake();
      return answered;
    }
    if (on.resource === 'nodes' && method === 'GET')
      return { code: 200, body: { metadata: { name, uid: 'node-uid' } } };
    if (on.resource !== 'pods') return { code: 404, body: { reason: 'NotFound', message: 'no such resource' } };
    if (method === 'GET' && name === undefined) return { code: 200, body: this.listed(request) };
    if (method === 'POST') return this.create(on.namespace ?? 'default', body as StoredObject);
    return answer(
      this.store,
      fake({
        verb: { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }[method],
        method,
        namespace: on.namespace,
        name,
        subresource: request.subresource,
        headers: { 'content-type': request.contentType ?? 'application/strategic-merge-patch+json' },
        body,
      }),
    );
  }

  /** UIDs are counted, not drawn: a run is the same each time. */
  private create(namespace: string, body: StoredObject): { code: number; body: unknown } {
    const { name } = body.metadata;
    if (this.store.get(PODS, namespace, name) !== undefined)
      return { code: 409, body: { reason: 'AlreadyExists', message: `pods "${name}" already exists` } };
    const metadata = { ...body.metadata, namespace, uid: `mirror-${++this.made}` };
    return { code: 201, body: this.store.put(PODS, { ...body, metadata, status: { phase: 'Pending' } }) };
  }

  private listed(request: ApiRequest): unknown {
    const { faults } = this.options;
    const cached = request.query?.['resourceVersion'] === '0';
    const stale = cached && faults.strikes('stale-list') !== undefined ? this.lagging : null;
    const { items, version } = stale ?? { items: this.store.list({ collection: PODS }), version: this.store.version };
    return { metadata: { resourceVersion: String(version) }, items };
  }

  private stream(owner: Owner, { query = {}, signal }: ApiRequest): Promise<AsyncIterable<unknown>> {
    const { time, faults } = this.options;
    time.busy();
    return new Promise((resolve, reject) => {
      const open = (): void => {
        if (faults.strikes('api', ({ how }) => how === 'down') !== undefined) {
          time.after(1, owner, () => reject(new ApiStatusError(0, 'Unreachable', 'connection refused')), false);
          return;
        }
        const from = Number(query['resourceVersion'] ?? '0');
        const inbox = new Inbox<unknown>(time, owner);
        const watch = { owner, inbox };
        if (from < this.store.compacted) {
          const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
          inbox.put({ type: 'ERROR', object: gone }, 1);
          inbox.end();
        } else {
          for (const change of this.store.since(from)) this.send(watch, change);
          this.watches.add(watch);
          time.after(
            Number(query['timeoutSeconds'] ?? '300') * 1000,
            this.owner,
            () => this.bookmarkAndEnd(watch),
            false,
          );
        }
        signal?.addEventListener('abort', () => inbox.end(), { once: true });
        const watches = this.watches;
        async function* lines(): AsyncGenerator<unknown> {
          try {
            yield* inbox.read();
          } finally {
            watches.delete(watch);
          }
        }
        time.after(1, owner, () => resolve(lines()), false);
      };
      time.after(1, this.owner, open, false);
    });
  }

  private bookmarkAndEnd({ inbox }: Watch): void {
    inbox.put({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(this.store.version) } } }, 0);
    inbox.end();
  }

  private send({ inbox }: Watch, { type, object }: StoredChange): void {
    const late = this.options.faults.strikes('watch-late') !== undefined;

    inbox.put({ type, object }, late ? 20_000 : 2);
  }
}

function fake(request: Partial<FakeRequest>): FakeRequest {
  return {
    method: '',
    verb: '',
    path: '',
    group: '',
    version: 'v1',
    resource: 'pods',
    query: {},
    headers: {},
    clientName: '',
    httpVersion: '',
    body: undefined,
    code: 0,
    at: 0,
    ...request,
  };
}

function asPod(object: StoredObject): Pod {
  return object as unknown as Pod;
}
