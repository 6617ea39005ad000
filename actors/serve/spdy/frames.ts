/** Headers of a stream: names in lower case; many values of one name are joined with a zero byte, as on the wire. */
export type SpdyHeaders = ReadonlyMap<string, string>;

/** Numbers of the control frames that SPDY/3.1 has. */
export const FRAME_TYPE = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

/** Reasons of a RST_STREAM that are used here. */
export const RST_STATUS = {
  protocolError: 1,
  invalidStream: 2,
  refusedStream: 3,
  cancel: 5,
  internalError: 6,
} as const;

/** Reasons of a GOAWAY. */
export const GOAWAY_STATUS = { ok: 0, protocolError: 1, internalError: 2 } as const;

/** One of the pairs of a SETTINGS frame: 8 bits of flags, 24 bits of id, 32 bits of value. */
export interface SpdySetting {
  flags: number;
  id: number;
  value: number;
}

/** A frame with a header block. `fin`: the sender sends no more on this stream. */
export type HeadersFrame =
  | {
      type: 'synStream';
      streamId: number;
      associatedTo: number;
      /** 0 (most urgent) to 7. */
      priority: number;
      fin: boolean;
      unidirectional: boolean;
      headers: SpdyHeaders;
    }
  | { type: 'synReply' | 'headers'; streamId: number; fin: boolean; headers: SpdyHeaders };

/** A control frame without a header block. */
export type PlainFrame =
  | { type: 'rstStream'; streamId: number; status: number }
  | { type: 'settings'; settings: SpdySetting[] }
  | { type: 'ping'; id: number }
  | { type: 'goAway'; lastStreamId: number; status: number }
  | { type: 'windowUpdate'; streamId: number; delta: number };

/** Bytes of a stream. The decoder hands out a long frame in pieces as they come, `fin` with the last one only. */
export interface DataFrame {
  type: 'data';
  streamId: number;
  data: Buffer;
  fin: boolean;
}

/** A frame of SPDY/3.1. */
export type SpdyFrame = HeadersFrame | PlainFrame | DataFrame;

/** Bytes before the payload of every frame. */
export const FRAME_HEAD_BYTES = 8;

/** The longest payload that the 24 bits of the length can tell. */
export const MAX_PAYLOAD_BYTES = 2 ** 24 - 1;

/** Bit of the flags that ends the sender's half of a stream. */
export const FLAG_FIN = 0x01;

/** Bit of the flags of a SYN_STREAM: its receiver sends nothing on it. */
export const FLAG_UNIDIRECTIONAL = 0x02;

/** The protocol's version in the head of control frames: 3.1 says 3, too. */
export const SPDY_VERSION = 3;
