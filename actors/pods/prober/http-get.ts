import { request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { hostPort } from '../../../machines/values/host-port.ts';
import { HostFailure, codeOf } from '../../host/files/host-failure.ts';
import type { HostSettings } from '../../host/files/host-settings.ts';
import { dialText, streamText } from './net-failure.ts';

type HttpGetParams = EffectCatalog['net.HttpGet']['params'];
type HttpGetResult = EffectCatalog['net.HttpGet']['result'];

/** Bytes of the body that are read; more is cut off without an error. */
const MAX_BODY = 10 * 1024;
const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** The agent speaks as kubelet 1.35 does, so that servers that look at it see what they know. */
export const USER_AGENT = 'kube-probe/1.35';

/**
 * `net.HttpGet`: a GET as the kubelet's probes and hooks send it: own connection, no proxy, certificates not
 * verified, redirects followed while they stay on the same host. A redirect to another host is the answer itself
 * (its status, 3xx, counts as success with a warning).
 *
 * @throws HostFailure `DeadlineExceeded`, an errno, `HTTPResponseToHTTPSClient` (the port speaks plain HTTP) or
 *   `Http`; the text is that of the kubelet's event
 */
export async function httpGet(params: HttpGetParams, _settings: HostSettings): Promise<HttpGetResult> {
  const start = startUrl(params);
  const headers = requestHeaders(params.headers);
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), params.timeoutMs);
  try {
    let url = start;
    for (let hop = 0; ; hop++) {
      const { response, body } = await get(url, headers, abort.signal);
      const status = response.statusCode ?? 0;
      const location = response.headers.location;
      if (!REDIRECTS.has(status) || location === undefined) return { status, body };
      const next = URL.parse(location, url.href);
      if (next === null)
        throw new HostFailure('Http', `Get "${url.href}": failed to parse Location header ${JSON.stringify(location)}`);
      if (next.hostname !== start.hostname) return { status, body };
      if (next.protocol !== 'http:' && next.protocol !== 'https:')
        throw new HostFailure(
          'Http',
          `Get "${next.href}": unsupported protocol scheme "${next.protocol.slice(0, -1)}"`,
        );
      if (hop + 1 >= MAX_REDIRECTS)
        throw new HostFailure('Http', `Get "${next.href}": stopped after ${MAX_REDIRECTS} redirects`);
      // A Host header of one's own holds for the same server only (a relative redirect).
      if (/^[a-z][a-z0-9+.-]*:/i.test(location) || location.startsWith('//')) delete headers['Host'];
      url = next;
    }
  } finally {
    clearTimeout(timer);
  }
}

function get(
  url: URL,
  headers: Record<string, string[] | string>,
  signal: AbortSignal,
): Promise<{ response: IncomingMessage; body: string }> {
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (secure ? 443 : 80));
  const options: RequestOptions & { servername?: string; rejectUnauthorized?: boolean } = {
    host,
    port,
    method: 'GET',
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, Connection: 'close' },
    // Without an agent there is no pool: nothing outlives the probe.
    agent: false,
    signal,
  };
  if (secure) {
    options.rejectUnauthorized = false;
    options.servername = isIP(host) === 0 ? host : '';
  }
  return new Promise((resolve, reject) => {
    const address = hostPort(host, port);
    let from: string | undefined;
    let answered = false;
    const fail = (error: unknown) =>
      reject(answered ? bodyFailure(error, signal.aborted) : explain(error, url, address, from, signal.aborted));
    const request = (secure ? httpsRequest : httpRequest)(options, (response) => {
      answered = true;
      readBody(response).then((body) => resolve({ response, body }), fail);
    });
    request.once('socket', (socket) =>
      socket.once('connect', () => (from = hostPort(socket.localAddress ?? '', socket.localPort ?? 0))),
    );
    request.once('error', fail);
    request.end();
  });
}

function readBody(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = () => {
      resolve(Buffer.concat(chunks).subarray(0, MAX_BODY).toString('utf8'));
      response.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_BODY) finish();
    });
    response.once('end', finish);
    response.on('error', reject);
  });
}

function bodyFailure(error: unknown, timedOut: boolean): HostFailure {
  if (!timedOut) return new HostFailure('Http', 'unexpected EOF', { cause: error });
  const text = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';
  return new HostFailure('DeadlineExceeded', text, { cause: error });
}

function explain(
  error: unknown,
  url: URL,
  address: string,
  /** Own end of the connection; undefined when it was never there. */
  from: string | undefined,
  timedOut: boolean,
): HostFailure {
  const get = `Get "${url.href}": `;
  const code = codeOf(error);
  const make = (own: string, text: string) => new HostFailure(own, get + text, { cause: error });
  if (timedOut)
    return make('DeadlineExceeded', 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)');
  if (from === undefined) return make(code || 'Unknown', dialText(address, error));
  // OpenSSL's words for an answer that is no TLS record; the code is sometimes only EPROTO.
  if (/wrong version number|packet length too long/.test(messageOf(error)))
    return make('HTTPResponseToHTTPSClient', 'http: server gave HTTP response to HTTPS client');
  // Node says «socket hang up» for a peer that closed before it answered.
  if (code === 'ECONNRESET' && /hang up|disconnected/.test(messageOf(error))) return make('Http', 'EOF');
  if (code.startsWith('HPE_'))
    return make('Http', `net/http: HTTP/1.x transport connection broken: ${messageOf(error)}`);
  return make(code || 'Http', streamText(from, address, error));
}

/** The path may carry a query; one that is no URL part goes in as it is, escaped. */
function startUrl(params: HttpGetParams): URL {
  const base = `${params.scheme}://${hostPort(params.host, params.port)}`;
  const path = params.path.startsWith('/') ? params.path : `/${params.path}`;
  const url = URL.parse(`${base}${path}`);
  if (url === null) throw new HostFailure('Http', `Get "${base}${path}": invalid URL`);
  url.hash = '';
  return url;
}

/** Given headers, several values for one name kept in order; `Accept` and `User-Agent` when they are not given. */
function requestHeaders(given: HttpGetParams['headers']): Record<string, string[] | string> {
  const byName = new Map<string, string[]>();
  for (const { name, value } of given) {
    const key = canonicalName(name);
    byName.set(key, [...(byName.get(key) ?? []), value]);
  }
  const out: Record<string, string[] | string> = {};
  for (const [name, values] of byName) {
    const single = name === 'Host' || name === 'User-Agent' || name === 'Content-Type';
    const first = values[0] ?? '';
    // An empty Accept, User-Agent or Host means: do not send one of your own.
    if ((name === 'Accept' || single) && first === '') continue;
    out[name] = single ? first : values;
  }
  if (!byName.has('User-Agent')) out['User-Agent'] = USER_AGENT;
  if (!byName.has('Accept')) out['Accept'] = '*/*';
  return out;
}

function canonicalName(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase());
}
