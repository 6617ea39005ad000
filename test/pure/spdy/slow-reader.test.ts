import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { dataHead, FrameEncoder } from '../../../actors/serve/spdy/frame-encoder.ts';
import { RST_STATUS } from '../../../actors/serve/spdy/frames.ts';
import { SpdyConnection } from '../../../actors/serve/spdy/spdy-connection.ts';

/** More than a stream holds: its connection rests. */
const MUCH = Buffer.alloc(200_000, 'x');

/** A connection on which the test alone says what comes. */
function scripted(): Duplex {
  return new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() });
}

const answerTo = (encoder: FrameEncoder, streamId: number): Buffer =>
  encoder.encode({ type: 'synReply', streamId, fin: false, headers: new Map() });

async function bytesOf(stream: Duplex, pauseMs: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    parts.push(chunk);
    await sleep(pauseMs);
  }
  return Buffer.concat(parts);
}

describe('a SPDY connection whose reader is behind', () => {
  const ends = {
    fin: (_encoder: FrameEncoder, id: number) => dataHead(id, 0, true),
    reset: (encoder: FrameEncoder, id: number) =>
      encoder.encode({ type: 'rstStream', streamId: id, status: RST_STATUS.cancel }),
  };
  for (const [name, endOf] of Object.entries(ends))
    it(`is read on when the slow stream has ended by a ${name} that came with its last bytes`, async () => {
      const socket = scripted();
      const encoder = new FrameEncoder();
      const connection = new SpdyConnection(socket, { role: 'client' });
      const opening = [connection.openStream(new Map([['streamtype', 'stdout']])), connection.openStream(new Map())];
      socket.push(Buffer.concat([answerTo(encoder, 1), answerTo(encoder, 3)]));
      const [output, status] = await Promise.all(opening);
      assert.ok(output !== undefined && status !== undefined);
      const taken = bytesOf(output, 5);
      // In one piece: a Go server's last bytes and the end mostly come so.
      socket.push(Buffer.concat([dataHead(1, MUCH.length, false), MUCH, endOf(encoder, 1)]));
      assert.equal((await taken).length, MUCH.length);
      const told = bytesOf(status, 0);
      socket.push(Buffer.concat([dataHead(3, 4, true), Buffer.from('done')]));
      assert.equal((await told).toString(), 'done');
      connection.destroy();
    });
});
