import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import { ActorletError } from '../../../machines/errors/define.ts';
import { spdyErrors } from '../../../machines/errors/spdy-errors.ts';
import { SPDY_DICTIONARY, SPDY_DICTIONARY_ID } from './dictionary.ts';
import type { SpdyHeaders } from './frames.ts';

/** How far back deflate can point. */
const WINDOW_BYTES = 32 * 1024;

/** Head of the zlib stream: deflate with a window of 32 KiB, a dictionary is needed, and which. */
const ZLIB_HEAD = Buffer.from([0x78, 0xbb, 0, 0, 0, 0]);
ZLIB_HEAD.writeUInt32BE(SPDY_DICTIONARY_ID, 2);

/**
 * Compresses the header blocks of one direction of a connection. All blocks make up one zlib stream, each ended by a
 * sync flush. Node's zlib streams do that asynchronously only, so that frames could overtake each other. A flushed
 * block ends at a byte, however, hence each is made here by a raw deflate of its own, whose dictionary is the text
 * that came before: the bytes are those of one long stream.
 */
export class HeaderCompressor {
  #history = SPDY_DICTIONARY;
  #started = false;

  compress(headers: SpdyHeaders): Buffer {
    const block = encodeHeaderBlock(headers);
    const raw = deflateRawSync(block, { dictionary: this.#history, finishFlush: constants.Z_SYNC_FLUSH });
    this.#history = lastBytes(this.#history, block);
    if (this.#started) return raw;
    this.#started = true;
    return Buffer.concat([ZLIB_HEAD, raw]);
  }
}

/** The counterpart of {@link HeaderCompressor}; it wants blocks that end with a sync flush, as SPDY demands. */
export class HeaderDecompressor {
  readonly #maxBytes: number;
  #history = SPDY_DICTIONARY;
  #started = false;

  /** @param maxBytes the longest block, unpacked, that is taken: a few bytes can unpack to thousands of times as much */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Throws `SPD001` (malformed) and `SPD002` (too long). */
  decompress(bytes: Buffer): SpdyHeaders {
    let raw = bytes;
    if (!this.#started) {
      const head = raw.length < ZLIB_HEAD.length ? 0 : raw.readUInt16BE(0);
      // deflate, any window, a dictionary is needed, check sum right; the level in the upper bits is the sender's affair
      if ((head & 0x0f20) !== 0x0820 || head % 31 !== 0) throw malformed('header block is not zlib with a dictionary');
      if (raw.readUInt32BE(2) !== SPDY_DICTIONARY_ID) throw malformed('header block needs an unknown dictionary');
      raw = raw.subarray(ZLIB_HEAD.length);
      this.#started = true;
    }
    const block = this.#inflate(raw);
    this.#history = lastBytes(this.#history, block);
    return decodeHeaderBlock(block);
  }

  #inflate(raw: Buffer): Buffer {
    try {
      return inflateRawSync(raw, {
        dictionary: this.#history,
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: this.#maxBytes,
      });
    } catch (cause) {
      if (cause instanceof RangeError) {
        throw new ActorletError(spdyErrors.tooLong, { part: 'header block', limit: this.#maxBytes }, { cause });
      }
      throw malformed('header block cannot be unpacked', cause);
    }
  }
}

/** A block before compression: how many, then each name and value with its length before it (32 bits each). */
export function encodeHeaderBlock(headers: SpdyHeaders): Buffer {
  const parts = [uint32(headers.size)];
  for (const [name, value] of headers) {
    for (const text of [name.toLowerCase(), value]) {
      const bytes = Buffer.from(text, 'utf8');
      parts.push(uint32(bytes.length), bytes);
    }
  }
  return Buffer.concat(parts);
}

/** Reads {@link encodeHeaderBlock}'s bytes; names must be in lower case, not empty, and not come twice (`SPD001`). */
function decodeHeaderBlock(block: Buffer): SpdyHeaders {
  let at = 0;
  const length = (): number => {
    if (at + 4 > block.length) throw malformed('header block ends too early');
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const bytes = length();
    if (bytes > block.length - at) throw malformed('header block ends too early');
    at += bytes;
    return block.toString('utf8', at - bytes, at);
  };
  const headers = new Map<string, string>();
  for (let left = length(); left > 0; left--) {
    const name = text();
    if (name === '' || name !== name.toLowerCase()) throw malformed('header name is empty or not in lower case');
    if (headers.has(name)) throw malformed('header name comes twice');
    headers.set(name, text());
  }
  if (at !== block.length) throw malformed('header block is longer than its headers');
  return headers;
}

function lastBytes(history: Buffer, block: Buffer): Buffer {
  const all = Buffer.concat([history, block]);
  return all.length <= WINDOW_BYTES ? all : Buffer.from(all.subarray(all.length - WINDOW_BYTES));
}

function uint32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}

function malformed(reason: string, cause?: unknown): ActorletError {
  return new ActorletError(spdyErrors.malformed, { reason }, { cause });
}
