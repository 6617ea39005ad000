import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { parseRequest } from './parse-request.ts';
import { collectionOf, failure } from './rest-rules.ts';
import type { ObjectStore, Selection } from './object-store.ts';
import type { FakeAnswer, FakeRequest } from './rest-rules.ts';

export type Incoming = IncomingMessage | Http2ServerRequest;
/** Http2's compatibility answer has all of it, plus `stream`. */
export type Outgoing = ServerResponse & Partial<Pick<Http2ServerResponse, 'stream'>>;

/** What a list or watch asks for. */
export function selectionOf(request: FakeRequest): Selection {
  const { fieldSelector, labelSelector } = request.query;
  return { collection: collectionOf(request), namespace: request.namespace, fieldSelector, labelSelector };
}

/** Answers a list, in chunks when asked for. */
export function answerList(store: ObjectStore, request: FakeRequest): FakeAnswer {
  const all = store.list(selectionOf(request));
  const from = Number(request.query.continue ?? '0');
  const limit = Number(request.query.limit ?? '0') || Infinity;
  const items = all.slice(from, from + limit);
  const left = all.length - from - items.length;
  const metadata = {
    resourceVersion: String(store.version),
    ...(left > 0 && { continue: String(from + items.length), remainingItemCount: left }),
  };
  // Items of a real list carry neither kind nor apiVersion.
  const bare = items.map(({ kind: _kind, apiVersion: _version, ...rest }) => rest);
  const apiVersion = request.group === '' ? request.version : `${request.group}/${request.version}`;
  return { code: 200, body: { kind: 'List', apiVersion, metadata, items: bare } };
}

/** Takes a request apart, as it is recorded. */
export function record(incoming: Incoming, text: string): FakeRequest {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value);
  const socket = incoming.socket as TLSSocket;
  const subject = 'getPeerCertificate' in socket ? socket.getPeerCertificate().subject : undefined;
  const method = incoming.method ?? '';
  let body: unknown;
  try {
    body = text === '' ? undefined : JSON.parse(text);
  } catch {
    body = text;
  }
  return {
    ...parseRequest(method, incoming.url ?? '/'),
    method,
    headers,
    body,
    clientName: (subject as { CN?: string } | undefined)?.CN ?? '',
    httpVersion: incoming.httpVersion,
    code: 0,
    at: Date.now(),
  };
}

/** Answers paths that are no resource. */
export function nonResource(path: string): FakeAnswer {
  if (path === '/version') return { code: 200, body: { gitVersion: 'v1.35.4' } };
  return failure(404, 'NotFound', 'the server could not find the requested resource');
}

/** Sends an answer and records its code. */
export function send(response: Outgoing, request: FakeRequest, { code, body, headers }: FakeAnswer): void {
  request.code = code;
  if (response.destroyed) return;
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
