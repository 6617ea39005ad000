import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { refuseOtherMethods } from './http-app.ts';
import { serverErrors } from '../../../machines/errors/server-errors.ts';
import { hostPort } from '../../../machines/values/host-port.ts';

/** Where a server listens. */
export interface ListenOptions {
  /** IP address, as `healthzBindAddress` or `address` of the configuration. */
  address: string;
  /** 0 picks a free port: "off" is the caller's business. */
  port: number;
  log: Logger;
}

/** A server that listens. */
export interface RunningServer {
  /** Base address without a slash at the end, e.g. `http://127.0.0.1:10255`. */
  readonly url: string;
  readonly port: number;
  /** Stops listening, lets running answers end for at most `CLOSE_GRACE_MS`, then cuts them off. */
  close(): Promise<void>;
}

const CLOSE_GRACE_MS = 2_000;

/**
 * Starts to listen.
 * @param server word for messages: `healthz`, `read-only`
 * @param field configuration field of the port, for the cure
 * @throws ActorletError SRV001 when the port cannot be had
 */
export async function listen(
  app: FastifyInstance,
  { address, port, log }: ListenOptions,
  server: string,
  field: string,
): Promise<RunningServer> {
  const sockets = openSockets(app.server);
  await refuseOtherMethods(app);
  try {
    await app.listen({ host: address, port });
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    await app.close();
    throw new ActorletError(serverErrors.cannotListen, { server, address, port, reason, field }, { cause });
  }
  const bound = app.server.address();
  const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  const url = `http://${hostPort(address, boundPort)}`;
  log.info({ url }, `Starting to listen: ${server}`);
  return {
    url,
    port: boundPort,
    async close() {
      const cut = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, CLOSE_GRACE_MS);
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
      }
    },
  };
}

/**
 * The connections of a server that are open. Node's `closeAllConnections` knows those only that speak HTTP: not one whose TLS has not been set up, nor
 * one that asked for another protocol and is answered without.
 */
function openSockets(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}
