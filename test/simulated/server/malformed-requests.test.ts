/** What is no HTTP request is answered as kubelet's server (Go's) answers it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import pino from 'pino';
import { createHttpApp } from '../../../actors/serve/server/http-app.ts';

const BAD =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request';

/** All that the server says to these bytes until it closes the connection. */
async function answerTo(bytes: string): Promise<string> {
  const app = createHttpApp(pino({ level: 'silent' }), ['/']);
  app.get('/slow', async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return 'slow';
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    let said = '';
    socket.on('data', (data: Buffer) => (said += data.toString('latin1')));
    socket.write(bytes);
    await once(socket, 'close');
    return said;
  } finally {
    await app.close();
  }
}

test('bytes that are no request', async () => {
  assert.equal(await answerTo('no request at all\r\n\r\n'), BAD);
});

test('a head that is too long', async () => {
  const said = await answerTo(`GET / HTTP/1.1\r\nHost: x\r\nx: ${'y'.repeat(1_100_000)}\r\n\r\n`);
  assert.match(
    said,
    /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n[^]*\r\n\r\n431 Request Header Fields Too Large$/,
  );
});

test('a path that is no URL', async () => {
  const said = await answerTo('GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match(said, /^HTTP\/1\.1 400 Bad Request\r\n/);
  assert.match(said, /content-type: text\/plain; charset=utf-8\r\n/i);
  assert.ok(said.endsWith('\r\n\r\n400 Bad Request'), said);
});

test('a request before them is answered first', async () => {
  const said = await answerTo('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n');
  assert.match(said, /^HTTP\/1\.1 200 OK\r\n[^]*slow/);
  assert.ok(said.endsWith(BAD), said);
});
