import http from 'node:http';
import https from 'node:https';
import { tlsOptions } from './tls-connect.ts';
import { TransportError } from './transport.ts';
import type { Socket } from 'node:net';
import type { Identity } from './credentials.ts';
import type { Kubeconfig } from './kubeconfig.ts';
import type { HttpAnswer, HttpRequest, Transport } from './transport.ts';

/** HTTP/1.1 over kept-alive connections: plain `http://`, and servers behind proxies that offer no HTTP/2. */
export class H1Transport implements Transport {
  private readonly kubeconfig: Kubeconfig;
  private agent: http.Agent | undefined;
  private identity: Identity = {};

  constructor(kubeconfig: Kubeconfig) {
    this.kubeconfig = kubeconfig;
  }

  send(request: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const { server } = this.kubeconfig;
      const { method, path, headers, signal, body } = request;
      const make = server.protocol === 'https:' ? https.request : http.request;
      const host = server.hostname.replace(/^\[|\]$/g, '');
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const outgoing = make({
        host,
        port: server.port || undefined,
        method,
        path,
        headers: { ...headers, ...length },
        agent: this.agentFor(request.identity),
        signal,
      });
      outgoing.on('socket', (socket: Socket) => socket.setKeepAlive(true, 30_000));
      outgoing.on('error', (error) => {
        // Nothing reached the server when the connection could not even be made.
        reject(new TransportError(error, outgoing.socket?.connecting !== false, outgoing.reusedSocket));
      });
      outgoing.on('response', (incoming) => {
        const whole = (): boolean => incoming.complete;
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming, whole });
      });
      outgoing.end(body);
    });
  }

  close(): void {
    this.agent?.destroy();
    this.agent = undefined;
  }

  private agentFor(identity: Identity): http.Agent {
    const changed = this.identity.cert !== identity.cert || this.identity.key !== identity.key;
    if (this.agent !== undefined && !changed) return this.agent;
    this.identity = identity;
    if (this.agent !== undefined) retire(this.agent);
    const kept = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 8, scheduling: 'lifo' as const };
    this.agent =
      this.kubeconfig.server.protocol === 'https:'
        ? new https.Agent({ ...tlsOptions(this.kubeconfig, identity), ...kept })
        : new http.Agent(kept);
    return this.agent;
  }
}

/** Connections in use go on to their end; idle ones of the old certificate are given up. */
function retire(agent: http.Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
