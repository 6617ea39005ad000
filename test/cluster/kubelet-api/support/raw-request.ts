import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { KeyPair } from '../../../../bin/control-plane/pki.ts';

/** What a server answered, as far as two servers can be compared. */
export interface Answer {
  status: number;
  contentType: string;
  /** Headers that say something about the answer. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** With what a client says who it is. */
export interface Identity {
  name: string;
  pair?: KeyPair;
  /** Value of the Authorization header. */
  authorization?: string;
}

const TELLING = ['location', 'allow', 'x-content-type-options', 'www-authenticate'] as const;
const LONGEST_BODY = 64 << 10;

/** A client of one server with one identity that sends paths as they are, over a few kept connections. */
export class RawClient {
  private readonly agent: Agent;
  private readonly host: string;
  private readonly port: number;
  private readonly headers: Record<string, string>;

  constructor(host: string, port: number, identity: Identity) {
    const { pair, authorization } = identity;
    const client = pair === undefined ? {} : { cert: readFileSync(pair.cert), key: readFileSync(pair.key) };
    // who the server is, is another test's subject
    this.agent = new Agent({ keepAlive: true, maxSockets: 4, rejectUnauthorized: false, ...client });
    this.headers = authorization === undefined ? {} : { authorization };
    this.host = host;
    this.port = port;
  }

  /** Sends a request without a body; `path` goes over the wire letter by letter. */
  ask(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { agent, host, port } = this;
      const all = {
        ...this.headers,
        ...headers,
        ...(method === 'GET' || method === 'HEAD' ? {} : { 'content-length': '0' }),
      };
      const sent = request({ agent, host, port, method, path, headers: all, timeout: 90_000 }, (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          if (bytes < LONGEST_BODY) chunks.push(chunk);
          bytes += chunk.length;
        });
        response.on('error', reject);
        response.on('end', () => {
          const telling = TELLING.flatMap((name) => {
            const value = response.headers[name];
            return value === undefined ? [] : [[name, String(value)] as const];
          });
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'] ?? '',
            headers: Object.fromEntries(telling),
            body: Buffer.concat(chunks).toString('utf8'),
          });
        });
      });
      sent.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, contentType: '', headers: {}, body: '' });
      });
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path}: no answer for 90 s`)));
      sent.on('error', reject);
      sent.end();
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
