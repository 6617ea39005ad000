import { randomBytes } from 'node:crypto';
import { close, constants, createReadStream, fstat, open, read } from 'node:fs';
import type { Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { contentRange, parseRanges } from './byte-range.ts';
import type { ByteRange } from './byte-range.ts';
import { directoryList } from './directory-list.ts';
import { MimeTypes } from './mime-types.ts';
import { SNIFF_BYTES, sniffType } from './sniff-type.ts';
import { httpErrorParts } from '../server/go-answers.ts';

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);
const readFile = promisify(read);

/** What a {@link FileServer} is asked for. */
export interface FileRequest {
  request: IncomingMessage;
  response: ServerResponse;
  /** Path within the served folder, unescaped, with a slash at its start. */
  path: string;
  /** Query of the request without `?`, for redirects. */
  query: string;
}

/** Serves a folder as Go's `http.FileServer`: files with ranges and conditions, listings, redirects. Links are followed. */
export class FileServer {
  readonly #root: string;
  #types: MimeTypes | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Answers. Rejects only when the client goes while a file is being sent. */
  async serve(asked: FileRequest): Promise<void> {
    const { response, path } = asked;
    if (path.endsWith('/index.html')) {
      redirect(asked, './');
      return;
    }
    const name = cleanPath(path);
    let fd: number | undefined;
    try {
      fd = await this.#open(name);
      let stat = await statFile(fd);
      if (stat.isDirectory()) {
        if (!path.endsWith('/')) {
          redirect(asked, `${posix.basename(path)}/`);
          return;
        }
        const index = await this.#open(join(name, 'index.html')).catch(() => undefined);
        if (index === undefined) {
          await this.#list(asked, name, stat);
          return;
        }
        await closeFile(fd);
        fd = index;
        stat = await statFile(fd);
        if (stat.isDirectory()) await this.#list(asked, join(name, 'index.html'), stat);
        else await this.#send(asked, fd, stat, 'index.html');
        return;
      }
      if (path.endsWith('/')) {
        redirect(asked, `../${posix.basename(path)}`);
        return;
      }
      await this.#send(asked, fd, stat, posix.basename(name));
    } catch (error) {
      if (response.headersSent) throw error;
      const [status, text] = statusOf(error);
      httpError(response, status, text);
    } finally {
      if (fd !== undefined) await closeFile(fd);
    }
  }

  #open(name: string): Promise<number> {
    // Not to be held by a pipe in which nobody writes.
    return openFile(join(this.#root, name), constants.O_RDONLY | constants.O_NONBLOCK);
  }

  async #list({ request, response }: FileRequest, name: string, stat: Stats): Promise<void> {
    if (notModified(request, stat)) {
      response.writeHead(304).end();
      return;
    }
    const page = Buffer.from(directoryList(await readdir(join(this.#root, name), { withFileTypes: true })));
    setLastModified(response, stat);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': page.length }).end(page);
  }

  async #send({ request, response }: FileRequest, fd: number, stat: Stats, name: string): Promise<void> {
    setLastModified(response, stat);
    const { headers } = request;
    // There are no entity tags, so `If-Match` can only be met by `*`, and `If-None-Match` only be broken by it.
    const match = headers['if-match'];
    const unmodified = time(headers['if-unmodified-since']);
    const noneMatch = headers['if-none-match'];
    const failed =
      match !== undefined && match !== ''
        ? !hasStar(match)
        : unmodified !== undefined && !isZero(stat) && seconds(stat) > unmodified;
    if (failed) {
      response.writeHead(412, { 'content-length': 0 }).end();
      return;
    }
    if (noneMatch !== undefined && noneMatch !== '' ? hasStar(noneMatch) : notModified(request, stat)) {
      response.writeHead(304).end();
      return;
    }

    this.#types ??= MimeTypes.ofMachine();
    let type = this.#types.of(name);
    if (type === '') {
      const start = Buffer.alloc(SNIFF_BYTES);
      const { bytesRead } = await readFile(fd, start, 0, SNIFF_BYTES, 0);
      type = sniffType(start.subarray(0, bytesRead));
    }
    const { size } = stat;
    const ifRange = headers['if-range'];
    const whole = typeof ifRange === 'string' && ifRange !== '' && time(ifRange) !== seconds(stat);
    const ranges = parseRanges(whole ? undefined : headers.range, size);
    if (typeof ranges === 'string') {
      response.removeHeader('last-modified');
      if (ranges === 'outside') response.setHeader('content-range', `bytes */${size}`);
      httpError(response, 416, ranges === 'outside' ? 'invalid range: failed to overlap' : 'invalid range');
      return;
    }
    response.setHeader('accept-ranges', 'bytes');
    const [only, ...more] = ranges;
    if (more.length > 0) {
      await sendParts(response, fd, size, type, ranges);
      return;
    }
    const part = only ?? { start: 0, length: size };
    if (only !== undefined) response.setHeader('content-range', contentRange(only, size));
    response.writeHead(only === undefined ? 200 : 206, { 'content-type': type, 'content-length': part.length });
    await pipeline(Readable.from(blocksOf(fd, part), { objectMode: false }), response);
  }
}

/** Answers as Go's `http.Error` does. */
export function httpError(response: ServerResponse, status: number, text: string): void {
  const { headers, body } = httpErrorParts(text);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

async function sendParts(
  response: ServerResponse,
  fd: number,
  size: number,
  type: string,
  ranges: readonly ByteRange[],
): Promise<void> {
  const boundary = randomBytes(30).toString('hex');
  const heads = ranges.map(
    (range, index) =>
      `${index === 0 ? '' : '\r\n'}--${boundary}\r\nContent-Range: ${contentRange(range, size)}\r\nContent-Type: ${type}\r\n\r\n`,
  );
  const foot = `\r\n--${boundary}--\r\n`;
  const length = [...heads, foot].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  response.writeHead(206, {
    'content-type': `multipart/byteranges; boundary=${boundary}`,
    'content-length': length + ranges.reduce((sum, range) => sum + range.length, 0),
  });
  async function* parts(): AsyncGenerator<Buffer> {
    for (const [index, range] of ranges.entries()) {
      yield Buffer.from(heads[index] ?? '');
      yield* blocksOf(fd, range);
    }
    yield Buffer.from(foot);
  }
  await pipeline(Readable.from(parts(), { objectMode: false }), response);
}

/**
 * The bytes of a part. The file stays open. Throws when it has become shorter: the client was told how many come, and would wait for the others for
 * as long as its connection is kept.
 */
async function* blocksOf(fd: number, { start, length }: ByteRange): AsyncGenerator<Buffer> {
  if (length === 0) return;
  let left = length;
  const file = createReadStream('', { fd, autoClose: false, start, end: start + length - 1 });
  for await (const block of file as AsyncIterable<Buffer>) {
    left -= block.length;
    yield block;
  }
  if (left > 0) throw new Error('the file has become shorter');
}

function redirect({ response, query }: FileRequest, location: string): void {
  response.writeHead(301, { location: query === '' ? location : `${location}?${query}`, 'content-length': 0 }).end();
}

/** `path.Clean` of Go for a path from the root: never above it. */
function cleanPath(path: string): string {
  const clean = posix.normalize(`/${path}`);
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean;
}

function statusOf(error: unknown): [status: number, text: string] {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // A NUL in the path gives ERR_INVALID_ARG_VALUE.
  if (['ENOENT', 'ENOTDIR', 'ERR_INVALID_ARG_VALUE'].includes(code)) return [404, '404 page not found'];
  if (code === 'EACCES' || code === 'EPERM') return [403, '403 Forbidden'];
  return [500, '500 Internal Server Error'];
}

function notModified({ headers }: IncomingMessage, stat: Stats): boolean {
  const since = time(headers['if-modified-since']);
  return since !== undefined && !isZero(stat) && seconds(stat) <= since;
}

function setLastModified(response: ServerResponse, stat: Stats): void {
  if (!isZero(stat)) response.setHeader('last-modified', new Date(stat.mtimeMs).toUTCString());
}

/** Of time 0 Go thinks that nobody set it. */
function isZero(stat: Stats): boolean {
  return stat.mtimeMs === 0;
}

function seconds(stat: Stats): number {
  return Math.floor(stat.mtimeMs / 1000);
}

function hasStar(tags: string): boolean {
  return /^(?:\s|,|"[^"]*"|W\/"[^"]*")*\*/.test(tags);
}

const httpTime =
  /^(?:\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT|\w+, \d{2}-\w{3}-\d{2} \d{2}:\d{2}:\d{2} GMT|\w{3} \w{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/** One of HTTP's three forms of a time in seconds since 1970; undefined when it is none. */
function time(text: string | undefined): number | undefined {
  if (text === undefined || !httpTime.test(text)) return undefined;
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}
