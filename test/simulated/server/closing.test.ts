import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { createHttpApp, routeUpgrades } from '../../../actors/serve/server/http-app.ts';
import type { MakeServer } from '../../../actors/serve/server/http-app.ts';
import { listen } from '../../../actors/serve/server/http-listener.ts';
import { makeTestCertificate } from '../streaming/support/certificate.ts';
import { upgradeRequest } from '../streaming/support/raw-client.ts';

// Connections that Node's server does not count among those of HTTP, when the server is closed.

const log = pino({ level: 'silent' });
const tls = await makeTestCertificate();

const ways: readonly { what: string; makeServer: MakeServer; begin: (socket: Socket) => void }[] = [
  {
    what: 'a client that connects and never begins its TLS',
    makeServer: (handler) => createTlsServer({ ...tls, handshakeTimeout: 60_000 }, handler),
    begin: () => undefined,
  },
  {
    what: 'a client that asked for another protocol and does not take its answer',
    makeServer: (handler) => createServer(handler),
    begin: (socket) => socket.pause().write(upgradeRequest('/long', ['Upgrade: h2c'], 'GET')),
  },
];

for (const { what, makeServer, begin } of ways)
  test(`${what} does not hold up the end of a server`, async () => {
    const app = createHttpApp(log, ['/long'], makeServer);
    app.get('/long', (_request, reply) => reply.send(Buffer.alloc(32 * 1024 * 1024)));
    routeUpgrades(app, app.server);
    const server = await listen(app, { address: '127.0.0.1', port: 0, log }, 'test', 'port');
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    try {
      await once(socket, 'connect');
      begin(socket);
      await sleep(200);
      assert.equal(await Promise.race([server.close().then(() => 'closed'), sleep(8_000)]), 'closed');
    } finally {
      socket.destroy();
    }
  });
