import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { inflateSync } from 'node:zlib';
import { SPDY_DICTIONARY, SPDY_DICTIONARY_ID } from '../../../actors/serve/spdy/dictionary.ts';
import { FrameDecoder } from '../../../actors/serve/spdy/frame-decoder.ts';
import { FrameEncoder } from '../../../actors/serve/spdy/frame-encoder.ts';
import type { SpdyFrame } from '../../../actors/serve/spdy/frames.ts';
import { encodeHeaderBlock } from '../../../actors/serve/spdy/header-block.ts';

/** What github.com/moby/spdystream v0.5.1 wrote for these frames, one after the other on one connection. */
const golden: [hex: string, frame: SpdyFrame][] = [
  [
    '80030001000000290000000100000000000078f9e3c6a7c26260606004a7b392a2d4c45c6851c29a0a0a6800000000ffff',
    synStream(1, new Map([['streamtype', 'error']])),
  ],
  ['800300010000001700000003000000000000c22e555c92929907000000ffff', synStream(3, new Map([['streamtype', 'stdin']]))],
  [
    '800300010100001f00000005000000034000c22ac5535c92925f5ac290989e989907000000ffff',
    { ...synStream(5, new Map([['streamtype', 'stdout\0again']])), associatedTo: 3, priority: 2, fin: true },
  ],
  ['800300020000000e000000016260606000000000ffff', { type: 'synReply', streamId: 1, fin: false, headers: new Map() }],
  [
    '80030008010000220000000182aae2a9d02d82c4be6e26285b7019181a199b989a995b5802000000ffff',
    { type: 'headers', streamId: 1, fin: true, headers: new Map([['x-request-id', '0123456789']]) },
  ],
  ['80030003000000080000000300000005', { type: 'rstStream', streamId: 3, status: 5 }],
  ['800300060000000400000007', { type: 'ping', id: 7 }],
  ['80030007000000080000000500000001', { type: 'goAway', lastStreamId: 5, status: 1 }],
  ['800300040000000c000000010100000700010000', { type: 'settings', settings: [{ flags: 1, id: 7, value: 65536 }] }],
  ['800300090000000800000003000003e8', { type: 'windowUpdate', streamId: 3, delta: 1000 }],
  ['000000030000000568656c6c6f', { type: 'data', streamId: 3, data: Buffer.from('hello'), fin: false }],
  ['0000000301000000', { type: 'data', streamId: 3, data: Buffer.alloc(0), fin: true }],
];

function synStream(streamId: number, headers: Map<string, string>) {
  const rest = { associatedTo: 0, priority: 0, fin: false, unidirectional: false };
  return { type: 'synStream', streamId, headers, ...rest } as const;
}

describe("frames of Go's spdystream", () => {
  it('are read, whole and byte by byte', () => {
    const bytes = Buffer.concat(golden.map(([hex]) => Buffer.from(hex, 'hex')));
    for (const size of [bytes.length, 1]) {
      const decoder = new FrameDecoder();
      const frames: SpdyFrame[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        decoder.push(bytes.subarray(at, at + size), (frame) => frames.push(frame));
      }
      const expected = golden.map(([, frame]) => frame);
      if (size === 1) {
        const letters = [...'hello'].map((letter) => ({ ...expected[10], data: Buffer.from(letter) }) as SpdyFrame);
        expected.splice(10, 1, ...letters);
      }
      assert.deepEqual(frames, expected);
    }
  });

  it('are written with the same bytes where nothing is compressed', () => {
    const encoder = new FrameEncoder();
    for (const [hex, frame] of golden) {
      const ours = encoder.encode(frame).toString('hex');
      if ('headers' in frame) assert.equal(ours.slice(0, 8), hex.slice(0, 8));
      else assert.equal(ours, hex);
    }
  });
});

describe('header compression', () => {
  it("has the dictionary that is in spdystream's dictionary.go", () => {
    assert.equal(SPDY_DICTIONARY.length, 1423);
    const hash = createHash('sha256').update(SPDY_DICTIONARY).digest('hex');
    assert.equal(hash, '51d27341373f923f3cd88e1eb7162aeaa3723d7585ff2399201dc06498407f02');
    assert.equal(SPDY_DICTIONARY_ID, 0xe3c6a7c2);
  });

  it('makes the blocks of a connection one zlib stream, past its window', () => {
    const encoder = new FrameEncoder();
    const blocks: Buffer[] = [];
    const packed: Buffer[] = [];
    for (let id = 1; id < 200; id += 2) {
      const headers = new Map([
        ['streamtype', 'data'],
        ['x', `${id}`.repeat(500)],
      ]);
      blocks.push(encodeHeaderBlock(headers));
      packed.push(encoder.encode({ type: 'headers', streamId: id, fin: false, headers }).subarray(12));
    }
    const end = Buffer.from('0300', 'hex'); // an empty last block of deflate; the check sum is left out
    const all = Buffer.concat([...packed, end]);
    const plain = Buffer.concat(blocks);
    const unpacked = inflateSync(Buffer.concat([all, adler32(plain)]), { dictionary: SPDY_DICTIONARY });
    assert.ok(unpacked.equals(plain));
    assert.ok(plain.length > 2 * 32 * 1024);
  });
});

function adler32(bytes: Buffer): Buffer {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  const out = Buffer.alloc(4);
  out.writeUInt32BE(b * 65536 + a);
  return out;
}
