import { setTimeout as sleep } from 'node:timers/promises';
import { unlessAborted } from '../../host/time/unless-aborted.ts';
import { ApiStatusError } from './api-client.ts';
import { answerError, retryAfterSeconds } from './answer-error.ts';
import { H1Transport } from './h1-transport.ts';
import { H2Transport, NoHttp2 } from './h2-transport.ts';
import { jsonLines, parseJson } from './json-lines.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import { TimeLimit } from './time-limit.ts';
import { requestHeaders, requestPath } from './request-head.ts';
import { TransportError, wholeBody } from './transport.ts';
import { TokenBucket } from '../../runtime/flow-control/token-bucket.ts';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { RequestTrace } from '../../record/tracing/request-spans.ts';
import type { ApiClient, ApiRequest } from './api-client.ts';
import type { Identity } from './credentials.ts';
import type { HealthCheck } from './h2-session.ts';
import type { Kubeconfig } from './kubeconfig.ts';
import type { HttpAnswer, Transport } from './transport.ts';

/** Told of each HTTP request that ended, for rest_client_* metrics. */
export interface RequestSeen {
  method: string;
  /** Host and port of the server. */
  host: string;
  /** HTTP status, `<error>` when no answer came (as client-go counts it). */
  code: string;
  /** Until the head of the answer. */
  seconds: number;
  /** Of the body that was sent. */
  bytes: number;
}

/** Options of {@link createApiClient}. */
export interface ApiClientOptions {
  /** Path of a kubeconfig, or one that was loaded by `loadKubeconfig`. */
  kubeconfig: string | Kubeconfig;
  userAgent: string;
  log: Logger;
  onRequest?: (seen: RequestSeen) => void;
  /** Told of the size of each answer that was read, watches apart. */
  onAnswer?: (method: string, host: string, bytes: number) => void;
  /** Told how long each request that is limited waited for its turn. */
  onTurn?: (method: string, host: string, seconds: number) => void;
  /** Begins the span of a request. */
  trace?: (method: string, url: string) => RequestTrace;
  /** Who sends for many nodes has their requests wait for each other. */
  lanes?: Lanes;
  /** For tests; 30 s and 15 s. */
  health?: HealthCheck;
}

/** Requests that share one way to the server. */
export interface Lanes {
  /** Resolves when the request's turn has come, with what is called when it is over. Rejects when the signal ends the wait. */
  enter(request: ApiRequest, signal: AbortSignal): Promise<() => void>;
  /** Others have to wait. */
  isCrowded(): boolean;
}

/** How often a request is sent again when the server says Retry-After (client-go's maxRetries). */
const maxRetries = 10;
const defaultTimeoutMs = 30_000;
/** Largest answer that is read, bytes: all services of a large cluster have some 50 MiB. */
const MAX_ANSWER = 256 * 1024 * 1024;

/**
 * Makes the client of the API server: HTTP/2 over one kept connection, HTTP/1.1 for `http://` and for servers without
 * HTTP/2. Throws an ActorletError when the kubeconfig is bad; connects when the first request comes.
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const { kubeconfig, log } = options;
  const loaded = typeof kubeconfig === 'string' ? loadKubeconfig(kubeconfig, { log }) : kubeconfig;
  return facade(new Sender(loaded, options), undefined);
}

function facade(sender: Sender, turns: TokenBucket | undefined): ApiClient {
  return {
    request: <T>(request: ApiRequest) => sender.request(request, turns) as Promise<T>,
    stream: (request) => sender.stream(request),
    limited: (qps, burst) => facade(sender, qps > 0 ? new TokenBucket(qps, burst) : undefined),
    isCrowded: () => sender.isCrowded(),
    close: () => sender.close(),
  };
}

class Sender {
  private readonly kubeconfig: Kubeconfig;
  private readonly options: ApiClientOptions;
  private readonly h2: H2Transport | undefined;
  private h1: H1Transport | undefined;

  constructor(kubeconfig: Kubeconfig, options: ApiClientOptions) {
    this.kubeconfig = kubeconfig;
    this.options = options;
    const health = options.health ?? { idleMs: 30_000, ackMs: 15_000 };
    if (kubeconfig.server.protocol === 'https:') this.h2 = new H2Transport(kubeconfig, health);
    else this.h1 = new H1Transport(kubeconfig);
  }

  async request(request: ApiRequest, turns: TokenBucket | undefined): Promise<unknown> {
    const timeoutMs = request.timeoutMs ?? defaultTimeoutMs;
    const limit = new TimeLimit(timeoutMs, request.signal);
    let leave: (() => void) | undefined;
    try {
      if (turns !== undefined) {
        const asked = performance.now();
        await waitTurn(turns, limit.signal);
        this.options.onTurn?.(request.method, this.kubeconfig.server.host, (performance.now() - asked) / 1000);
      }
      leave = await this.enter(request, limit);
      const answer = await this.answerOf(request, limit.signal);
      const text = await this.read(request, answer);
      return text === '' ? undefined : parseJson(text);
    } catch (error) {
      throw this.errorOf(error, request, limit, timeoutMs);
    } finally {
      leave?.();
      limit.release();
    }
  }

  isCrowded(): boolean {
    return this.options.lanes?.isCrowded() === true;
  }

  async stream(request: ApiRequest): Promise<AsyncIterable<unknown>> {
    const timeoutMs = request.timeoutMs ?? defaultTimeoutMs;
    const limit = new TimeLimit(timeoutMs, request.signal);
    try {
      const answer = await this.answerOf(request, limit.signal);
      limit.stopClock();
      return released(jsonLines(wholeBody(answer)), limit);
    } catch (error) {
      limit.release();
      throw this.errorOf(error, request, limit, timeoutMs);
    }
  }

  close(): void {
    this.h2?.close();
    this.h1?.close();
  }

  /** The wait for others is not the server's: the request's time counts from its turn on. */
  private async enter(request: ApiRequest, limit: TimeLimit): Promise<(() => void) | undefined> {
    const { lanes } = this.options;
    if (lanes === undefined) return undefined;
    limit.stopClock();
    const leave = await lanes.enter(request, limit.signal);
    limit.startClock();
    return leave;
  }

  /** Sends until a success comes; other answers are thrown as ApiStatusError. */
  private async answerOf(request: ApiRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const path = requestPath(this.kubeconfig.server.pathname.replace(/\/$/, ''), request);
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    let again = true;
    let identityAgain = true;
    let told: ApiStatusError | undefined;
    for (let tries = 0; ;) {
      const identity = await this.identity(signal);
      let answer: HttpAnswer;
      try {
        answer = await this.sendOnce(request, path, body, identity, signal);
      } catch (error) {
        if (told !== undefined && signal.aborted) throw told;
        const dead = error instanceof TransportError && (error.untouched || request.method === 'GET') && error.kept;
        if (!dead || !again || signal.aborted) throw error;
        again = false;
        continue;
      }
      const { status } = answer;
      if (status >= 200 && status < 300) return answer;
      const text = await this.read(request, answer);
      const seconds = retryAfterSeconds(answer.headers);
      if (status === 401 && identityAgain && this.kubeconfig.credentials.rejected(identity)) {
        identityAgain = false;
        continue;
      }
      told = answerError(status, text, seconds);
      if ((status !== 429 && status < 500) || seconds === undefined || tries >= maxRetries) throw told;
      tries++;
      this.options.log.debug({ method: request.method, path, status, seconds, tries }, 'The API server asks to wait');
      try {
        await sleep(seconds * 1000, undefined, { signal });
      } catch {
        throw told;
      }
    }
  }

  /** A plugin that hangs holds no request for longer than it may take. */
  private async identity(signal: AbortSignal): Promise<Identity> {
    const given = this.kubeconfig.credentials.current();
    if (!(given instanceof Promise)) return given;
    return unlessAborted(given, signal, () => new TransportError(signal.reason, true, false));
  }

  private async sendOnce(
    request: ApiRequest,
    path: string,
    body: string | undefined,
    identity: Identity,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const { method } = request;
    const trace = this.options.trace?.(method, `${this.kubeconfig.server.origin}${path}`);
    const headers = {
      ...requestHeaders(request, this.options.userAgent, identity.authorization),
      ...trace?.headers,
    };
    const started = performance.now();
    let code = '<error>';
    try {
      const answer = await this.transportSend({ method, path, headers, body, identity, signal });
      code = String(answer.status);
      trace?.end(answer.status, '');
      return answer;
    } catch (error) {
      trace?.end(null, messageOf(error));
      throw error;
    } finally {
      const seconds = (performance.now() - started) / 1000;
      const bytes = body === undefined ? 0 : Buffer.byteLength(body);
      this.options.onRequest?.({ method, host: this.kubeconfig.server.host, code, seconds, bytes });
    }
  }

  private async read({ method }: ApiRequest, answer: HttpAnswer): Promise<string> {
    const content = await readAll(answer);
    this.options.onAnswer?.(method, this.kubeconfig.server.host, content.length);
    return content.toString('utf8');
  }

  private async transportSend(request: Parameters<Transport['send']>[0]): Promise<HttpAnswer> {
    if (this.h1 === undefined && this.h2 !== undefined) {
      try {
        return await this.h2.send(request);
      } catch (error) {
        if (!(error instanceof NoHttp2)) throw error;
      }
    }
    this.h1 ??= new H1Transport(this.kubeconfig);
    return this.h1.send(request);
  }

  private errorOf(error: unknown, request: ApiRequest, limit: TimeLimit, timeoutMs: number): ApiStatusError {
    if (error instanceof ApiStatusError) return error;
    const { host } = this.kubeconfig.server;
    if (request.signal?.aborted)
      return new ApiStatusError(0, 'Aborted', 'the request was aborted', 0, { cause: error });
    if (limit.over) {
      this.h2?.check();
      const message = `no answer from the API server ${host} within ${String(timeoutMs)} ms`;
      return new ApiStatusError(0, 'Unreachable', message, 0, { cause: error });
    }
    const why = error instanceof Error ? error.message || (error as NodeJS.ErrnoException).code : String(error);
    const message = `cannot reach the API server ${host}: ${why ?? 'unknown reason'}`;
    return new ApiStatusError(0, 'Unreachable', message, 0, { cause: error });
  }
}

async function waitTurn(turns: TokenBucket, signal: AbortSignal): Promise<void> {
  const ms = turns.take();
  if (ms === 0) return;
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    turns.giveBack();
    throw error;
  }
}

async function readAll(answer: HttpAnswer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of wholeBody(answer)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER) throw new Error(`the answer is larger than ${String(MAX_ANSWER)} bytes`);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

async function* released(lines: AsyncGenerator<unknown>, limit: TimeLimit): AsyncGenerator<unknown> {
  try {
    yield* lines;
  } finally {
    limit.release();
  }
}
