import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify from 'fastify';
import { routeUpgrades } from '../../../actors/serve/server/http-app.ts';
import { PATIENCE_MS } from '../../tools/wait-for.ts';
import { rawClient, upgradeRequest } from './support/raw-client.ts';

// Whoever asks for another protocol (curl --http2 does so of each plain server) may get an answer without one, of any length.

const PIECE = Buffer.alloc(64 * 1024, 'x');
const PIECES = 64;

test('a long answer to a request that asked for another protocol comes to its end', async () => {
  const app = fastify({ serverFactory: (handler) => createServer(handler) });
  routeUpgrades(app, app.server);
  const body = (): Readable =>
    Readable.from(
      Array.from({ length: PIECES }, () => PIECE),
      { objectMode: false },
    );
  app.get('/sent', (_request, reply) => reply.header('content-length', PIECES * PIECE.length).send(body()));
  app.get('/written', (_request, reply) => {
    reply.hijack();
    reply.raw.setHeader('content-length', PIECES * PIECE.length);
    void pipeline(body(), reply.raw).catch(() => undefined);
    return reply;
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    for (const path of ['/sent', '/written']) {
      const client = await rawClient((app.server.address() as AddressInfo).port);
      client.socket.write(upgradeRequest(path, ['Upgrade: h2c'], 'GET'));
      await Promise.race([client.ended, sleep(PATIENCE_MS, undefined, { ref: false })]);
      const text = client.text();
      client.socket.destroy();
      assert.equal(text.length - text.indexOf('\r\n\r\n') - 4, PIECES * PIECE.length, path);
    }
  } finally {
    app.server.closeAllConnections();
    await app.close();
  }
});
