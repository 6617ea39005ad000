import type { Socket } from 'node:net';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import { GoUrlError } from '../../../machines/values/go-url-escapes.ts';
import type { GoUrl } from '../../../machines/values/go-url.ts';
import { hostAndPort, parseGoUrl, resolveGoUrl, shownUrl, urlWithoutUser } from '../../../machines/values/go-url.ts';
import { goUrlText, urlOfPath } from '../../../machines/values/go-url.ts';
import { goQuoteBytes } from '../../../machines/values/go-quote.ts';
import { hostPort } from '../../../machines/values/host-port.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { HostFailure, codeOf } from '../../host/files/host-failure.ts';
import type { HostSettings } from '../../host/files/host-settings.ts';
import { dial } from './probe-connection.ts';
import { NoAnswer, ask } from './probe-answer.ts';
import type { ProbeAnswer } from './probe-answer.ts';
import { bytesOf, headerFault, probeHeaders, textOf } from './request-head.ts';
import type { Headers } from './request-head.ts';

type HttpGetParams = EffectCatalog['net.HttpGet']['params'];
type HttpGetResult = EffectCatalog['net.HttpGet']['result'];

/** Bytes of the body that are read; more is cut off without an error. */
const MAX_BODY = 10 * 1024;
/** Of the body of a redirect that is followed, as Go's client reads it. */
const MAX_REDIRECT_BODY = 2 * 1024;
const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Go's client would follow longer ones; each is gone through some ten times, so what a pod can ask for is bounded. */
const MAX_LOCATION = 64 * 1024;
/** Longest path of a probe or hook, bytes. */
const MAX_PATH = 256 * 1024;

/**
 * `net.HttpGet`: a GET as the kubelet's probes and hooks send it (pkg/probe/http on Go's client): own connection, no proxy,
 * certificates not verified, redirects followed while they stay on the same host. A redirect to another host is the answer itself
 * (its status, 3xx, counts as success with a warning). A server that knows HTTP/2 over TLS is asked that way. What an answer of
 * HTTP/1 is, Go's rules say (`answer-head.ts`, `answer-body.ts`).
 * It is over by `timeoutMs`, whatever the peer does.
 *
 * @throws HostFailure `InvalidRequest` (no request can be made of it), `DeadlineExceeded`, an errno, `HTTPResponseToHTTPSClient`
 *   (the port speaks plain HTTP) or `Http`; the text is that of the kubelet's event
 */
export async function httpGet(params: HttpGetParams, _settings: HostSettings): Promise<HttpGetResult> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), params.timeoutMs);
  try {
    return await follow(startUrl(params), probeHeaders(params.headers), abort.signal);
  } finally {
    clearTimeout(timer);
    // Closes what is still open.
    abort.abort();
  }
}

async function follow(start: GoUrl, given: Headers, signal: AbortSignal): Promise<HttpGetResult> {
  const fault = headerFault(given);
  if (fault !== undefined) throw failed(start, 'Http', fault);
  const startHost = hostAndPort(start).hostname;
  let [url, headers, host] = [start, withUser(start, given), given.get('Host')?.[0] ?? ''];
  for (let sent = 1; ; sent++) {
    const { socket, answer } = await get(url, host, headers, signal);
    const { status, location, length = 0 } = answer;
    const next = REDIRECTS.has(status) && location !== '' ? redirect(url, location) : null;
    if (next === null || hostAndPort(next).hostname !== startHost) return result(answer, signal);
    if (length <= MAX_REDIRECT_BODY) await answer.read(MAX_REDIRECT_BODY);
    socket.destroy();
    if (sent >= MAX_REDIRECTS)
      throw new HostFailure('Http', `Get ${quote(location)}: stopped after ${MAX_REDIRECTS} redirects`);
    if (next.scheme !== 'http' && next.scheme !== 'https')
      throw failed(next, 'Http', `unsupported protocol scheme ${quote(next.scheme)}`);
    // A Host header of one's own holds for the same server only (a relative redirect).
    if (parseGoUrl(location).scheme !== '' || host === url.host) host = '';
    headers = withUser(next, withReferer(url, next, given));
    url = next;
  }
}

/** Sends a request on a connection of its own and reads the head of the answer. */
async function get(
  url: GoUrl,
  host: string,
  headers: Headers,
  signal: AbortSignal,
): Promise<{ socket: Socket; answer: ProbeAnswer }> {
  let socket: Socket | undefined;
  try {
    const connection = await dial(url, signal);
    ({ socket } = connection);
    return { socket, answer: await ask(connection, url, host, headers) };
  } catch (error) {
    socket?.destroy();
    if (signal.aborted)
      throw failed(
        url,
        'DeadlineExceeded',
        'context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
        error,
      );
    const cause = error instanceof NoAnswer ? error.cause : error;
    throw failed(url, codeOf(cause), messageOf(error), cause);
  }
}

async function result({ status, read }: ProbeAnswer, signal: AbortSignal): Promise<HttpGetResult> {
  const { body, broken } = await read(MAX_BODY);
  const whole = { status, body: body.toString('utf8') };
  if (broken === undefined) return whole;
  const late = 'context deadline exceeded (Client.Timeout or context cancellation while reading body)';
  return { ...whole, brokenBody: signal.aborted ? late : broken };
}

function redirect(url: GoUrl, location: string): GoUrl {
  try {
    if (location.length > MAX_LOCATION) throw new GoUrlError(`longer than ${MAX_LOCATION} bytes`);
    return resolveGoUrl(url, parseGoUrl(location));
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error;
    throw failed(url, 'Http', `failed to parse Location header ${quote(location)}: ${error.message}`, error);
  }
}

function failed(url: GoUrl, code: string, text: string, cause?: unknown): HostFailure {
  return new HostFailure(code || 'Http', `Get ${quote(shownUrl(url))}: ${text}`, { cause });
}

function quote(bytes: string): string {
  return goQuoteBytes(bytes.slice(0, 4096));
}

/** User and password of the URL, unless there is an Authorization. */
function withUser({ user }: GoUrl, headers: Headers): Headers {
  if (user === null || (headers.get('Authorization')?.[0] ?? '') !== '') return headers;
  const basic = Buffer.from(`${user.name}:${user.password ?? ''}`, 'latin1').toString('base64');
  return new Map(headers).set('Authorization', [`Basic ${basic}`]);
}

function withReferer(from: GoUrl, to: GoUrl, headers: Headers): Headers {
  if (from.scheme === 'https' && to.scheme === 'http') return headers;
  if ((headers.get('Referer')?.[0] ?? '') !== '') return headers;
  return new Map(headers).set('Referer', [urlWithoutUser(from)]);
}

/** The path may carry a query; one that is no part of a URL goes in as it is, escaped (kubelet's formatURL). */
function startUrl({ scheme, host, port, path }: HttpGetParams): GoUrl {
  // No server takes it, and to escape it would hold this thread.
  if (path.length > MAX_PATH) throw new HostFailure('InvalidRequest', `the path is longer than ${MAX_PATH} bytes`);
  let url;
  try {
    url = parseGoUrl(bytesOf(path));
  } catch {
    url = urlOfPath(bytesOf(path));
  }
  const text = goUrlText({ ...url, scheme, host: bytesOf(hostPort(host, port)) });
  try {
    return parseGoUrl(text);
  } catch (error) {
    throw new HostFailure('InvalidRequest', textOf(messageOf(error)), { cause: error });
  }
}
