import { HeaderCompressor } from './header-block.ts';
import {
  FLAG_FIN,
  FLAG_UNIDIRECTIONAL,
  FRAME_HEAD_BYTES,
  FRAME_TYPE,
  MAX_PAYLOAD_BYTES,
  SPDY_VERSION,
} from './frames.ts';
import type { SpdyFrame } from './frames.ts';

/** Makes the bytes of one direction of a connection; frames must be sent in the order in which they were encoded. */
export class FrameEncoder {
  readonly #headers = new HeaderCompressor();

  /** The bytes of one frame. Throws a `RangeError` when it is longer than a frame can be. */
  encode(frame: SpdyFrame): Buffer {
    switch (frame.type) {
      case 'data':
        return Buffer.concat([dataHead(frame.streamId, frame.data.length, frame.fin), frame.data]);
      case 'synStream': {
        const flags = (frame.fin ? FLAG_FIN : 0) | (frame.unidirectional ? FLAG_UNIDIRECTIONAL : 0);
        const fixed = words(frame.streamId, frame.associatedTo, (frame.priority << 29) >>> 0).subarray(0, 10);
        return control(FRAME_TYPE.synStream, flags, fixed, this.#headers.compress(frame.headers));
      }
      case 'synReply':
      case 'headers': {
        const block = this.#headers.compress(frame.headers);
        return control(FRAME_TYPE[frame.type], frame.fin ? FLAG_FIN : 0, words(frame.streamId), block);
      }
      case 'rstStream':
        return control(FRAME_TYPE.rstStream, 0, words(frame.streamId, frame.status));
      case 'settings': {
        const pairs = frame.settings.flatMap(({ flags, id, value }) => [((flags << 24) | id) >>> 0, value]);
        return control(FRAME_TYPE.settings, 0, words(frame.settings.length, ...pairs));
      }
      case 'ping':
        return control(FRAME_TYPE.ping, 0, words(frame.id));
      case 'goAway':
        return control(FRAME_TYPE.goAway, 0, words(frame.lastStreamId, frame.status));
      case 'windowUpdate':
        return control(FRAME_TYPE.windowUpdate, 0, words(frame.streamId, frame.delta));
    }
  }
}

/** The 8 bytes before `length` bytes of a stream, for a sender that does not want to copy those. */
export function dataHead(streamId: number, length: number, fin: boolean): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  head.writeUInt32BE(streamId);
  head.writeUInt32BE(lengthWord(fin ? FLAG_FIN : 0, length), 4);
  return head;
}

function control(type: number, flags: number, ...payload: Buffer[]): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUInt16BE(0x8000 | SPDY_VERSION);
  head.writeUInt16BE(type, 2);
  const length = payload.reduce((sum, part) => sum + part.length, 0);
  head.writeUInt32BE(lengthWord(flags, length), 4);
  return Buffer.concat([head, ...payload]);
}

function lengthWord(flags: number, length: number): number {
  if (length > MAX_PAYLOAD_BYTES) throw new RangeError(`a SPDY frame holds at most ${MAX_PAYLOAD_BYTES} bytes`);
  return ((flags << 24) | length) >>> 0;
}

function words(...values: number[]): Buffer {
  const out = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => out.writeUInt32BE(value, 4 * i));
  return out;
}
