import { request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What the runtime's streaming server answered: another protocol from now on, or a plain answer with a body. */
export type UpgradeAnswer =
  | { kind: 'switched'; response: IncomingMessage; socket: Duplex; head: Buffer }
  | { kind: 'plain'; response: IncomingMessage };

/** Settings of {@link dialUpgrade}. */
export interface DialOptions {
  method: string | undefined;
  headers: RequestOptions['headers'];
  /** Ends the wait, and a plain answer; a connection that has switched is the caller's business. */
  signal: AbortSignal;
  /** Longest silence before the answer, ms; none when absent. */
  timeoutMs?: number;
  /** Certificates that vouch for an `https` streaming server; Node's and the system's when absent, as with kubelet. */
  ca?: readonly string[] | undefined;
  /** Connects to a plain `http` server in Node's place. */
  connect?: ((host: string, port: number) => Socket) | undefined;
}

/** Sends a request that asks the runtime's streaming server for another protocol. Rejects with Node's errors. */
export async function dialUpgrade(target: URL, options: DialOptions): Promise<UpgradeAnswer> {
  const { method, headers, signal, timeoutMs = 0, ca, connect } = options;
  // A connection of its own: it is given away.
  const settings: RequestOptions & { ca?: string[] } = { method, headers, signal, agent: false, timeout: timeoutMs };
  let send = httpRequest;
  if (target.protocol === 'https:') {
    const [https, tls] = await Promise.all([import('node:https'), import('node:tls')]);
    send = https.request;
    settings.ca = [...(ca ?? [...tls.getCACertificates('default'), ...tls.getCACertificates('system')])];
  } else if (connect !== undefined) {
    // Any agent, even none for this one request (`false`), would connect by itself.
    delete settings.agent;
    settings.createConnection = ({ host, port }) => connect(host ?? 'localhost', Number(port ?? 80));
  }
  return new Promise((resolve, reject) => {
    const request = send(target, settings);
    request.once('upgrade', (response, socket: Socket, head) => {
      // What was set for the dial would end an idle session.
      socket.setTimeout(0);
      resolve({ kind: 'switched', response, socket, head });
    });
    request.once('response', (response) => resolve({ kind: 'plain', response }));
    request.once('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)));
    request.on('error', reject);
    request.once('socket', (socket: Socket) => socket.setNoDelay(true));
    request.end();
  });
}
