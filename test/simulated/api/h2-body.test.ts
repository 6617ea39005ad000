import assert from 'node:assert/strict';
import http2 from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { Duplex, duplexPair } from 'node:stream';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { H2Session } from '../../../actors/cluster/api/h2-session.ts';
import { wholeBody } from '../../../actors/cluster/api/transport.ts';

/** A connection whose bytes from the server come when `open` is called, all at once, as to a process that had no CPU. */
function gatedConnection(server: http2.Http2Server) {
  const [near, far] = duplexPair();
  server.emit('connection', far);
  let held: Buffer[] | null = null;
  const client = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => void near.write(chunk, done),
    final: (done) => void near.end(done),
  });
  near.on('data', (chunk: Buffer) => void (held === null ? client.push(chunk) : held.push(chunk)));
  near.on('close', () => client.destroy());
  client.on('close', () => near.destroy());
  const open = (): void => {
    const all = Buffer.concat(held ?? []);
    held = null;
    client.push(all);
  };
  return { client: client as unknown as TLSSocket, shut: () => void (held = []), open };
}

function setUp(t: TestContext, answer: (stream: http2.ServerHttp2Stream) => void) {
  const server = http2.createServer();
  const answered = new Promise<void>((resolve) => {
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      stream.once('close', resolve);
      stream.resume();
      answer(stream);
    });
  });
  const connection = gatedConnection(server);
  const session = new H2Session(connection.client, 'http://server', {}, { idleMs: 60_000, ackMs: 60_000 });
  t.after(() => session.destroy());
  const send = (signal = new AbortController().signal, body?: string) =>
    session.send({ method: 'POST', path: '/', headers: {}, identity: {}, signal, ...(body !== undefined && { body }) });
  return { ...connection, answered, send };
}

async function read(answer: Awaited<ReturnType<H2Session['send']>>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of wholeBody(answer)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('an answer whose head, body and end come at once is whole, however late its reader is', async (t) => {
  const { shut, open, answered, send } = setUp(t, (stream) => {
    stream.respond({ ':status': 201 });
    stream.end('created');
  });
  await turn();
  shut();
  const sent = send(undefined, 'please');
  await answered;
  for (let i = 0; i < 10; i++) await turn();
  open();
  const answer = await sent;
  assert.equal(answer.status, 201);
  for (let i = 0; i < 10; i++) await turn();
  assert.equal(await read(answer), 'created');
});

test('a large answer waits for a slow reader, and comes whole', async (t) => {
  const text = 'x'.repeat(5 << 20);
  const { send } = setUp(t, (stream) => {
    stream.respond({ ':status': 200 });
    stream.end(text);
  });
  const answer = await send();
  let size = 0;
  for await (const chunk of wholeBody(answer)) {
    size += chunk.length;
    await turn();
  }
  assert.equal(size, text.length);
});

test('an answer whose connection ends in its middle is not taken for a whole one', async (t) => {
  const { client, send } = setUp(t, (stream) => {
    stream.respond({ ':status': 200 });
    stream.write('half of i');
  });
  const answer = await send();
  const chunks: string[] = [];
  await assert.rejects(async () => {
    for await (const chunk of wholeBody(answer)) {
      chunks.push(chunk.toString());
      client.destroy();
    }
  });
  assert.deepEqual(chunks, ['half of i']);
});

test('a reader that stops early ends the stream', async (t) => {
  const { answered, send } = setUp(t, (stream) => {
    stream.respond({ ':status': 200 });
    stream.write('event');
  });
  for await (const chunk of (await send()).body) {
    assert.equal(chunk.toString(), 'event');
    break;
  }
  await answered;
});
