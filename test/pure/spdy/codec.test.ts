import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FrameDecoder } from '../../../actors/serve/spdy/frame-decoder.ts';
import { dataHead, FrameEncoder } from '../../../actors/serve/spdy/frame-encoder.ts';
import type { SpdyFrame } from '../../../actors/serve/spdy/frames.ts';
import { HeaderCompressor, HeaderDecompressor } from '../../../actors/serve/spdy/header-block.ts';

const streamId = fc.integer({ min: 1, max: 0x7fffffff });
const uint32 = fc.nat({ max: 0xffffffff });
const name = fc.stringMatching(/^[a-z0-9_-]{1,20}$/);
const headers = fc.array(fc.tuple(name, fc.string({ unit: 'grapheme' }))).map((pairs) => new Map(pairs));
const frame: fc.Arbitrary<SpdyFrame> = fc.oneof(
  fc.record({
    type: fc.constant('synStream' as const),
    streamId,
    associatedTo: fc.nat({ max: 0x7fffffff }),
    priority: fc.nat({ max: 7 }),
    fin: fc.boolean(),
    unidirectional: fc.boolean(),
    headers,
  }),
  fc.record({ type: fc.constantFrom('synReply' as const, 'headers' as const), streamId, fin: fc.boolean(), headers }),
  fc.record({ type: fc.constant('rstStream' as const), streamId, status: fc.integer({ min: 1, max: 0xffffffff }) }),
  fc.record({
    type: fc.constant('settings' as const),
    settings: fc.array(
      fc.record(
        { flags: fc.nat({ max: 255 }), id: fc.nat({ max: 0xffffff }), value: uint32 },
        { noNullPrototype: true },
      ),
    ),
  }),
  fc.record({ type: fc.constant('ping' as const), id: fc.integer({ min: 1, max: 0xffffffff }) }),
  fc.record({ type: fc.constant('goAway' as const), lastStreamId: fc.nat({ max: 0x7fffffff }), status: uint32 }),
  fc.record({ type: fc.constant('windowUpdate' as const), streamId, delta: fc.nat({ max: 0x7fffffff }) }),
  fc.record({
    type: fc.constant('data' as const),
    streamId,
    data: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fin: fc.boolean(),
  }),
);

describe('the SPDY codec', () => {
  it('reads what it wrote, however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), fc.array(fc.integer({ min: 1, max: 60 })), (frames, cuts) => {
        const encoder = new FrameEncoder();
        const bytes = Buffer.concat(frames.map((one) => encoder.encode(one)));
        const decoder = new FrameDecoder();
        const read: SpdyFrame[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.length]) {
          decoder.push(bytes.subarray(at, at + cut), (one) => append(read, one));
          at = Math.min(at + cut, bytes.length);
        }
        assert.deepEqual(
          read,
          frames.reduce<SpdyFrame[]>((all, one) => append(all, { ...one }), []),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('passes frames of an unknown type over', () => {
    const unknown = Buffer.from('8003000a00000003616263', 'hex');
    assert.deepEqual(decode(Buffer.concat([unknown, new FrameEncoder().encode({ type: 'ping', id: 2 })])), [
      { type: 'ping', id: 2 },
    ]);
  });

  it('hands out the longest data frame as it comes, and holds none of it', () => {
    const decoder = new FrameDecoder();
    let bytes = 0;
    let last = false;
    decoder.push(dataHead(1, 2 ** 24 - 1, true), () => assert.fail('a frame without bytes'));
    const piece = Buffer.alloc(64 * 1024);
    for (let left = 2 ** 24 - 1; left > 0; left -= piece.length) {
      const before = bytes;
      decoder.push(piece.subarray(0, left), (one) => {
        assert.ok(one.type === 'data' && !last);
        bytes += one.data.length;
        last = one.fin;
      });
      assert.equal(bytes - before, Math.min(left, piece.length));
    }
    assert.deepEqual([bytes, last], [2 ** 24 - 1, true]);
    assert.throws(() => dataHead(1, 2 ** 24, false), RangeError);
  });

  const block = (hex: string) => {
    const head = '78f9e3c6a7c2';
    const length = (4 + (head.length + hex.length) / 2).toString(16).padStart(6, '0');
    return `8003000200${length}00000001${head}${hex}`;
  };
  /** A stored block of deflate. */
  const stored = (hex: string) => {
    const n = Buffer.alloc(4);
    n.writeUInt16LE(hex.length / 2);
    n.writeUInt16LE(0xffff - hex.length / 2, 2);
    return `00${n.toString('hex')}${hex}`;
  };
  const malformed: Record<string, string> = {
    'another version': '800200060000000400000001',
    'data of stream 0': '0000000000000001',
    'a PING of 5 bytes': '80030006000000050000000100',
    'a PING with id 0': '800300060000000400000000',
    'a RST_STREAM of stream 0': '80030003000000080000000000000001',
    'a RST_STREAM without status': '80030003000000080000000100000000',
    'a short GOAWAY': '800300070000000400000000',
    'a short WINDOW_UPDATE': '800300090000000400000000',
    'a SETTINGS that tells too many': '800300040000000cffffffff0000000000000000',
    'an empty SETTINGS': '8003000400000000',
    'a SYN_STREAM without a header block': '800300010000000400000001',
    'an empty header block': '800300020000000400000001',
    'a header block without a dictionary': '800300020000000a00000001789c000000ff',
    'a foreign dictionary': '800300020000000a0000000178f912345678',
    'no deflate': block('ffffffffff'),
    'a header block of 3 bytes': block(stored('000000')),
    'more headers than there are': block(stored('ffffffff')),
    'a header name past the end': block(stored('00000001ffffffff61')),
    'a name in upper case': block(stored('0000000100000001410000000161')),
    'an empty name': block(stored('00000001000000000000000161')),
    'a name twice': block(stored('0000000200000001610000000162' + '00000001610000000162')),
    'bytes after the headers': block(stored('0000000000')),
    'a reply of stream 0': '800300020000000f0000000078f9e3c6a7c200040000fbff00000000',
  };
  for (const [what, hex] of Object.entries(malformed)) {
    it(`refuses ${what}`, () => {
      const bytes = Buffer.from(hex, 'hex');
      assert.throws(() => decode(bytes), { code: 'SPD001' });
      assert.throws(
        () => {
          const decoder = new FrameDecoder();
          for (const byte of bytes) decoder.push(Buffer.from([byte]), () => {});
        },
        { code: 'SPD001' },
      );
    });
  }

  it('refuses long control frames by their heads, and header blocks that unpack to too much', () => {
    assert.throws(() => decode(Buffer.from('8003000400010001', 'hex')), { code: 'SPD002' });
    const bomb = new HeaderCompressor().compress(new Map([['x', 'a'.repeat(1_000_000)]]));
    assert.ok(bomb.length < 10_000);
    assert.throws(() => new HeaderDecompressor(256 * 1024).decompress(bomb), { code: 'SPD002' });
    assert.equal(new HeaderDecompressor(2_000_000).decompress(bomb).get('x')?.length, 1_000_000);
  });

  it('never fails otherwise, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (noise, control) => {
        const bytes = Buffer.from(noise);
        if (control && bytes.length >= 8) Buffer.from([0x80, 3, 0, (bytes[3] ?? 0) % 11, 0, 0, 0]).copy(bytes);
        try {
          decode(bytes);
        } catch (error) {
          assert.match((error as { code?: string }).code ?? String(error), /^SPD00[12]$/);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

function decode(bytes: Buffer): SpdyFrame[] {
  const out: SpdyFrame[] = [];
  new FrameDecoder().push(bytes, (one) => out.push(one));
  return out;
}

/** Adds a frame, and joins it with the one before when both are pieces of one stream's data. */
function append(frames: SpdyFrame[], one: SpdyFrame): SpdyFrame[] {
  const last = frames.at(-1);
  if (one.type === 'data' && last?.type === 'data' && last.streamId === one.streamId && !last.fin) {
    last.data = Buffer.concat([last.data, one.data]);
    last.fin = one.fin;
  } else frames.push(one);
  return frames;
}
