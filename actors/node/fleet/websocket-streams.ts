import { Duplex } from 'node:stream';
import { acceptWebSocket } from '../../serve/remote-command/accept-websocket.ts';
import type { UpgradeClient } from '../../serve/remote-command/accept-websocket.ts';
import { CHANNEL } from '../../serve/remote-command/channels.ts';
import { sendBinary, sendText } from '../../serve/remote-command/websocket-writer.ts';
import { offeredProtocols } from '../../serve/streaming/protocols.ts';
import type { AgreedStream } from './agreed-stream.ts';

/** How a sub-protocol of remotecommand says things (k8s.io/kubelet/pkg/cri/streaming/remotecommand/websocket.go). */
interface Saying {
  /** Texts: the channel's digit and base64, for clients that take no bytes. */
  base64: boolean;
  /** Errors are words; a `metav1.Status` since the fourth version. */
  inWords: boolean;
}
/** A client that offers none speaks the first. Newer ones than these come as SPDY. */
const PROTOCOLS: Partial<Record<string, Saying>> = {
  '': { base64: false, inWords: true },
  'channel.k8s.io': { base64: false, inWords: true },
  'base64.channel.k8s.io': { base64: true, inWords: true },
  'v4.channel.k8s.io': { base64: false, inWords: false },
  'v4.base64.channel.k8s.io': { base64: true, inWords: false },
};
/** The first byte of a message, by a stream's kind. */
const NUMBERS: Readonly<Record<string, number>> = CHANNEL;

/** What the client and this server can both speak, by the client's order; undefined: nothing. */
export function channelProtocol({ request }: UpgradeClient): string | undefined {
  const offered = offeredProtocols(request.headers);
  return (offered.length === 0 ? [''] : offered).find((each) => PROTOCOLS[each] !== undefined);
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
  const { base64, inWords } = PROTOCOLS[protocol] ?? { base64: false, inWords: true };
  const say = (number: number, bytes: Buffer): Promise<void> | undefined =>
    base64
      ? sendText(ws, `${number}${bytes.toString('base64')}`)
      : sendBinary(ws, Buffer.concat([Buffer.of(number), bytes]));
  const wanted = kinds ?? [];
  // Nothing, of the first stream that can be written to: by it the client knows that the connection stands.
  void say(CHANNEL[(['stdout', 'stderr'] as const).find((kind) => wanted.includes(kind)) ?? 'error'], Buffer.alloc(0));
  const streams = wanted.map((kind): [string, Duplex] => {
    const told = kind === 'error' && inWords ? wordsOf : (bytes: Buffer) => bytes;
    return [kind, channel((bytes) => (bytes.length === 0 ? undefined : say(NUMBERS[kind] ?? 0, bytes)), told)];
  });
  try {
    await serve(new Map(streams), closed);
  } finally {
    ws.close(1000);
  }
}

/** @param say tells the client the bytes; settles when more may be said @param told what of the bytes the client is told; nothing when there are none */
function channel(say: (bytes: Buffer) => Promise<void> | undefined, told: (bytes: Buffer) => Buffer): Duplex {
  return new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => void Promise.resolve(say(told(chunk))).then(() => done()),
  });
}

/** Of a status its message, and nothing of a success. */
function wordsOf(status: Buffer): Buffer {
  const { message = '' } = JSON.parse(status.toString()) as { message?: string };
  return Buffer.from(message);
}
