import { goQuoteBytes } from '../../../machines/values/go-quote.ts';
import { EndOfStream, Gathered } from './answer-bytes.ts';
import type { AnswerBytes } from './answer-bytes.ts';

/** How the body ends: after so many bytes, with its last chunk, or with the connection. */
export type Framing = number | 'chunked' | 'close';

/** What a prober has to know of the head of an answer. */
export interface AnswerHead {
  status: number;
  framing: Framing;
  /** First `Location`, one character a byte; '' when there is none. */
  location: string;
}

/** Headers that are looked at; the rest is only checked. */
const WANTED = new Set(['content-length', 'transfer-encoding', 'trailer', 'location']);
/** Equal values beyond these say nothing new; they are not kept, so that a head costs no more memory than its longest line. */
const KEPT_VALUES = 16;
/** So much of what came is told in the text of an error. */
const TOLD_BYTES = 1024;
/** Go's http.Transport takes so much of all heads together, 1xx ones included. */
const MAX_HEAD_BYTES = 10 * 1024 * 1024;
const [TAB, LF, CR, SPACE, COLON, DEL] = [9, 10, 13, 32, 58, 127];

/** Something that is not HTTP as Go's client reads it; the message is Go's. */
export class BadAnswer extends Error {}

/**
 * Reads heads until one that is final, by the rules of Go's `net/http.ReadResponse` and `net/textproto`: LF alone ends a line, names
 * may have blanks, lines may be continued, any version of one digit each will do. Node's parser refuses such answers, and Go's
 * refuses others that Node's takes.
 *
 * @throws BadAnswer; EndOfStream; what the socket failed of
 */
export async function readFinalHead(bytes: AnswerBytes): Promise<AnswerHead> {
  bytes.limit = bytes.taken + MAX_HEAD_BYTES;
  bytes.onLimit = () => new BadAnswer(`net/http: server response headers exceeded ${MAX_HEAD_BYTES} bytes; aborted`);
  for (;;) {
    const { status, version } = statusLine(trimEnd(await lineOf(bytes)));
    const fields = await readFields(bytes);
    const framing = framingOf(status, version, fields);
    if (status >= 100 && status < 200 && status !== 101) continue;
    bytes.limit = Infinity;
    return { status, framing, location: fields.get('location')?.[0] ?? '' };
  }
}

async function lineOf(bytes: AnswerBytes): Promise<Buffer> {
  const line = await bytes.line();
  if (line === null) throw new EndOfStream();
  return line;
}

function statusLine(line: Buffer): { status: number; version: string } {
  const text = line.toString('latin1', 0, TOLD_BYTES);
  const blank = text.indexOf(' ');
  if (blank === -1) throw new BadAnswer(`malformed HTTP response ${goQuoteBytes(text)}`);
  const version = text.slice(0, blank);
  const [status = ''] = text.slice(blank).replace(/^ +/, '').split(' ', 1);
  // Three characters that are a number to Go's strconv.Atoi, and not below zero.
  if (!/^([+-]?[0-9]+)$/.test(status) || status.length !== 3 || Number(status) < 0)
    throw new BadAnswer(`malformed HTTP status code ${goQuoteBytes(status)}`);
  if (!/^HTTP\/[0-9]\.[0-9]$/.test(version)) throw new BadAnswer(`malformed HTTP version ${goQuoteBytes(version)}`);
  return { status: Math.abs(Number(status)), version: version.slice(5) };
}

/**
 * Reads headers, or trailers, to the empty line; gives the values of those that are wanted, by their names in small letters.
 *
 * @throws BadAnswer; EndOfStream; what the socket failed of
 */
export async function readFields(bytes: AnswerBytes): Promise<Map<string, string[]>> {
  const fields = new Map<string, string[]>();
  if (isBlank((await bytes.peek(1))[0])) {
    const line = trimEnd(await lineOf(bytes));
    if (line.length > 80) throw new BadAnswer('message too large');
    throw new BadAnswer(`malformed MIME header initial line: ${told(line)}`);
  }
  for (;;) {
    const first = trimEnd(bytes.lineHere() ?? (await lineOf(bytes)));
    if (first.length === 0) return fields;
    if (!first.includes(COLON)) throw new BadAnswer(`malformed MIME header: missing colon: ${told(first)}`);
    const next = bytes.byteHere();
    const alone = next !== undefined && !isBlank(next);
    takeField(alone ? trimBlanks(first) : await continued(bytes, trimBlanks(first)), fields);
  }
}

/** The line with those that continue it, one blank between them. */
async function continued(bytes: AnswerBytes, first: Buffer): Promise<Buffer> {
  let whole: Gathered | undefined;
  while (isBlank((await bytes.peek(1).catch(() => Buffer.alloc(0)))[0])) {
    if (whole === undefined) {
      whole = new Gathered();
      whole.add(first);
    }
    whole.add(Buffer.from(' '));
    whole.add(trimBlanks(trimEnd(await lineOf(bytes))));
  }
  return whole?.bytes ?? first;
}

function takeField(line: Buffer, fields: Map<string, string[]>): void {
  const colon = line.indexOf(COLON);
  const value = line.subarray(colon + 1);
  if (!isName(line, colon) || !isValue(value)) throw new BadAnswer(`malformed MIME header line: ${told(line)}`);
  // No wanted name is that long.
  const name = line.toString('latin1', 0, Math.min(colon, 32)).toLowerCase();
  if (!WANTED.has(name)) return;
  const values = fields.get(name);
  // An empty line that continues another leaves a blank at its end, which Go keeps.
  const text = value.toString('latin1').replace(/^[ \t]+/, '');
  if (values === undefined) fields.set(name, [text]);
  else if (values.length < KEPT_VALUES || (name === 'trailer' && badTrailer([text]) !== undefined)) {
    if (name !== 'location') values.push(text);
  } else if (text !== values[0] && values.every((value) => value === values[0])) values.push(text);
}

/** Letters of a token, and blanks. */
const NAME_BYTES = new Set(
  Buffer.from("!#$%&'*+-.^_`|~0123456789 ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
);

function isName(line: Buffer, end: number): boolean {
  for (let at = 0; at < end; at++) if (!NAME_BYTES.has(line[at] ?? 0)) return false;
  return end > 0;
}

function isValue(value: Buffer): boolean {
  for (const byte of value) if ((byte < SPACE && byte !== TAB) || byte === DEL) return false;
  return true;
}

/** Go's readTransfer, for the answer to a GET. */
function framingOf(status: number, version: string, fields: Map<string, string[]>): Framing {
  const encodings = atLeast11(version) ? fields.get('transfer-encoding') : undefined;
  if (encodings !== undefined && encodings.length !== 1)
    throw new BadAnswer(`too many transfer encodings: ${listed(encodings)}`);
  if (encodings !== undefined && encodings[0]?.toLowerCase() !== 'chunked')
    throw new BadAnswer(`unsupported transfer encoding: ${told(encodings[0] ?? '')}`);
  const length = contentLength(fields.get('content-length'));
  const bad = encodings === undefined ? undefined : badTrailer(fields.get('trailer') ?? []);
  if (bad !== undefined) throw new BadAnswer(`bad trailer key ${goQuoteBytes(bad)}`);
  // Go's client would hand the connection of an upgrade out as its body.
  if ((status >= 100 && status < 200) || status === 204 || status === 304) return 0;
  return encodings === undefined ? (length ?? 'close') : 'chunked';
}

/** HTTP/0.0 is taken for 1.1, as Go takes it. */
function atLeast11(version: string): boolean {
  return version >= '1.1' || version === '0.0';
}

function contentLength(values: string[] | undefined): number | undefined {
  if (values === undefined) return undefined;
  const [first = '', ...others] = values.map((value) => trim(value));
  if (others.some((other) => other !== first))
    throw new BadAnswer(`http: message cannot contain multiple Content-Length headers; got ${listed(values)}`);
  if (first === '') throw new BadAnswer('invalid empty Content-Length ""');
  // Beyond 2^53 a number is no longer exact, which no body comes to.
  if (!/^[0-9]+$/.test(first) || Number(first) > Number.MAX_VALUE || BigInt(first.slice(-400)) >= 2n ** 63n)
    throw new BadAnswer(`bad Content-Length ${told(first)}`);
  return Number(first);
}

function badTrailer(values: string[]): string | undefined {
  const forbidden = new Map(
    ['Transfer-Encoding', 'Trailer', 'Content-Length'].map((name) => [name.toLowerCase(), name]),
  );
  for (const value of values)
    for (const name of value.split(',')) {
      const bad = forbidden.get(trim(name).toLowerCase());
      if (bad !== undefined) return bad;
    }
  return undefined;
}

function listed(values: string[]): string {
  return `[${values.map((value) => told(value)).join(' ')}]`;
}

function told(bytes: Buffer | string): string {
  return goQuoteBytes(typeof bytes === 'string' ? bytes.slice(0, TOLD_BYTES) : bytes.toString('latin1', 0, TOLD_BYTES));
}

function trim(text: string): string {
  return text.replace(/^[ \t\r\n]+/, '').trimEnd();
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

/** Without LF, or CR and LF. */
function trimEnd(line: Buffer): Buffer {
  if (line.at(-1) !== LF) return line;
  return line.subarray(0, line.at(-2) === CR ? -2 : -1);
}

function trimBlanks(line: Buffer): Buffer {
  let [start, end] = [0, line.length];
  while (start < end && isBlank(line[start])) start++;
  while (end > start && isBlank(line[end - 1])) end--;
  return line.subarray(start, end);
}
