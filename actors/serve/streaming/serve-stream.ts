import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import { ERRNO_WORDS } from '../../host/files/errno-words.ts';
import type { Upgrade } from '../server/upgrade.ts';
import { dialUpgrade } from '../remote-command/dial-upgrade.ts';
import type { DialOptions, UpgradeAnswer } from '../remote-command/dial-upgrade.ts';
import type { BridgeOptions } from './bridges.ts';
import { answered, sendProxyError } from './refusal.ts';
import { KeptBuffer } from './kept-buffer.ts';
import type { StreamSignals } from './open-streams.ts';
import { splice } from './splice.ts';
import { streamingTarget, targetHeaders } from './target-request.ts';

/** Where a stream is to be had. */
export interface StreamPlan {
  /** The address on the runtime's streaming server, as the runtime gave it. */
  address: string;
  /** Set when the client speaks what the runtime does not; else the connections are joined as they are. */
  bridge?: (options: BridgeOptions) => Promise<void>;
}

/** Settings of {@link serveStream}. */
export interface ServeStreamOptions extends StreamSignals {
  upgrade: Upgrade;
  log: Logger;
  /** See `AskUpgradeOptions`. */
  ca?: readonly string[];
}

/** A runtime that refuses has this long to say why (ms), as with kubelet. */
const PLAIN_ANSWER_MS = 10_000;

/** What a bridge has for its farewell once it is to end, ms. */
const GOODBYE_MS = 1_000;

/**
 * Answers an upgrade request with a stream of the runtime, as k8s.io/apimachinery's UpgradeAwareHandler does; resolves
 * when the stream is over. Before the runtime has agreed, errors are plain answers.
 */
export async function serveStream(
  request: FastifyRequest,
  reply: FastifyReply,
  plan: StreamPlan,
  { upgrade, signal, stop, log, ca }: ServeStreamOptions,
): Promise<void> {
  let target: URL;
  try {
    target = streamingTarget(plan.address);
    if (plan.bridge === undefined) {
      let kept: KeptBuffer | undefined;
      const connect = (host: string, port: number): Socket => {
        kept = new KeptBuffer(host, port);
        return kept.socket;
      };
      const answer = await askUpgrade(request.raw, target, { signal, ca, connect });
      if (answer.kind === 'plain') await passOn(answer.response, reply, log);
      else await join({ ...answer, kept }, takeOver(reply, upgrade.socket), upgrade.head, stop, log);
      return;
    }
  } catch (error) {
    const text = messageOf(error);
    log.warn({ err: error, path: pathOf(request) }, 'Error while proxying request');
    if (upgrade.socket.destroyed || reply.sent) reply.hijack();
    else {
      void sendProxyError(reply, text);
      await answered(reply);
    }
    return;
  }
  const socket = takeOver(reply, upgrade.socket);
  // A bridge says goodbye in its protocol; a client that does not answer must not hold up a server that stops.
  let late: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    late = setTimeout(() => socket.destroy(), GOODBYE_MS);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await plan.bridge({ client: { request: request.raw, socket, head: upgrade.head }, target, log, signal });
  } catch (error) {
    log.warn({ err: error, path: pathOf(request) }, 'Error while bridging a stream');
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearTimeout(late);
    // Only after its last bytes: they may be the reason of a refusal.
    if (socket instanceof Socket) socket.destroySoon();
    else socket.destroy();
  }
}

/** The query is left out: commands may hold secrets. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

/** From here on the connection is the stream's: fastify and Node's response forget it. */
function takeOver(reply: FastifyReply, socket: Duplex): Duplex {
  reply.hijack();
  if (socket instanceof Socket && reply.raw.socket === socket) reply.raw.detachSocket(socket);
  return socket;
}

async function join(
  runtime: { response: IncomingMessage; socket: Duplex; head: Buffer; kept: KeptBuffer | undefined },
  client: Duplex,
  clientHead: Buffer,
  stop: AbortSignal,
  log: Logger,
): Promise<void> {
  client.write(headOf(runtime.response), 'latin1');
  if (runtime.head.length > 0) client.write(runtime.head);
  if (clientHead.length > 0) runtime.socket.write(clientHead);
  const { error, ...counts } = await splice(client, runtime.socket, { signal: stop, kept: runtime.kept });
  log.debug({ err: error, ...counts }, 'stream ended');
}

/** The head of a response as it came, byte by byte. */
function headOf({ statusCode, statusMessage, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/${httpVersion} ${String(statusCode ?? 0)} ${statusMessage ?? ''}`];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i] ?? ''}: ${rawHeaders[i + 1] ?? ''}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Headers that concern one connection, not the answer. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-connection']);

/** Hands an error answer of the runtime to the client; any other answer is not one to an upgrade request. */
async function passOn(response: IncomingMessage, reply: FastifyReply, log: Logger): Promise<void> {
  const status = response.statusCode ?? 0;
  if (status < 400) {
    response.destroy();
    const text = `invalid upgrade response: status code ${String(status)}`;
    log.warn({ err: new Error(text) }, 'Error while proxying request');
    void sendProxyError(reply, text);
    await answered(reply);
    return;
  }
  const late = setTimeout(() => response.destroy(new Error('the answer takes too long')), PLAIN_ANSWER_MS);
  response.once('close', () => {
    clearTimeout(late);
  });
  for (const [name, value] of Object.entries(response.headers)) {
    if (!OF_CONNECTION.has(name) && value !== undefined) reply.header(name, value);
  }
  void reply.code(status).header('connection', 'close').send(response);
  await answered(reply);
}

/**
 * Sends the client's upgrade request on to the runtime's streaming server, with the target's path and query and the
 * client's headers.
 * @throws Error with the words that kubelet has for a connection that failed
 */
async function askUpgrade(
  client: IncomingMessage,
  target: URL,
  options: Pick<DialOptions, 'signal' | 'ca' | 'connect'>,
): Promise<UpgradeAnswer> {
  try {
    return await dialUpgrade(target, { method: client.method, headers: targetHeaders(client), ...options });
  } catch (error) {
    if (options.signal.aborted) throw new Error('context canceled', { cause: error });
    throw error instanceof Error ? inGoWords(error, target) : error;
  }
}

/** Codes of a connection that was never there. */
const NOT_DIALED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

function inGoWords(error: Error, target: URL): Error {
  const code = 'code' in error ? String(error.code) : '';
  const words = NOT_DIALED.has(code) ? ERRNO_WORDS[code] : undefined;
  if (words !== undefined) {
    const address = `${target.hostname}:${target.port || (target.protocol === 'https:' ? '443' : '80')}`;
    return new Error(`error dialing backend: dial tcp ${address}: connect: ${words}`, { cause: error });
  }
  if (code === 'ECONNRESET') return new Error('unexpected EOF', { cause: error });
  if (code.startsWith('HPE_')) return new Error(`malformed HTTP response: ${error.message}`, { cause: error });
  return new Error(`error dialing backend: ${error.message}`, { cause: error });
}
