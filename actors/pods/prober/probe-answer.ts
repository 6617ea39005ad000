import type { GoUrl } from '../../../machines/values/go-url.ts';
import { AnswerBytes, EndOfStream } from './answer-bytes.ts';
import { readBody } from './answer-body.ts';
import { BadAnswer, readFinalHead } from './answer-head.ts';
import { askHttp2, readHttp2Body } from './http2-answer.ts';
import type { ProbeConnection } from './probe-connection.ts';
import { requestHead } from './request-head.ts';
import type { Headers } from './request-head.ts';

/** An answer whose head has come. */
export interface ProbeAnswer {
  status: number;
  /** First `Location`, one character a byte; '' when there is none. */
  location: string;
  /** Bytes that the body is said to have; undefined when only its end will tell. */
  length: number | undefined;
  /** Reads the body until its end or so many bytes; `broken` is why it does not end as it should, in Go's words. */
  read: (most: number) => Promise<{ body: Buffer; broken?: string }>;
}

/** There is no answer; the message is Go's. */
export class NoAnswer extends Error {}

/**
 * Sends a GET on a connection and reads the head of the answer, over HTTP/2 if the peer has chosen it.
 *
 * @throws NoAnswer with what happened as its cause
 */
export async function ask(
  connection: ProbeConnection,
  url: GoUrl,
  host: string,
  headers: Headers,
): Promise<ProbeAnswer> {
  const { socket, http2 } = connection;
  const words = (error: unknown): string =>
    error instanceof BadAnswer || error instanceof EndOfStream ? error.message : connection.streamText(error);
  const said = ({ body, broken }: { body: Buffer; broken?: unknown }) =>
    broken === undefined ? { body } : { body, broken: words(broken) };
  if (http2) {
    try {
      const { stream, ...head } = await askHttp2(socket, url, host, headers);
      return { ...head, read: async (most) => said(await readHttp2Body(stream, most)) };
    } catch (error) {
      throw new NoAnswer(words(error), { cause: error });
    }
  }
  const bytes = new AnswerBytes(socket);
  socket.write(requestHead(url, host, headers));
  let begun = false;
  try {
    begun = await bytes.any();
    if (!begun) throw new Error('EOF');
    const { status, location, framing } = await readFinalHead(bytes);
    const length = typeof framing === 'number' ? framing : undefined;
    return { status, location, length, read: async (most) => said(await readBody(bytes, framing, most)) };
  } catch (error) {
    const text = begun ? `net/http: HTTP/1.x transport connection broken: ${words(error)}` : words(error);
    throw new NoAnswer(text, { cause: error });
  }
}
