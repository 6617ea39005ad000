import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { KeyPair } from '../../../bin/control-plane/pki.ts';

/** What the API server answered when it did not answer 2xx. */
export class ApiProblem extends Error {
  readonly code: number;
  readonly reason: string;

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/** One event of a watch. */
export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: T;
}

/** Who calls: a certificate, or a bearer token alone. */
export type Caller = { pair: KeyPair } | { token: string };

/** The API server as plain JSON over kept connections. */
export class AdminApi {
  private readonly agent: Agent;
  private readonly host: string;
  private readonly port: number;
  private readonly headers: Record<string, string>;

  constructor(host: string, port: number, caFile: string, caller: Caller) {
    this.host = host;
    this.port = port;
    const client = 'pair' in caller ? { cert: readFileSync(caller.pair.cert), key: readFileSync(caller.pair.key) } : {};
    this.agent = new Agent({ keepAlive: true, ca: readFileSync(caFile), ...client });
    this.headers = 'token' in caller ? { authorization: `Bearer ${caller.token}` } : {};
  }

  get<T>(path: string): Promise<T> {
    return this.call<T>('GET', path);
  }

  /** The object, undefined when there is none (404). */
  async find<T>(path: string): Promise<T | undefined> {
    try {
      return await this.get<T>(path);
    } catch (error) {
      if (error instanceof ApiProblem && error.code === 404) return undefined;
      throw error;
    }
  }

  /** `items` of a list. */
  async list<T>(path: string): Promise<T[]> {
    return (await this.get<{ items: T[] }>(path)).items;
  }

  post<T>(path: string, body: object): Promise<T> {
    return this.call<T>('POST', path, body);
  }

  put<T>(path: string, body: object): Promise<T> {
    return this.call<T>('PUT', path, body);
  }

  /** A merge patch (RFC 7386), or a strategic one. */
  patch<T>(path: string, body: object, kind: 'merge' | 'strategic-merge' = 'merge'): Promise<T> {
    return this.call<T>('PATCH', path, body, `application/${kind}-patch+json`);
  }

  delete<T>(path: string, options: object = {}): Promise<T> {
    return this.call<T>('DELETE', path, options);
  }

  /** Body of a path that is no JSON, e.g. `/metrics`. */
  text(path: string): Promise<string> {
    return this.send('GET', path, undefined, '');
  }

  /**
   * Watches a list from now on; `onEvent` sees each change, `ended` resolves when the server ends it or after `stop`.
   * The path may have a query. What there is already comes as ADDED first.
   */
  watch<T>(path: string, onEvent: (event: WatchEvent<T>) => void): { ended: Promise<void>; stop: () => void } {
    const separator = path.includes('?') ? '&' : '?';
    const sent = request({ ...this.target('GET', `${path}${separator}watch=1`), headers: this.headers });
    const ended = new Promise<void>((resolve) => {
      sent.on('error', () => resolve());
      sent.on('close', () => resolve());
      sent.on('response', (response) => {
        let rest = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          const lines = (rest + chunk).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) if (line !== '') onEvent(JSON.parse(line) as WatchEvent<T>);
        });
        response.on('error', () => resolve());
      });
    });
    sent.end();
    return { ended, stop: () => sent.destroy() };
  }

  close(): void {
    this.agent.destroy();
  }

  private async call<T>(method: string, path: string, body?: object, type = 'application/json'): Promise<T> {
    return JSON.parse(await this.send(method, path, body, type)) as T;
  }

  private target(method: string, path: string) {
    return { agent: this.agent, method, host: this.host, port: this.port, path };
  }

  private send(method: string, path: string, body: object | undefined, type: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const content = body === undefined ? '' : JSON.stringify(body);
      // Node sends the body of a DELETE without its length unless it is told
      const length = { 'content-type': type, 'content-length': Buffer.byteLength(content) };
      const headers = body === undefined ? this.headers : { ...this.headers, ...length };
      const sent = request({ ...this.target(method, path), headers, timeout: 60_000 }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () => {
          const code = response.statusCode ?? 0;
          if (code < 300) resolve(text);
          else reject(problem(code, `${method} ${path}`, text));
        });
      });
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer for 60 s`)));
      sent.on('error', reject);
      sent.end(content);
    });
  }
}

function problem(code: number, what: string, text: string): ApiProblem {
  let reason = '';
  let message = text;
  try {
    const status = JSON.parse(text) as { reason?: string; message?: string };
    reason = status.reason ?? '';
    message = status.message ?? text;
  } catch {
    // plain text
  }
  return new ApiProblem(code, reason, `${what}: ${code} ${message.slice(0, 1000)}`);
}
