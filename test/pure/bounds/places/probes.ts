/** What a pod's own servers answer to probes and hooks, and what commands in it print: a shard's thread reads them. */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { AnswerBytes } from '../../../../actors/pods/prober/answer-bytes.ts';
import { readBody } from '../../../../actors/pods/prober/answer-body.ts';
import { readFields, readFinalHead } from '../../../../actors/pods/prober/answer-head.ts';
import type { Framing } from '../../../../actors/pods/prober/answer-head.ts';
import { parseGoUrl, resolveGoUrl } from '../../../../machines/values/go-url.ts';
import { verdictOf } from '../../../../machines/probe/probe-verdict.ts';
import { MIB } from '../support/place.ts';
import type { Place } from '../support/place.ts';

/** Heads may have 10 MiB together, but they come by pieces of 64 KiB at most, between which the thread does other things. */
const HEADS = MIB / 4;
/** What is read of a body. */
const BODY = 10 * 1024;
/** A place of redirection that is longer is not followed. */
const LOCATION = 64 * 1024;
/** What the socket gives at once. */
const PIECE = 64 * 1024;

const place = (name: string, channel: string, read: Place['read'], largest = HEADS): Place => ({
  ...{ name, channel, thread: 'worker', read, largest },
});

/** The bytes as they come from a socket. */
function bytesOf(text: string): AnswerBytes {
  const bytes = Buffer.from(text, 'latin1');
  const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE) }, (_, i) =>
    bytes.subarray(i * PIECE, (i + 1) * PIECE),
  );
  return new AnswerBytes(
    new Readable({
      highWaterMark: PIECE,
      read: function () {
        this.push(pieces.shift() ?? null);
      },
    }) as unknown as Socket,
  );
}

const head = (name: string, around: (text: string) => string): Place =>
  place(`readFinalHead: ${name}`, 'head of an answer', (text) => readFinalHead(bytesOf(around(text))));
const body = (name: string, framing: Framing, around = (text: string) => text): Place =>
  place(`readBody: ${name}`, 'body of an answer', (text) => readBody(bytesOf(around(text)), framing, BODY), 8 * BODY);
/** A head whose fields, or continued lines of one, are parts of the text. */
const lines = (text: string, form: string): string =>
  `HTTP/1.1 200 OK\r\n${text.slice(0, 32 * 1024).replaceAll(/[^\n]{1,8}/g, form)}\r\n\r\n`;
/** The text as values of a field: one line, for what is between line ends is a field of its own. */
const valued = (name: string) => (text: string) => `HTTP/1.1 200 OK\r\n${name}: ${text.replaceAll('\n', ' ')}\r\n\r\n`;

export const places: readonly Place[] = [
  head('all of it', (text) => text),
  head('fields', (text) => `HTTP/1.1 200 OK\r\n${text}\r\n\r\n`),
  head('status line', (text) => `HTTP/1.1 ${text}\r\n\r\n`),
  head('name', (text) => `HTTP/1.1 200 OK\r\n${text}: a\r\n\r\n`),
  ...['Content-Length', 'Transfer-Encoding', 'Trailer', 'Location', 'X'].map((name) => head(name, valued(name))),
  ...['Content-Length', 'X'].flatMap((name) => [
    head(`${name}, one line each`, (text) => lines(text, `${name}: $&\r\n`)),
    head(`${name}, continued`, (text) => lines(`a${text}`, ` $&\r\n`).replace(' a', `${name}: a`)),
  ]),
  head('1xx ones', (text) => `HTTP/1.1 103 ${text.slice(0, 8)}\r\n\r\n`.repeat(text.length / 60)),
  body('chunked', 'chunked'),
  body('chunks of one byte', 'chunked', (text) => text.slice(0, 20_000).replaceAll(/[^]/g, '1\r\n$&\r\n')),
  body('extensions of chunks', 'chunked', (text) =>
    text.replaceAll('\n', ' ').replaceAll(/[^]{1,4000}/g, '1;$&\r\na\r\n'),
  ),
  body('trailer', 'chunked', (text) => `0\r\n${text}\r\n\r\n`),
  body('to the end', 'close'),
  body('of a length', 2 * BODY),
  place('readFields', 'trailer of an answer', (text) => readFields(bytesOf(text)), 4096),
  place(
    'resolveGoUrl',
    'header Location',
    (text) => resolveGoUrl(parseGoUrl('http://10.0.0.1/a/b'), parseGoUrl(text)),
    LOCATION,
  ),
  place(
    'verdictOf',
    'body of an answer',
    (text) =>
      verdictOf(
        { type: 'effect.done', effect: 'net.HttpGet', key: '', result: { status: 399, body: text } } as never,
        { probe: {} } as never,
      ),
    MIB,
  ),
];
