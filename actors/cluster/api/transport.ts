import { messageOf } from '../../../machines/values/message-of.ts';
import type { Identity } from './credentials.ts';

/** One HTTP request as a transport sends it. */
export interface HttpRequest {
  method: string;
  /** Path with query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  identity: Identity;
  /** Ends the request, also after the head of the answer has come. */
  signal: AbortSignal;
}

/** The head of an answer and its body, which must be read or destroyed. */
export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: AsyncIterable<Buffer>;
  /** False when the body ended because the connection did, or the request was ended. */
  whole: () => boolean;
}

/** The body of an answer; throws at its end when it was cut off, which not all of Node's streams do. */
export async function* wholeBody(answer: HttpAnswer): AsyncGenerator<Buffer> {
  for await (const chunk of answer.body) yield chunk;
  if (!answer.whole()) throw new Error('the connection was closed in the middle of the answer');
}

/** Sends requests over kept connections. */
export interface Transport {
  /** Rejects with a {@link TransportError} when no answer came. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

/** No answer came. */
export class TransportError extends Error {
  /** True when the server surely did nothing with the request, so any method may be sent again at once. */
  readonly untouched: boolean;
  /** True when the connection had been used before: it may have died long ago, unnoticed. */
  readonly kept: boolean;

  constructor(cause: unknown, untouched: boolean, kept: boolean) {
    super(messageOf(cause), { cause });
    this.untouched = untouched;
    this.kept = kept;
  }
}
