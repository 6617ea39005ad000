import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FakeWatch } from './fake-watch.ts';
import { answerList, nonResource, record, selectionOf, send } from './http-exchange.ts';
import { ObjectStore } from './object-store.ts';
import { answer, collectionOf, failure } from './rest-rules.ts';
import { makeAuthority, makeCertificate } from './test-certificates.ts';
import type { Incoming, Outgoing } from './http-exchange.ts';
import type { FakeAnswer, FakeRequest } from './rest-rules.ts';
import type { StoredObject } from './stored-object.ts';

/** What a request must look like for a fault or a reply: each given field must be equal. */
export type RequestMatch = Partial<
  Pick<FakeRequest, 'verb' | 'method' | 'group' | 'resource' | 'namespace' | 'name' | 'subresource' | 'path'>
>;

/** What goes wrong: never answer, break the connection, answer a failure, wait before the right answer, end a watch at once. */
export type Fault =
  | { do: 'hang' }
  | { do: 'drop' }
  | { do: 'fail'; code: number; reason?: string; message?: string; retryAfterSeconds?: number }
  | { do: 'delay'; ms: number }
  | { do: 'hold'; until: Promise<unknown> }
  | { do: 'endAtOnce' };

/** Options of {@link startFakeApiServer}. */
export interface FakeApiServerOptions {
  /** `http` (default), `h2` (https with HTTP/2 and 1.1 by ALPN) or `https` (HTTP/1.1 only). */
  transport?: 'http' | 'h2' | 'https';
  /** Time between bookmarks in ms, 0 = none (default); `server.bookmark()` sends one now. */
  bookmarkMs?: number;
}

/**
 * A small API server inside the test, on a random port of 127.0.0.1, for any resource of any group:
 *
 *     const server = await startFakeApiServer();
 *     t.after(() => server.close());
 *     const api = createApiClient({ kubeconfigPath: server.kubeconfigPath, ... });
 *     server.put({ group: '', version: 'v1', resource: 'pods' }, { metadata: { name: 'a', namespace: 'default' }, ... });
 *     const lift = server.fault({ verb: 'patch', resource: 'pods' }, { do: 'fail', code: 500 }); ... lift();
 *     assert.equal(server.requestsOf({ verb: 'patch', resource: 'pods', subresource: 'status' }).length, 1);
 *
 * `put` and `remove` work on the store as another client would (watches hear of it), bypassing REST rules. Clients get
 * REST rules: uid, resourceVersion, generation, status subresource (pods, nodes), strategic merge, preconditions,
 * graceful DELETE of pods, list with limit/continue, watch with bookmarks, field and label selectors, 410.
 * `reply` answers what needs more (`token`, `eviction` ...). `stop`/`start` take the server away (connection refused)
 * and bring it back on the same port with its objects. Nobody is authorized: test that on the real server.
 */
export class FakeApiServer {
  readonly store = new ObjectStore();
  /** All requests in the order they came, with bodies; `code` is set once answered. */
  readonly requests: FakeRequest[] = [];
  /** Scratch folder with `kubeconfig` and certificates; removed by `close`. */
  readonly folder: string;
  readonly kubeconfigPath: string;
  port = 0;
  private readonly transport: 'http' | 'h2' | 'https';
  private readonly bookmarkMs: number;
  private readonly faults: { match: RequestMatch; fault: Fault; times: number }[] = [];
  private readonly replies: { match: RequestMatch; reply: (request: FakeRequest) => FakeAnswer }[] = [];
  private readonly watches = new Set<FakeWatch>();
  private readonly sockets = new Set<Socket>();
  private readonly sessions = new Set<ServerHttp2Session>();
  private maxConcurrentStreams: number | undefined;
  private server: http.Server | https.Server | http2.Http2SecureServer | undefined;

  constructor(options: FakeApiServerOptions = {}) {
    this.transport = options.transport ?? 'http';
    this.bookmarkMs = options.bookmarkMs ?? 0;
    this.folder = mkdtempSync(join(tmpdir(), 'fake-api-server-'));
    this.kubeconfigPath = join(this.folder, 'kubeconfig');
    if (this.transport !== 'http') {
      const ca = makeAuthority(this.folder);
      makeCertificate(this.folder, 'server', '/CN=fake-api-server', ca);
      makeCertificate(this.folder, 'client', '/O=system:nodes/CN=system:node:node1', ca);
    }
  }

  get url(): string {
    return `${this.transport === 'http' ? 'http' : 'https'}://127.0.0.1:${String(this.port)}`;
  }

  /** Number of watches that are open now, of a resource or of all. */
  openWatches(resource?: string): number {
    return this.watchesOf(resource).length;
  }

  /** Requests that match, oldest first. */
  requestsOf(match: RequestMatch): FakeRequest[] {
    return this.requests.filter((request) => matches(match, request));
  }

  /** Creates or replaces an object in the store and tells the watches. Returns it with uid and resourceVersion. */
  put<T extends { metadata?: object }>(
    on: { group: string; version: string; resource: string },
    object: T,
  ): StoredObject {
    return this.store.put(collectionOf(on), object as unknown as StoredObject);
  }

  /** Removes an object at once, without grace, and tells the watches. */
  remove(on: { group: string; version: string; resource: string; namespace?: string }, name: string): void {
    this.store.remove(collectionOf(on), on.namespace, name);
  }

  get(on: { group: string; version: string; resource: string; namespace?: string }, name: string) {
    return this.store.get(collectionOf(on), on.namespace, name);
  }

  /** Switches a fault on for matching requests (`times` of them, or until lifted by the returned function). */
  fault(match: RequestMatch, fault: Fault, times = Infinity): () => void {
    const entry = { match, fault, times };
    this.faults.push(entry);
    return () => {
      const at = this.faults.indexOf(entry);
      if (at !== -1) this.faults.splice(at, 1);
    };
  }

  /** Answers matching requests by a function; the last given wins. */
  reply(match: RequestMatch, reply: (request: FakeRequest) => FakeAnswer): void {
    this.replies.unshift({ match, reply });
  }

  /** Breaks open watches in the middle (`cut`), or ends them as at their timeout (`end`). */
  cutWatches(resource?: string, how: 'cut' | 'end' = 'cut'): void {
    for (const watch of this.watchesOf(resource)) watch[how]();
  }

  /** Sends an ERROR event to open watches and ends them. */
  failWatches(code: number, reason: string, resource?: string): void {
    for (const watch of this.watchesOf(resource)) watch.error(code, reason, reason);
  }

  bookmark(resource?: string): void {
    for (const watch of this.watchesOf(resource)) watch.bookmark();
  }

  /** Forgets all changes so far: a watch from an older resource version gets 410 Expired. */
  compact(): void {
    this.store.compacted = this.store.version;
  }

  /** Tells all HTTP/2 clients GOAWAY; open streams go on. */
  goaway(): void {
    for (const session of this.sessions) session.goaway(0);
  }

  /** Allows HTTP/2 clients so many streams on one connection, from now on. */
  limitStreams(most: number): void {
    this.maxConcurrentStreams = most;
    for (const session of this.sessions) session.settings({ maxConcurrentStreams: most });
  }

  /** Breaks all connections; the server goes on listening. */
  dropConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Number of TCP connections open now. */
  get connections(): number {
    return this.sockets.size;
  }

  /** Listens (again, on the same port after `stop`). */
  async start(): Promise<void> {
    const handle = (request: Incoming, response: Outgoing): void => void this.handle(request, response);
    const server = this.createServer(handle);
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    server.on('session', (session: ServerHttp2Session) => {
      this.sessions.add(session);
      if (this.maxConcurrentStreams !== undefined) {
        session.settings({ maxConcurrentStreams: this.maxConcurrentStreams });
      }
      session.on('close', () => this.sessions.delete(session));
      session.on('error', () => undefined);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', resolve);
    });
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
    writeFileSync(this.kubeconfigPath, JSON.stringify(this.kubeconfig()));
  }

  /** Breaks all connections and refuses new ones; objects stay. */
  async stop(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    for (const watch of [...this.watches]) watch.cut();
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      this.dropConnections();
    });
  }

  /** Stops and removes the scratch folder. */
  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The kubeconfig as an object (user `node1`; with a client certificate when TLS is on). */
  kubeconfig(): Record<string, unknown> {
    const tls = this.transport !== 'http';
    return {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'fake',
      clusters: [{ name: 'fake', cluster: { server: this.url, ...(tls && { 'certificate-authority': 'ca.crt' }) } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'node1' } }],
      users: [{ name: 'node1', user: tls ? { 'client-certificate': 'client.crt', 'client-key': 'client.key' } : {} }],
    };
  }

  private createServer(handle: (request: Incoming, response: Outgoing) => void) {
    if (this.transport === 'http') return http.createServer(handle);
    const file = (name: string): Buffer => readFileSync(join(this.folder, name));
    const tls = {
      cert: file('server.crt'),
      key: file('server.key'),
      ca: file('ca.crt'),
      requestCert: true,
      rejectUnauthorized: false,
    };
    if (this.transport === 'https') return https.createServer(tls, handle);
    const both = handle as unknown as (request: Http2ServerRequest, response: Http2ServerResponse) => void;
    return http2.createSecureServer({ ...tls, allowHTTP1: true }, both);
  }

  private watchesOf(resource?: string): FakeWatch[] {
    return [...this.watches].filter(
      (watch) => resource === undefined || watch.selection.collection.endsWith(`/${resource}`),
    );
  }

  private async handle(incoming: Incoming, response: Outgoing): Promise<void> {
    response.on('error', () => undefined);
    let text = '';
    try {
      for await (const chunk of incoming) text += String(chunk);
    } catch {
      return;
    }
    const request = record(incoming, text);
    this.requests.push(request);
    const at = this.faults.findIndex(({ match }) => matches(match, request));
    const entry = this.faults[at];
    if (entry !== undefined && --entry.times <= 0) this.faults.splice(at, 1);
    const fault = entry?.fault;
    switch (fault?.do) {
      case undefined:
        break;
      case 'hang':
        return;
      case 'drop':
        if (response.stream !== undefined) response.stream.session?.destroy();
        else response.socket?.destroy();
        return;
      case 'fail':
        return send(
          response,
          request,
          failure(
            fault.code,
            fault.reason ?? (http.STATUS_CODES[fault.code] ?? '').replaceAll(' ', ''),
            fault.message ?? 'a fault of the test',
            fault.retryAfterSeconds,
          ),
        );
      case 'delay':
        await sleep(fault.ms);
        break;
      case 'hold':
        await fault.until;
        break;
      case 'endAtOnce':
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end();
        request.code = 200;
        return;
    }
    const reply = this.replies.find(({ match }) => matches(match, request));
    if (reply !== undefined) send(response, request, reply.reply(request));
    else if (request.verb === 'watch') this.watch(request, response);
    else if (request.verb === 'list') send(response, request, answerList(this.store, request));
    else if (request.verb === '') send(response, request, nonResource(request.path));
    else send(response, request, answer(this.store, request));
  }

  private watch(request: FakeRequest, response: Outgoing): void {
    request.code = 200;
    const watch = new FakeWatch(this.store, selectionOf(request), response, request.query, this.bookmarkMs);
    if (response.writableEnded) return;
    this.watches.add(watch);
    response.on('close', () => this.watches.delete(watch));
  }
}

/** Starts a {@link FakeApiServer}; `close` it with `t.after`. */
export async function startFakeApiServer(options?: FakeApiServerOptions): Promise<FakeApiServer> {
  const server = new FakeApiServer(options);
  await server.start();
  return server;
}

function matches(match: RequestMatch, request: FakeRequest): boolean {
  return (Object.keys(match) as (keyof RequestMatch)[]).every((key) => match[key] === request[key]);
}
