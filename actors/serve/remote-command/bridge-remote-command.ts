import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { messageOf } from '../../../machines/values/message-of.ts';
import { SpdyConnection } from '../spdy/spdy-connection.ts';
import type { SpdyStream } from '../spdy/spdy-stream.ts';
import { CHANNEL } from './channels.ts';
import { acceptWebSocket } from './accept-websocket.ts';
import type { UpgradeClient } from './accept-websocket.ts';
import { dialForClient } from './dial-for-client.ts';
import { messageBytes, sendBinary } from './websocket-writer.ts';
import { internalErrorStatus, SUCCESS_STATUS } from './session-status.ts';

/** What an exec or attach asked for: `stdin`, `stdout`, `stderr` and `tty` of its URL. */
export interface CommandStreams {
  stdin: boolean;
  stdout: boolean;
  /** Without meaning when there is a terminal: its output is all stdout. */
  stderr: boolean;
  tty: boolean;
}

/** One exec or attach of a WebSocket client. */
export interface RemoteCommandSession {
  client: UpgradeClient;
  /** What the client and we agreed on; v5 has the signal that half-closes stdin. */
  protocol: 'v5.channel.k8s.io' | 'v4.channel.k8s.io';
  /** The URL that the runtime gave for this session (http or https). */
  target: URL;
  options: CommandStreams;
  log: Logger;
  /** Ends the session. */
  signal: AbortSignal;
  /** Called for every message in either direction, for an idle timeout. */
  onActivity?: () => void;
}

type ChannelName = keyof typeof CHANNEL;
type Streams = Map<ChannelName, SpdyStream>;

const RUNTIME_PROTOCOL = 'v4.channel.k8s.io';

/** The longest status that is taken from a runtime. */
const MAX_STATUS_BYTES = 1024 * 1024;

/**
 * Serves an exec or attach of a WebSocket client by the runtime's SPDY streams, as the API server's stream translator
 * does: containerd 1.6's own WebSocket ends at v4, where a client cannot say that its stdin is over (KEP-4006).
 * Answers the client's handshake after the runtime's, so that a refusal reaches the client as a plain HTTP answer.
 * Resolves when both connections are over, and never rejects: what went wrong is told to the client, on the error
 * channel when it is connected, and to the log.
 */
export async function bridgeRemoteCommand(session: RemoteCommandSession): Promise<void> {
  const { client, protocol, target, options, log, signal } = session;
  const answer = await dialForClient(client, target, [RUNTIME_PROTOCOL], log, signal);
  if (answer === undefined) return;
  const ws = await acceptWebSocket(client, protocol);
  if (ws === undefined) {
    answer.socket.destroy();
    return;
  }
  const closed = new Promise((resolve) => ws.once('close', resolve));
  const spdy = new SpdyConnection(answer.socket, { role: 'client', head: answer.head });
  ws.once('close', () => spdy.close());
  const stop = () => {
    ws.close(1001);
    spdy.close();
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) stop();
    // tells the client that the connection stands, as wsstream does
    const first = options.stdout ? CHANNEL.stdout : options.stderr ? CHANNEL.stderr : CHANNEL.error;
    await sendBinary(ws, channelMessage(first, Buffer.alloc(0)));
    const status = await runCommand(session, ws, spdy);
    await sendBinary(ws, channelMessage(CHANNEL.error, Buffer.from(status)));
    ws.close(1000);
    spdy.close();
    ws.resume(); // to read the client's own close
    await closed;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Copies until the runtime is done; returns the status for the client. */
async function runCommand(session: RemoteCommandSession, ws: WebSocket, spdy: SpdyConnection): Promise<string> {
  const { options, log, onActivity } = session;
  try {
    const streams = await openStreams(spdy, options);
    copyFromClient(session, ws, streams);
    for (const name of ['stdin', 'resize'] as const) streams.get(name)?.resume(); // nothing comes, but their end
    const [status] = await Promise.all([
      readStatus(streams.get('error')),
      ...(['stdout', 'stderr'] as const).map((name) => copyToClient(ws, streams.get(name), CHANNEL[name], onActivity)),
    ]);
    if (typeof status === 'string' && status !== '') return status;
    if (streams.get('error')?.peerFinished !== true) throw (await spdy.closed) ?? new Error('the session was closed');
    return SUCCESS_STATUS;
  } catch (error) {
    if (ws.readyState === ws.OPEN) log.warn({ err: error }, 'a session with the runtime broke');
    return internalErrorStatus(messageOf(error));
  }
}

/** Opens the streams in client-go's order; the runtime waits for exactly these. */
async function openStreams(spdy: SpdyConnection, options: CommandStreams): Promise<Streams> {
  const streams: Streams = new Map();
  const open = async (name: ChannelName): Promise<void> => {
    streams.set(name, await spdy.openStream(new Map([['streamtype', name]])));
  };
  await open('error');
  if (options.stdin) await open('stdin');
  if (options.stdout) await open('stdout');
  if (options.stderr && !options.tty) await open('stderr');
  if (options.tty) await open('resize');
  return streams;
}

/** Passes on stdin and terminal sizes; a WebSocket whose stdin is not taken is not read, as in wsstream. */
function copyFromClient(session: RemoteCommandSession, ws: WebSocket, streams: Streams): void {
  const canClose = session.protocol === 'v5.channel.k8s.io';
  const behind = new Set<SpdyStream>();
  const inputOf = (channel: number): SpdyStream | undefined => {
    if (channel === CHANNEL.stdin) return streams.get('stdin');
    return channel === CHANNEL.resize ? streams.get('resize') : undefined;
  };
  const caughtUp = (stream: SpdyStream): void => {
    if (behind.delete(stream) && behind.size === 0) ws.resume();
  };
  for (const name of ['stdin', 'resize'] as const) {
    const stream = streams.get(name);
    stream?.on('drain', () => caughtUp(stream));
    // A stream that was ended while it was behind tells no 'drain' any more.
    stream?.on('finish', () => caughtUp(stream));
    stream?.on('close', () => caughtUp(stream));
  }
  ws.on('message', (data) => {
    session.onActivity?.();
    const message = readChannelMessage(messageBytes(data), canClose);
    if (message.kind === 'ignore') return;
    if (message.kind === 'violation') {
      session.log.warn({ reason: message.reason }, 'a client broke the channel protocol');
      ws.close(1002, message.reason);
      return;
    }
    const stream = inputOf(message.channel);
    if (stream === undefined || stream.writableEnded || stream.destroyed) return;
    if (message.kind === 'close') stream.end();
    else if (message.data.length > 0 && !stream.write(message.data)) {
      behind.add(stream);
      ws.pause();
    }
  });
  ws.resume();
}

async function copyToClient(
  ws: WebSocket,
  stream: SpdyStream | undefined,
  channel: number,
  onActivity: (() => void) | undefined,
): Promise<void> {
  if (stream === undefined) return;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    onActivity?.();
    await sendBinary(ws, channelMessage(channel, chunk));
  }
}

/** The `metav1.Status` on the error stream, as the runtime wrote it; empty when it wrote none. */
async function readStatus(stream: SpdyStream | undefined): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  if (stream === undefined) return '';
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_STATUS_BYTES) parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** First byte of the message by which a client half-closes a channel; `v5.channel.k8s.io` only (KEP-4006). */
const CLOSE_SIGNAL = 255;

/** What a client's message says. */
type ChannelMessage =
  { kind: 'data'; channel: number; data: Buffer } | { kind: 'close'; channel: number } | { kind: 'ignore' } | Violation;

/** A message after which the connection is ended. */
interface Violation {
  kind: 'violation';
  reason: string;
}

/** Reads a message of a client as k8s.io/apimachinery's wsstream does; `canClose`: the protocol is v5. */
function readChannelMessage(message: Buffer, canClose: boolean): ChannelMessage {
  const channel = message[0];
  if (channel === undefined) return { kind: 'ignore' };
  if (canClose && channel === CLOSE_SIGNAL) {
    const closed = message[1];
    if (closed === undefined || message.length !== 2) {
      return { kind: 'violation', reason: `one channel must follow the close signal, not ${message.length - 1} bytes` };
    }
    if (closed > CHANNEL.resize) return { kind: 'violation', reason: `there is no channel ${closed} to close` };
    return { kind: 'close', channel: closed };
  }
  if (channel > CHANNEL.resize) return { kind: 'ignore' };
  return { kind: 'data', channel, data: message.subarray(1) };
}

/** A message of the server: the channel's number and the bytes. */
function channelMessage(channel: number, data: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(1 + data.length);
  out[0] = channel;
  out.set(data, 1);
  return out;
}
