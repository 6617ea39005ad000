import { trimBlanksAtEnd } from '../../../machines/values/trim-blanks.ts';
import type { AnswerBytes } from './answer-bytes.ts';
import { EndOfStream, Gathered } from './answer-bytes.ts';
import { BadAnswer, readFields } from './answer-head.ts';
import type { Framing } from './answer-head.ts';

/** Go's reader of chunks holds so much of a line, its buffer so much of what comes. */
const BUFFER_BYTES = 4096;
/** What may come beside the data of chunks, see `excess`. */
const MAX_EXCESS = 16 * 1024;

/**
 * Reads a body until its end or `most` bytes, by the rules of Go's `net/http`; more is left where it is. `broken` says why the body
 * does not end as it should: a BadAnswer or EndOfStream, or what the socket failed of.
 */
export async function readBody(
  bytes: AnswerBytes,
  framing: Framing,
  most: number,
): Promise<{ body: Buffer; broken?: unknown }> {
  const body = new Gathered();
  try {
    if (framing === 'chunked') await readChunks(bytes, body, most);
    else {
      const whole = framing === 'close' ? most : Math.min(framing, most);
      while (body.length < whole) {
        const piece = await bytes.take(whole - body.length);
        if (piece !== null) body.add(piece);
        else if (framing === 'close') break;
        else throw new EndOfStream();
      }
    }
    return { body: body.bytes };
  } catch (broken) {
    return { body: body.bytes, broken };
  }
}

async function readChunks(bytes: AnswerBytes, body: Gathered, most: number): Promise<void> {
  // Lines and line ends beyond 16 bytes a chunk and twice its data: a peer must not send for ever without sending data.
  let excess = 0;
  for (;;) {
    const line = await chunkLine(bytes);
    const size = chunkSize(trimBlanksAtEnd(line).split(';', 1)[0] ?? '');
    excess = Math.max(0, excess + line.length + 2 - 16 - 2 * size);
    if (excess > MAX_EXCESS) throw new BadAnswer('chunked encoding contains too much non-data');
    if (size === 0) return readTrailer(bytes);
    for (let left = size; left > 0;) {
      const piece = await bytes.take(Math.min(left, most - body.length));
      if (piece === null) throw new EndOfStream();
      body.add(piece);
      if (body.length >= most) return;
      left -= piece.length;
    }
    const end = await bytes.peek(2);
    if (end.length < 2) throw new EndOfStream();
    if (end.toString('latin1') !== '\r\n') throw new BadAnswer('malformed chunked encoding');
    await bytes.take(2);
  }
}

async function chunkLine(bytes: AnswerBytes): Promise<string> {
  const line = (await bytes.line(BUFFER_BYTES))?.toString('latin1') ?? '';
  if (!line.endsWith('\n')) {
    if (line.length < BUFFER_BYTES) throw new EndOfStream();
    throw new BadAnswer('header line too long');
  }
  const cr = line.indexOf('\r');
  if (cr === -1) throw new BadAnswer('chunked line ends with bare LF');
  if (cr !== line.length - 2) throw new BadAnswer('invalid CR in chunked line');
  return line.slice(0, -2);
}

function chunkSize(digits: string): number {
  if (digits === '') throw new BadAnswer('empty hex number for chunk length');
  const wrong = digits.search(/[^0-9a-fA-F]/);
  if (wrong !== -1 && wrong <= 16) throw new BadAnswer('invalid byte in chunk length');
  if (digits.length > 16) throw new BadAnswer('http chunk length too large');
  return parseInt(digits, 16);
}

/** The trailer must fit in Go's buffer, and end with two CR and LF. */
async function readTrailer(bytes: AnswerBytes): Promise<void> {
  const end = await bytes.peek(2);
  if (end.length < 2) throw new BadAnswer('http: unexpected EOF reading trailer');
  if (end.toString('latin1') === '\r\n') return;
  for (let seen = 4; ; seen++) {
    const ahead = await bytes.peek(seen);
    if (ahead.length >= 4 && ahead.subarray(-4).toString('latin1') === '\r\n\r\n') break;
    if (ahead.length < seen || seen >= BUFFER_BYTES)
      throw new BadAnswer('http: suspiciously long trailer after chunked body');
  }
  await readFields(bytes);
}
