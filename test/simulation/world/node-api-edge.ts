import { ApiStatusError } from '../../../actors/cluster/api/api-client.ts';
import type { ApiClient, ApiRequest } from '../../../actors/cluster/api/api-client.ts';
import type { NodeFactsSource } from '../../../actors/cluster/node-object/node-facts-reader.ts';
import { ObjectStore } from '../../simulated/api/support/object-store.ts';
import { answer, collectionOf } from '../../simulated/api/support/rest-rules.ts';
import type { StoredObject } from '../../simulated/api/support/stored-object.ts';
import { fakeRequest } from './fake-request.ts';
import { Inbox } from './inbox.ts';
import { NODE_NAME } from './node-settings.ts';
import type { Random } from './random.ts';
import type { Owner, VirtualTime } from './virtual-time.ts';

const NODES = '/v1/nodes';
const LEASES = 'coordination.k8s.io/v1/leases';
/** Share of requests that fail, and of those after which somebody else does something to the objects. */
const [FAILING, MEDDLING] = [0.1, 0.1];

/**
 * An API server with the node's object, lease and CSINode. It fails now and then, and others write to its objects: the node controller
 * gives the node up, somebody cordons it, deletes it or its lease. Its draws are its own, and no pod is moved by them.
 */
export class NodeApiEdge {
  readonly random: Random;
  private readonly time: VirtualTime;
  private readonly store = new ObjectStore();
  private readonly owner: Owner = { name: 'node-api', alive: true };
  private made = 0;

  constructor(time: VirtualTime, random: Random) {
    this.time = time;
    this.random = random;
  }

  /** The machine that the node is told of; nothing of it changes. */
  get facts(): NodeFactsSource {
    const names = { machineID: 'm', systemUUID: 's', bootID: 'b', kernelVersion: '6', osImage: 'o' };
    const sizes = { cores: 4, memoryBytes: 2 ** 33, swapBytes: 0, ephemeralStorageBytes: 2 ** 30, hugePages: [] };
    return {
      machine: { ...names, ...sizes, operatingSystem: 'linux', architecture: 'amd64' },
      addresses: { hostname: NODE_NAME, externalCloudProvider: false, given: [], found: '10.99.0.1' },
      read: () => Promise.resolve(),
    };
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

  private request(owner: Owner, request: ApiRequest): Promise<unknown> {
    const { time, random } = this;
    return new Promise((resolve, reject) => {
      const refuse = (status: number, reason: string): void =>
        reject(new ApiStatusError(status, reason, 'a fault of the simulation'));
      request.signal?.addEventListener('abort', () => refuse(0, 'Unreachable'), { once: true });
      const fault = random.chance(FAILING) ? random.pick(['away', 'fail', 'conflict', 'lost'] as const) : null;
      const act = (): void => {
        const done = fault === null || fault === 'lost' ? this.answer(request) : null;
        if (random.chance(MEDDLING)) this.meddle();
        const told = (): void => {
          if (fault === 'fail') refuse(500, 'InternalError');
          else if (fault === 'conflict') refuse(409, 'Conflict');
          else if (done === null || fault === 'lost') refuse(0, 'Unreachable');
          else if (done.code < 300) resolve(structuredClone(done.body));
          else refuse(done.code, (done.body as { reason?: string }).reason ?? '');
        };
        time.after(2, owner, told, false);
      };
      time.after(2, this.owner, act, false);
    });
  }

  private answer(request: ApiRequest): { code: number; body: unknown } {
    const { method, on, name, body } = request;
    if (method === 'GET' && name === undefined) {
      const items = this.store.list({ collection: collectionOf(on) });
      return { code: 200, body: { metadata: { resourceVersion: String(this.store.version) }, items } };
    }
    if (method === 'POST') return this.create(request, body as StoredObject);
    return answer(this.store, fakeRequest(request));
  }

  /** UIDs are counted, not drawn: a run is the same each time. */
  private create({ on }: ApiRequest, body: StoredObject): { code: number; body: unknown } {
    const collection = collectionOf(on);
    const { name, namespace } = body.metadata;
    if (this.store.get(collection, namespace, name) !== undefined)
      return { code: 409, body: { reason: 'AlreadyExists' } };
    const metadata = { ...body.metadata, uid: `made-${++this.made}` };
    return { code: 201, body: this.store.put(collection, { ...body, metadata }) };
  }

  private meddle(): void {
    const node = this.store.get(NODES, undefined, NODE_NAME);
    if (node === undefined) {
      // A node that somebody deleted is not made anew by its agent.
      this.store.put(NODES, { metadata: { name: NODE_NAME, uid: `made-${++this.made}` } });
      return;
    }
    const { spec = {}, status = {} } = node;
    switch (this.random.between(0, 4)) {
      case 0:
        this.store.put(NODES, { ...node, spec: { ...spec, unschedulable: spec['unschedulable'] !== true } });
        break;
      case 1:
        this.store.put(NODES, { ...node, status: { ...status, conditions: [{ type: 'Ready', status: 'Unknown' }] } });
        break;
      case 2:
        this.store.remove(LEASES, 'kube-node-lease', NODE_NAME);
        break;
      case 3:
        this.store.put(NODES, { ...node, spec: { ...spec, podCIDRs: [`10.${this.random.between(1, 3)}.0.0/24`] } });
        break;
      case 4:
        this.store.remove(NODES, undefined, NODE_NAME);
    }
  }

  private stream(owner: Owner, { query = {}, signal, on }: ApiRequest): Promise<AsyncIterable<unknown>> {
    const inbox = new Inbox<unknown>(this.time, owner);
    const from = Number(query['resourceVersion'] ?? '0');
    const tell = (change: { collection: string; type: string; object: unknown }): void => {
      if (change.collection === collectionOf(on)) inbox.put({ type: change.type, object: change.object }, 2);
    };
    for (const change of this.store.since(from)) tell(change);
    const unlisten = this.store.listen((change) => {
      if (owner.alive) tell(change);
      else unlisten();
    });
    signal?.addEventListener('abort', () => inbox.end(), { once: true });
    return Promise.resolve(inbox.read());
  }
}
