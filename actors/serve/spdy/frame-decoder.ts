import { ActorletError } from '../../../machines/errors/define.ts';
import { spdyErrors } from '../../../machines/errors/spdy-errors.ts';
import { HeaderDecompressor } from './header-block.ts';
import { FLAG_FIN, FLAG_UNIDIRECTIONAL, FRAME_HEAD_BYTES, FRAME_TYPE, SPDY_VERSION } from './frames.ts';
import type { SpdyFrame } from './frames.ts';

/** How much of the other side's is held. Data frames need no limit: their pieces are handed out as they come. */
export interface DecoderLimits {
  /** Payload of a control frame, 64 KiB when not given. */
  maxControlBytes?: number;
  /** A header block when it is unpacked, 256 KiB when not given. */
  maxHeaderBytes?: number;
}

/** Reads one direction of a connection from pieces of any size. After an error it must not be used again. */
export class FrameDecoder {
  readonly #maxControlBytes: number;
  readonly #headers: HeaderDecompressor;
  /** What came of the head or of a control frame that is not complete yet. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** How many bytes must be there before it is worth looking again. */
  #wanted = FRAME_HEAD_BYTES;
  /** The data frame whose bytes come next. */
  #data: { streamId: number; left: number; fin: boolean } | undefined;

  constructor(limits: DecoderLimits = {}) {
    this.#maxControlBytes = limits.maxControlBytes ?? 64 * 1024;
    this.#headers = new HeaderDecompressor(limits.maxHeaderBytes ?? 256 * 1024);
  }

  /**
   * Takes the next bytes and hands out the frames that are complete with them. Frames of an unknown type are passed
   * over, as SPDY demands. Throws `SPD001` (malformed) and `SPD002` (too long).
   */
  push(bytes: Buffer, onFrame: (frame: SpdyFrame) => void): void {
    let rest = bytes;
    while (rest.length > 0 || this.#heldBytes > 0) {
      if (this.#data !== undefined) {
        if (rest.length === 0) return;
        rest = this.#takeData(this.#data, rest, onFrame);
        continue;
      }
      const joined = this.#join(rest);
      if (joined === undefined) return;
      const first = joined.readUInt32BE(0);
      const second = joined.readUInt32BE(4);
      const length = second & 0xffffff;
      if (first < 0x80000000) {
        rest = this.#startData(first, second >>> 24, length, joined, onFrame);
        continue;
      }
      if (length > this.#maxControlBytes) {
        throw new ActorletError(spdyErrors.tooLong, { part: 'control frame', limit: this.#maxControlBytes });
      }
      const version = (first >>> 16) & 0x7fff;
      if (version !== SPDY_VERSION) throw malformed(`control frame of version ${version}`);
      this.#wanted = FRAME_HEAD_BYTES + length;
      const whole = this.#join(joined);
      if (whole === undefined) return;
      const payload = whole.subarray(FRAME_HEAD_BYTES, this.#wanted);
      const frame = this.#control(first & 0xffff, second >>> 24, payload);
      if (frame !== undefined) onFrame(frame);
      rest = whole.subarray(this.#wanted);
      this.#wanted = FRAME_HEAD_BYTES;
    }
  }

  /** All that is there as one piece when it is as much as wanted; else it is held for the next time. */
  #join(bytes: Buffer): Buffer | undefined {
    if (bytes.length > 0) {
      this.#held.push(bytes);
      this.#heldBytes += bytes.length;
    }
    if (this.#heldBytes < this.#wanted) return undefined;
    const all = this.#held.length === 1 ? (this.#held[0] ?? bytes) : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    return all;
  }

  #startData(
    streamId: number,
    flags: number,
    length: number,
    joined: Buffer,
    onFrame: (frame: SpdyFrame) => void,
  ): Buffer {
    if (streamId === 0) throw malformed('data frame of stream 0');
    const rest = joined.subarray(FRAME_HEAD_BYTES);
    const fin = (flags & FLAG_FIN) !== 0;
    if (length > 0) this.#data = { streamId, left: length, fin };
    else onFrame({ type: 'data', streamId, data: rest.subarray(0, 0), fin });
    return rest;
  }

  #takeData(
    at: { streamId: number; left: number; fin: boolean },
    bytes: Buffer,
    onFrame: (frame: SpdyFrame) => void,
  ): Buffer {
    const data = bytes.subarray(0, at.left);
    at.left -= data.length;
    if (at.left === 0) this.#data = undefined;
    onFrame({ type: 'data', streamId: at.streamId, data, fin: at.fin && at.left === 0 });
    return bytes.subarray(data.length);
  }

  #control(type: number, flags: number, payload: Buffer): SpdyFrame | undefined {
    const fin = (flags & FLAG_FIN) !== 0;
    switch (type) {
      case FRAME_TYPE.synStream: {
        atLeast(payload, 10, 'SYN_STREAM');
        return {
          type: 'synStream',
          // decompressed also when the stream is refused later: the blocks of a direction are one zlib stream
          headers: this.#headers.decompress(payload.subarray(10)),
          streamId: streamIdOf(payload, 'SYN_STREAM'),
          associatedTo: payload.readUInt32BE(4) & 0x7fffffff,
          priority: payload.readUInt8(8) >>> 5,
          fin,
          unidirectional: (flags & FLAG_UNIDIRECTIONAL) !== 0,
        };
      }
      case FRAME_TYPE.synReply:
      case FRAME_TYPE.headers: {
        const name = type === FRAME_TYPE.synReply ? 'SYN_REPLY' : 'HEADERS';
        atLeast(payload, 4, name);
        const headers = this.#headers.decompress(payload.subarray(4));
        const streamId = streamIdOf(payload, name);
        return { type: type === FRAME_TYPE.synReply ? 'synReply' : 'headers', headers, streamId, fin };
      }
      case FRAME_TYPE.rstStream: {
        exactly(payload, 8, 'RST_STREAM');
        const status = payload.readUInt32BE(4);
        if (status === 0) throw malformed('RST_STREAM without a status');
        return { type: 'rstStream', streamId: streamIdOf(payload, 'RST_STREAM'), status };
      }
      case FRAME_TYPE.settings: {
        atLeast(payload, 4, 'SETTINGS');
        const count = payload.readUInt32BE(0);
        exactly(payload, 4 + 8 * count, 'SETTINGS');
        const settings = Array.from({ length: count }, (_, i) => {
          const word = payload.readUInt32BE(4 + 8 * i);
          return { flags: word >>> 24, id: word & 0xffffff, value: payload.readUInt32BE(8 + 8 * i) };
        });
        return { type: 'settings', settings };
      }
      case FRAME_TYPE.ping: {
        exactly(payload, 4, 'PING');
        const id = payload.readUInt32BE(0);
        if (id === 0) throw malformed('PING with id 0');
        return { type: 'ping', id };
      }
      case FRAME_TYPE.goAway:
        exactly(payload, 8, 'GOAWAY');
        return { type: 'goAway', lastStreamId: payload.readUInt32BE(0) & 0x7fffffff, status: payload.readUInt32BE(4) };
      case FRAME_TYPE.windowUpdate:
        exactly(payload, 8, 'WINDOW_UPDATE');
        return {
          type: 'windowUpdate',
          streamId: payload.readUInt32BE(0) & 0x7fffffff,
          delta: payload.readUInt32BE(4) & 0x7fffffff,
        };
      default:
        return undefined;
    }
  }
}

function streamIdOf(payload: Buffer, name: string): number {
  const id = payload.readUInt32BE(0) & 0x7fffffff;
  if (id === 0) throw malformed(`${name} of stream 0`);
  return id;
}

function atLeast(payload: Buffer, bytes: number, name: string): void {
  if (payload.length < bytes) throw malformed(`${name} of ${payload.length} bytes`);
}

function exactly(payload: Buffer, bytes: number, name: string): void {
  if (payload.length !== bytes) throw malformed(`${name} of ${payload.length} bytes`);
}

function malformed(reason: string): ActorletError {
  return new ActorletError(spdyErrors.malformed, { reason });
}
