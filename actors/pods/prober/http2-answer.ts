import { connect } from 'node:http2';
import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import type { GoUrl } from '../../../machines/values/go-url.ts';
import { requestTarget } from '../../../machines/values/go-url.ts';
import { EndOfStream, Gathered } from './answer-bytes.ts';
import { BadAnswer } from './answer-head.ts';
import { hostHeader } from './request-head.ts';
import type { Headers } from './request-head.ts';

/** The beginning of an answer over HTTP/2; the stream gives its body. */
export interface Http2Answer {
  status: number;
  /** First `location`; '' when there is none. */
  location: string;
  /** Bytes that the body is said to have. */
  length: number | undefined;
  stream: ClientHttp2Stream;
}

/** Headers of HTTP/1 connections, which must not be sent over HTTP/2. */
const OF_CONNECTIONS = new Set(['connection', 'proxy-connection', 'transfer-encoding', 'upgrade', 'keep-alive']);
/** What Go's client writes itself. */
const OWN = new Set(['host', 'content-length', 'trailer']);

/**
 * Sends a GET over a TLS connection whose peer has chosen HTTP/2, as kubelet's transport does, and waits for the head of the answer.
 * Rejects when the connection or the stream ends before; a socket that is destroyed ends both.
 */
export function askHttp2(socket: Socket, url: GoUrl, host: string, headers: Headers): Promise<Http2Answer> {
  const out: OutgoingHttpHeaders = {
    ':method': 'GET',
    ':path': requestTarget(url),
    ':scheme': 'https',
    ':authority': hostHeader(host || url.host),
  };
  for (const [name, values] of headers) {
    const key = name.toLowerCase();
    if (!OF_CONNECTIONS.has(key) && !OWN.has(key)) out[key] = key === 'user-agent' ? values[0] : values;
  }
  return new Promise((resolve, reject) => {
    const session = connect(`https://${url.host}`, {
      createConnection: () => socket,
      settings: { enablePush: false },
    });
    session.on('error', reject);
    session.once('close', () => reject(new Error('EOF')));
    const stream = session.request(out, { endStream: true });
    // What it failed of is told when it is closed.
    stream.on('error', () => undefined);
    stream.once('close', () => reject(stream.rstCode ? fault(stream) : new Error('EOF')));
    stream.once('response', (answer: IncomingHttpHeaders & { ':status'?: number }) =>
      resolve({
        status: answer[':status'] ?? 0,
        location: answer.location ?? '',
        length: answer['content-length'] === undefined ? undefined : Number(answer['content-length']),
        stream,
      }),
    );
  });
}

/** Reads a body until its end or `most` bytes. `broken` is what the stream failed of. */
export function readHttp2Body(stream: ClientHttp2Stream, most: number): Promise<{ body: Buffer; broken?: unknown }> {
  const body = new Gathered();
  return new Promise((resolve) => {
    let ended = false;
    stream.on('data', (chunk: Buffer) => {
      body.add(chunk.subarray(0, most - body.length));
      if (body.length >= most) resolve({ body: body.bytes });
    });
    // Node tells an end also of a stream that was reset; only when it is closed it is known which it was.
    stream.once('end', () => (ended = true));
    stream.once('close', () =>
      resolve(
        ended && !stream.aborted && !stream.rstCode
          ? { body: body.bytes }
          : { body: body.bytes, broken: fault(stream) },
      ),
    );
    if (stream.closed && stream.destroyed) resolve({ body: body.bytes, broken: fault(stream) });
  });
}

/** Codes of RST_STREAM by number (RFC 9113, 7). */
const CODES = [
  ...['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT', 'STREAM_CLOSED'],
  ...['FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR', 'ENHANCE_YOUR_CALM'],
  ...['INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'],
];

/** What ended a stream before its time, in the words of Go's HTTP/2. */
function fault({ id = 1, rstCode = 0 }: ClientHttp2Stream): Error {
  if (rstCode === 0) return new EndOfStream();
  const name = CODES[rstCode] ?? `unknown error code 0x${rstCode.toString(16)}`;
  return new BadAnswer(`stream error: stream ID ${id}; ${name}; received from peer`);
}
