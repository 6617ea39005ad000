/** Profiles that one connection asks for leave nothing behind at it. */
import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { addPprofRoutes } from '../../../actors/serve/server/pprof-routes.ts';

test('a connection that is kept alive gathers no listeners of the profiles that it was sent', async (t) => {
  const app = fastify();
  addPprofRoutes(app);
  const sockets: Socket[] = [];
  app.server.on('connection', (socket) => sockets.push(socket));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(async () => {
    agent.destroy();
    await app.close();
  });
  const profile = () =>
    new Promise<number | undefined>((resolve, reject) => {
      const path = '/debug/pprof/profile?seconds=0.001';
      get({ host: '127.0.0.1', port, path, agent }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode));
      }).on('error', reject);
    });
  const counts: number[] = [];
  for (let i = 0; i < 4; i++) {
    assert.equal(await profile(), 200);
    counts.push(sockets[0]?.listenerCount('close') ?? -1);
  }
  assert.equal(sockets.length, 1);
  assert.deepEqual(new Set(counts).size, 1, `listeners after each: ${counts.join()}`);
});
