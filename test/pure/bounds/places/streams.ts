/** Frames of SPDY and WebSockets: of clients that may exec, and of the runtime. All of it is read by the main thread. */
import { FrameDecoder } from '../../../../actors/serve/spdy/frame-decoder.ts';
import { encodeHeaderBlock } from '../../../../actors/serve/spdy/header-block.ts';
import { SPDY_DICTIONARY, SPDY_DICTIONARY_ID } from '../../../../actors/serve/spdy/dictionary.ts';
import { FRAME_TYPE } from '../../../../actors/serve/spdy/frames.ts';
import { constants, deflateRawSync } from 'node:zlib';
import type { Place } from '../support/place.ts';

/** A header block may be so long when it is unpacked, a control frame before that. */
const [BLOCK, FRAME] = [256 * 1024, 64 * 1024];
/** What a socket gives at once. */
const PIECE = 64 * 1024;

const place = (name: string, read: Place['read'], largest: number): Place => ({
  ...{ name: `FrameDecoder: ${name}`, channel: 'frames of SPDY', thread: 'main', read, largest },
});

const push = (bytes: Buffer, piece = PIECE): void => {
  const decoder = new FrameDecoder();
  for (let at = 0; at < bytes.length; at += piece) decoder.push(bytes.subarray(at, at + piece), () => undefined);
};

/** A control frame of a type, and its payload as it is. */
function control(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(0x80030000 + type);
  head.writeUInt32BE(payload.length, 4);
  return Buffer.concat([head, payload]);
}

/** A SYN_STREAM with a header block, which is packed. */
function synStream(block: Buffer): Buffer {
  const before = Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x78, 0xbb, 0, 0, 0, 0]);
  before.writeUInt32BE(SPDY_DICTIONARY_ID, 12);
  const packed = deflateRawSync(block, { dictionary: SPDY_DICTIONARY, finishFlush: constants.Z_SYNC_FLUSH });
  return control(FRAME_TYPE.synStream, Buffer.concat([before, packed]));
}

const pairs = (text: string): Map<string, string> =>
  new Map(
    Array.from({ length: text.length / 16 }, (_, i) => [
      `${i}${text.slice(i * 16, i * 16 + 8)}`,
      text.slice(i * 16 + 8, i * 16 + 16),
    ]),
  );

export const places: readonly Place[] = [
  place('bytes', (text) => push(Buffer.from(text)), 1024 * 1024),
  place('one byte at a time', (text) => push(control(FRAME_TYPE.settings, Buffer.from(text)), 1), FRAME),
  place('control frame', (text) => push(control(FRAME_TYPE.settings, Buffer.from(text))), FRAME),
  place('header block', (text) => push(synStream(Buffer.from(text))), BLOCK),
  place('headers', (text) => push(synStream(encodeHeaderBlock(pairs(text)))), BLOCK / 2),
  place('one header', (text) => push(synStream(encodeHeaderBlock(new Map([[text, text]])))), BLOCK / 2),
  place(
    'header block that is no zlib',
    (text) => push(control(FRAME_TYPE.synStream, Buffer.from(`${'\0\0\0\x01'.repeat(2)}\0\0${text}`))),
    FRAME,
  ),
];
