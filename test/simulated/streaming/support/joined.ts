import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { waitFor } from '../../../tools/wait-for.ts';
import { makeTestCertificate } from './certificate.ts';
import { fakeRuntime, webPod } from './fake-runtime.ts';
import { startFakeStreamingServer, SWITCHING } from './fake-streaming-server.ts';
import { rawClient, upgradeRequest } from './raw-client.ts';
import { startStreamingApp } from './streaming-app.ts';

const tls = await makeTestCertificate();
/** Of client and of runtime; kubectl's way is the first: TLS to us, none to the runtime. */
export const ways = [
  ['TLS', 'plain'],
  ['plain', 'plain'],
  ['TLS', 'TLS'],
] as const;

/** Joins a client and a runtime, hands both ends over, and waits until nothing is open. */
export async function joined(
  [near, far]: (typeof ways)[number],
  body: (client: Socket, runtime: Duplex) => Promise<void>,
): Promise<void> {
  const switched = Promise.withResolvers<Duplex>();
  const server = await startFakeStreamingServer(
    (_request, socket) => {
      if ('allowHalfOpen' in socket) socket.allowHalfOpen = true;
      socket.write(SWITCHING);
      switched.resolve(socket);
    },
    far === 'TLS' ? tls : undefined,
  );
  const { cri } = fakeRuntime(() => `${server.url}/exec/token`);
  const app = await startStreamingApp(
    { node: { podNamed: () => webPod }, cri, ca: [tls.cert] },
    near === 'TLS' ? tls : undefined,
  );
  const client = await rawClient(app.port, near === 'TLS' ? tls.cert : undefined);
  try {
    client.socket.write(upgradeRequest('/exec/ns/web/app?command=x&output=1'));
    await client.until('\r\n\r\n');
    client.socket.removeAllListeners('data');
    await body(client.socket, await switched.promise);
    const open = () => app.routes.open + app.sockets.size + server.sockets.size;
    await waitFor('nothing to be open', () => (open() === 0 ? true : undefined));
  } finally {
    client.socket.destroy();
    await app.close();
    await server.close();
  }
}
