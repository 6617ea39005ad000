import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import type { Identity } from './credentials.ts';
import type { Kubeconfig } from './kubeconfig.ts';

/** Longest wait for TCP and TLS to be set up, in ms. */
const connectMs = 10_000;

/** TLS options for the server of a kubeconfig and an identity, with files as they are now. */
export function tlsOptions(kubeconfig: Kubeconfig, identity: Identity): ConnectionOptions {
  const { server, serverName, insecure } = kubeconfig;
  const host = server.hostname.replace(/^\[|\]$/g, '');
  const name = serverName ?? host;
  // An IP address is no server name in TLS; Node then checks the certificate against `host`.
  const isIp = /^[\d.]+$/.test(name) || name.includes(':');
  return {
    host,
    port: Number(server.port || 443),
    ca: kubeconfig.ca(),
    cert: identity.cert,
    key: identity.key,
    rejectUnauthorized: !insecure,
    servername: isIp ? '' : name,
  };
}

/** Connects; resolves when TLS is set up and the server's certificate was accepted. */
export function connectTls(options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect(options);
    const timer = setTimeout(() => {
      socket.destroy(new Error(`no connection within ${String(connectMs / 1000)} s`));
    }, connectMs);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.off('error', reject);
      socket.setKeepAlive(true, 30_000);
      socket.setNoDelay(true);
      resolve(socket);
    });
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(timer);
      reject(new Error('the connection was closed while it was set up'));
    });
  });
}
