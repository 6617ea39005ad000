/** Numbers of the channels of `*.channel.k8s.io`: the first byte of each message. */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

/** First byte of the message by which a client half-closes a channel; `v5.channel.k8s.io` only (KEP-4006). */
const CLOSE_SIGNAL = 255;

/** What a client's message says. */
export type ChannelMessage =
  { kind: 'data'; channel: number; data: Buffer } | { kind: 'close'; channel: number } | { kind: 'ignore' } | Violation;

/** A message after which the connection is ended. */
interface Violation {
  kind: 'violation';
  reason: string;
}

/** Reads a message of a client as k8s.io/apimachinery's wsstream does; `canClose`: the protocol is v5. */
export function readChannelMessage(message: Buffer, canClose: boolean): ChannelMessage {
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
export function channelMessage(channel: number, data: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(1 + data.length);
  out[0] = channel;
  out.set(data, 1);
  return out;
}
