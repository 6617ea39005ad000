import { createServer } from 'node:net';
import type { Server } from 'node:net';

/** `count` different ports of 127.0.0.1 that nobody listens on right now. */
export async function freePorts(count: number): Promise<number[]> {
  // all are held at once, so that none is given twice
  const servers = await Promise.all(Array.from({ length: count }, listenAnywhere));
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listenAnywhere(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
