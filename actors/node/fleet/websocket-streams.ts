import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { acceptWebSocket } from '../../serve/remote-command/accept-websocket.ts';
import type { UpgradeClient } from '../../serve/remote-command/accept-websocket.ts';
import { CHANNEL } from '../../serve/remote-command/channels.ts';
import { sendBinary } from '../../serve/remote-command/websocket-writer.ts';
import { offeredProtocols } from '../../serve/streaming/protocols.ts';
import type { AgreedStream } from './agreed-stream.ts';

/** The first of remotecommand, whose errors are words, and the one whose errors are a `metav1.Status`. Newer ones come as SPDY. */
const PROTOCOLS = ['channel.k8s.io', 'v4.channel.k8s.io'] as const;
/** The first byte of a message, by a stream's kind. */
const NUMBERS: Readonly<Record<string, number>> = CHANNEL;

/** What the client and this server can both speak; undefined: nothing. */
export function channelProtocol({ request }: UpgradeClient): string | undefined {
  return offeredProtocols(request.headers).find((each) => (PROTOCOLS as readonly string[]).includes(each));
}

/** Serves a command's streams over a WebSocket, as the API server hands older clients on. What the client sends goes nowhere. */
export async function serveOverWebSocket(
  client: UpgradeClient,
  protocol: string,
  { kinds, serve }: AgreedStream,
): Promise<void> {
  const ws = await acceptWebSocket(client, protocol);
  if (ws === undefined) return;
  const closed = new Promise((resolve) => ws.once('close', resolve));
  ws.on('message', () => undefined);
  ws.resume();
  const inWords = protocol === PROTOCOLS[0];
  const streams = (kinds ?? []).map((kind): [string, Duplex] => [
    kind,
    channel(ws, NUMBERS[kind] ?? 0, kind === 'error' && inWords ? wordsOf : (bytes) => bytes),
  ]);
  try {
    await serve(new Map(streams), closed);
  } finally {
    ws.close(1000);
  }
}

/** @param told what of the bytes the client is told; nothing when there are none */
function channel(ws: WebSocket, number: number, told: (bytes: Buffer) => Buffer): Duplex {
  return new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      const bytes = told(chunk);
      const sent = bytes.length === 0 ? undefined : sendBinary(ws, Buffer.concat([Buffer.of(number), bytes]));
      void Promise.resolve(sent).then(() => done());
    },
  });
}

/** Of a status its message, and nothing of a success. */
function wordsOf(status: Buffer): Buffer {
  const { message = '' } = JSON.parse(status.toString()) as { message?: string };
  return Buffer.from(message);
}
