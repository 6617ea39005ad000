import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { GoUrl } from '../../../machines/values/go-url.ts';
import { hostAndPort } from '../../../machines/values/go-url.ts';
import { hostPort } from '../../../machines/values/host-port.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { HostFailure, codeOf } from '../../host/files/host-failure.ts';
import { nameLookup } from './look-up.ts';
import { dialText, streamText } from './net-failure.ts';
import { textOf } from './request-head.ts';

/** A connection for one request. */
export interface ProbeConnection {
  socket: Socket;
  /** The peer has chosen HTTP/2. */
  http2: boolean;
  /** What the stream failed of, in Go's words: `read tcp A->B: read: connection reset by peer`. */
  streamText: (error: unknown) => string;
}

/**
 * Opens a connection to the host of a URL; certificates are not verified, there is no proxy. `signal` destroys it, also when it
 * stands.
 *
 * @throws HostFailure an errno, or `HTTPResponseToHTTPSClient` (the port does not speak TLS); the text is Go's. What the signal
 *   brings about is any of them.
 */
export async function dial(url: GoUrl, signal: AbortSignal): Promise<ProbeConnection> {
  const secure = url.scheme === 'https';
  const { hostname, port: named } = hostAndPort(url);
  const host = textOf(hostname);
  const port = Number(named || (secure ? 443 : 80));
  const address = hostPort(host, port);
  if (host === '') throw new HostFailure('Http', 'http: no Host in request URL');
  if (port > 65535) throw new HostFailure('Http', `dial tcp: address ${port}: invalid port`);
  const tcp = connect({ host, port, lookup: nameLookup() });
  await opened(
    tcp,
    'connect',
    signal,
    (error) => new HostFailure(codeOf(error) || 'Unknown', dialText(address, error)),
  );
  const from = hostPort(tcp.localAddress ?? '', tcp.localPort ?? 0);
  const text = (error: unknown) => streamText(from, address, error);
  if (!secure) return { socket: tcp, http2: false, streamText: text };
  const tls = connectTls({
    socket: tcp,
    rejectUnauthorized: false,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  await opened(tls, 'secureConnect', signal, (error) => tlsFailure(error, text));
  return { socket: tls, http2: tls.alpnProtocol === 'h2', streamText: text };
}

function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
  explain: (error: unknown) => HostFailure,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays: what happens to a socket that nobody reads any more is nobody's business.
    socket.on('error', (error) => reject(explain(error)));
    socket.once('close', () => reject(explain(new Error('EOF'))));
    socket.once(event, () => resolve());
    if (signal.aborted) socket.destroy();
    else signal.addEventListener('abort', () => socket.destroy(), { once: true });
  });
}

function tlsFailure(error: unknown, text: (error: unknown) => string): HostFailure {
  const words = messageOf(error);
  // OpenSSL's words for an answer that is no TLS record; the code is sometimes only EPROTO.
  if (/wrong version number|packet length too long/.test(words))
    return new HostFailure('HTTPResponseToHTTPSClient', 'http: server gave HTTP response to HTTPS client', {
      cause: error,
    });
  // Node's words for a peer that closed before the handshake was over.
  if (/before secure TLS connection was established/.test(words))
    return new HostFailure('Http', 'EOF', { cause: error });
  return new HostFailure(codeOf(error) || 'Http', text(error), { cause: error });
}
