import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';

/** A whole answer. */
export interface HttpAnswer {
  status: number;
  /** `404 Not Found`. */
  statusText: string;
  body: Buffer;
}

/** Headers as `staticPodURLHeader` has them: several values for each name. */
export type HeaderLists = Readonly<Record<string, readonly string[]>>;

const MAX_REDIRECTS = 10;
/** Never sent on to another host than the one they were written for. */
const SECRET_HEADERS = ['authorization', 'cookie', 'cookie2', 'www-authenticate'];

/**
 * GET with redirects and a limit on the size. Rejects on a network error, after `signal` fires, on the eleventh
 * redirect and on a body of `maxBytes` or more.
 */
export async function httpGet(
  url: URL,
  headers: HeaderLists,
  maxBytes: number,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  let target = url;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await send(target, target.host === url.host ? headers : withoutSecrets(headers), signal);
    const status = response.statusCode ?? 0;
    const location = response.headers.location;
    if (![301, 302, 303, 307, 308].includes(status) || !location) {
      return {
        status,
        statusText: `${status} ${response.statusMessage ?? ''}`.trim(),
        body: await read(response, maxBytes),
      };
    }
    response.resume();
    target = new URL(location, target);
  }
  throw new Error(`stopped after ${MAX_REDIRECTS} redirects`);
}

function withoutSecrets(headers: HeaderLists): HeaderLists {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET_HEADERS.includes(name.toLowerCase())));
}

function send(url: URL, headers: HeaderLists, signal: AbortSignal): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  // The Host header always names the URL's host, as with Go's client.
  const lists = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'host');
  const sent = Object.fromEntries(lists.map(([name, values]) => [name, values.length === 1 ? values[0] : [...values]]));
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'GET', headers: sent, signal, agent: false }, resolve);
    call.on('error', reject);
    call.end();
  });
}

async function read(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size >= maxBytes) {
      response.destroy();
      throw new Error(`the answer is larger than ${maxBytes} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}
