import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { CallReport } from '../../../cri/client/call.ts';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import type { CriClient, CriClientSettings } from '../../../cri/client/cri-client.ts';
import { CriError } from '../../../cri/client/cri-error.ts';
import {
  ContainerEventResponse,
  ContainerStatusResponse,
  ImageServiceService,
  ListImagesResponse,
  RuntimeServiceService,
} from '../../../cri/generated/runtime/v1/api.ts';
import { PATIENCE_MS } from '../../tools/wait-for.ts';

type Handlers = UntypedServiceImplementation;

let folder: string;
let socket: string;
let servers: Server[];
let clients: CriClient[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cri-'));
  socket = join(folder, 'r.sock');
  servers = [];
  clients = [];
});
afterEach(async () => {
  for (const client of clients) client.close();
  for (const server of servers) server.forceShutdown();
  await rm(folder, { recursive: true, force: true });
});

/** A server with just the methods a test needs; the others answer Unimplemented. */
async function serve(runtime: Handlers, image: Handlers = {}, path = socket): Promise<Server> {
  const server = new Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  server.addService(RuntimeServiceService, runtime);
  server.addService(ImageServiceService, image);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
  servers.push(server);
  return server;
}

function connect(settings: Partial<CriClientSettings> = {}): CriClient {
  const client = createCriClient({ endpoint: `unix://${socket}`, timeoutMs: 5000, ...settings });
  clients.push(client);
  return client;
}

const v1 = { version: '0.1.0', runtimeName: 'fake', runtimeVersion: '1', runtimeApiVersion: 'v1' };
const answer =
  (value: object) =>
  (_call: unknown, done: (error: null, value: object) => void): void => {
    done(null, value);
  };

function criError(code: string, more: object = {}) {
  return (error: unknown) => {
    assert.ok(error instanceof CriError, String(error));
    assert.partialDeepStrictEqual({ code: error.code, rpc: error.rpc, details: error.details }, { code, ...more });
    return true;
  };
}

test('a call carries partial requests and whole answers, and reports itself', async () => {
  const seen: unknown[] = [];
  await serve({
    containerStatus: (call: { request: unknown }, done: (error: null, value: object) => void) => {
      seen.push(call.request);
      done(null, ContainerStatusResponse.fromPartial({ status: { id: 'c1', createdAt: '1763692291123456789' } }));
    },
  });
  const reports: CallReport[] = [];
  const client = connect({ hooks: { onCall: (report) => reports.push(report) } });
  const { status: got } = await client.runtime.containerStatus({ containerId: 'c1' });
  assert.equal(got?.createdAt, '1763692291123456789');
  assert.equal(got.reason, '');
  assert.deepEqual(seen, [{ containerId: 'c1', verbose: false }]);
  assert.partialDeepStrictEqual(reports, [{ service: 'RuntimeService', method: 'ContainerStatus', code: 'OK' }]);
});

test('the error of the runtime arrives with its code, in the words of the kubelet', async () => {
  await serve({
    containerStatus: (_call: unknown, done: (error: object) => void) => {
      done({ code: status.NOT_FOUND, details: 'no container "c1"' });
    },
  });
  const reports: CallReport[] = [];
  const client = connect({ hooks: { onCall: (report) => reports.push(report) } });
  await assert.rejects(client.runtime.containerStatus({ containerId: 'c1' }), (error) => {
    criError('NotFound', { rpc: 'ContainerStatus', details: 'no container "c1"' })(error);
    assert.equal((error as Error).message, 'rpc error: code = NotFound desc = no container "c1"');
    return true;
  });
  assert.equal(reports[0]?.code, 'NotFound');
});

test('a hung call ends at its deadline, or when it is aborted, and others go on meanwhile', async () => {
  await serve({ status: () => undefined, version: answer(v1) });
  const client = connect({ timeoutMs: 60_000 });
  const abort = new AbortController();
  const aborted = assert.rejects(
    client.runtime.status({}, { signal: abort.signal }),
    criError('Canceled', { details: 'context canceled' }),
  );
  const late = assert.rejects(
    client.runtime.status({}, { timeoutMs: 100 }),
    criError('DeadlineExceeded', { details: 'context deadline exceeded' }),
  );
  assert.equal((await client.runtime.version({})).runtimeName, 'fake');
  await late;
  abort.abort();
  await aborted;
  await assert.rejects(client.runtime.status({}, { signal: abort.signal }), criError('Canceled'));
});

test('without a runtime a call fails as Unavailable once its retry time is over', async () => {
  const client = connect({ retryMs: 0 });
  await assert.rejects(client.runtime.version({}), criError('Unavailable', { rpc: 'Version' }));
  const created = client.runtime.createContainer({}, { retryMs: 100 });
  await assert.rejects(created, (error) => {
    criError('Unavailable')(error);
    assert.equal((error as CriError).notSent, true);
    return true;
  });
});

test('a call that could not be sent waits for the runtime, even one that must not be repeated', async () => {
  let started = 0;
  const client = connect({ retryMs: PATIENCE_MS });
  const call = client.runtime.startContainer({ containerId: 'c1' });
  await sleep(150);
  await serve({
    startContainer: (_call: unknown, done: (error: null, value: object) => void) => {
      started += 1;
      done(null, {});
    },
  });
  await call;
  assert.equal(started, 1);
});

test('after Unavailable from the runtime only harmless calls are repeated', async () => {
  const calls = { stopContainer: 0, startContainer: 0 };
  const failOnce =
    (name: keyof typeof calls) =>
    (_call: unknown, done: (error: object | null, value?: object) => void): void => {
      calls[name] += 1;
      if (calls[name] === 1) done({ code: status.UNAVAILABLE, details: 'server is not initialized yet' });
      else done(null, {});
    };
  await serve({ stopContainer: failOnce('stopContainer'), startContainer: failOnce('startContainer') });
  const client = connect();
  await client.runtime.stopContainer({ containerId: 'c1', timeout: '0' });
  await assert.rejects(client.runtime.startContainer({ containerId: 'c1' }), criError('Unavailable'));
  assert.deepEqual(calls, { stopContainer: 2, startContainer: 1 });
});

test('a restarted runtime is seen again, also after a long absence', async () => {
  const first = await serve({ version: answer(v1) });
  const client = connect({ retryMs: 0 });
  await client.runtime.version({});
  first.forceShutdown();
  // Long enough for a default gRPC back-off to have grown beyond the retry time below.
  for (let i = 0; i < 20; i++) {
    await assert.rejects(client.runtime.version({}), criError('Unavailable'));
    await sleep(100);
  }
  await serve({ version: answer({ ...v1, runtimeVersion: '2' }) });
  const again = await client.runtime.version({}, { retryMs: 1500 });
  assert.equal(again.runtimeVersion, '2');
});

test('answers and requests beyond the 4 MiB of gRPC pass', async () => {
  const big = Buffer.alloc(16 * 1024 * 1024, 7);
  const lengths: number[] = [];
  await serve({
    execSync: (call: { request: { cmd: string[] } }, done: (error: null, value: object) => void) => {
      lengths.push(call.request.cmd[0]?.length ?? 0);
      done(null, { stdout: big, stderr: Buffer.alloc(0), exitCode: 3 });
    },
  });
  const got = await connect().runtime.execSync({ containerId: 'c', cmd: ['x'.repeat(5_000_000)], timeout: '0' });
  assert.equal(got.exitCode, 3);
  assert.ok(big.equals(got.stdout));
  assert.deepEqual(lengths, [5_000_000]);
});

test('images can have an endpoint of their own', async () => {
  await serve({ version: answer(v1) });
  const imageSocket = join(folder, 'i.sock');
  await serve(
    {},
    { listImages: answer(ListImagesResponse.fromPartial({ images: [{ id: 'sha256:1' }] })) },
    imageSocket,
  );
  const client = connect({ imageEndpoint: `unix://${imageSocket}` });
  assert.equal((await client.image.listImages({})).images[0]?.id, 'sha256:1');
  await assert.rejects(connect().image.listImages({}), criError('Unimplemented'));
});

test('waitReady waits for the runtime and checks what it speaks', async () => {
  const client = connect();
  await assert.rejects(client.waitReady(100), { name: 'ActorletError', code: 'CRI002' });
  const ready = client.waitReady(PATIENCE_MS);
  await sleep(200);
  const server = await serve({ version: answer(v1) });
  assert.equal((await ready).runtimeName, 'fake');
  server.forceShutdown();

  const other = await serve({ version: answer({ ...v1, runtimeApiVersion: 'v1alpha2' }) });
  await assert.rejects(client.waitReady(PATIENCE_MS), { name: 'ActorletError', code: 'CRI003', message: /v1alpha2/ });
  other.forceShutdown();

  await serve({});
  await assert.rejects(client.waitReady(PATIENCE_MS), { name: 'ActorletError', code: 'CRI004' });
});

interface EventStream {
  write(event: object): void;
  on(name: 'cancelled', listener: () => void): void;
}

test('events come as they happen; the stream ends on abort or when it is left', async () => {
  let cancelled = 0;
  await serve({
    getContainerEvents: (stream: EventStream) => {
      stream.on('cancelled', () => (cancelled += 1));
      stream.write(ContainerEventResponse.fromPartial({ containerId: 'c1', containerEventType: 1 }));
    },
    version: answer(v1),
  });
  const client = connect();
  const abort = new AbortController();
  const ids: string[] = [];
  for await (const event of client.containerEvents(abort.signal)) {
    ids.push(event.containerId);
    abort.abort();
  }
  for await (const event of client.containerEvents()) {
    ids.push(event.containerId);
    break;
  }
  for await (const event of client.containerEvents(abort.signal)) ids.push(event.containerId);
  assert.deepEqual(ids, ['c1', 'c1']);
  await client.runtime.version({});
  assert.equal(cancelled, 2);
});

test('a killed runtime: streams and calls under way fail, what may have been done is not repeated', async (t) => {
  let started = 0;
  let begun = () => {};
  const underWay = new Promise<void>((resolve) => (begun = resolve));
  await serve({
    getContainerEvents: (stream: EventStream) => {
      stream.write(ContainerEventResponse.fromPartial({ containerId: 'c1' }));
    },
    startContainer: () => {
      started += 1;
      begun();
    },
    version: answer(v1),
  });
  // A relay whose connections can be cut, as the kernel does when the runtime is killed.
  const connections = new Set<Socket>();
  const relay = createServer((near) => {
    const far = createConnection(socket);
    for (const end of [near, far]) {
      connections.add(end);
      end.on('error', () => undefined);
    }
    near.pipe(far).pipe(near);
  });
  const cut = () => {
    for (const end of connections) end.destroy();
    connections.clear();
  };
  t.after(() => {
    cut();
    relay.close();
  });
  const path = join(folder, 'relay.sock');
  await new Promise<void>((resolve) => relay.listen(path, resolve));
  const client = connect({ endpoint: `unix://${path}` });

  const events = client.containerEvents()[Symbol.asyncIterator]();
  assert.equal((await events.next()).value.containerId, 'c1');
  const lost = assert.rejects(events.next(), criError('Unavailable', { rpc: 'GetContainerEvents' }));
  const start = assert.rejects(client.runtime.startContainer({ containerId: 'c1' }), criError('Unavailable'));
  await underWay;
  cut();
  await lost;
  await start;
  assert.equal((await client.runtime.version({})).runtimeName, 'fake');
  assert.equal(started, 1);
});
