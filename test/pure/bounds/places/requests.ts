/** What clients of the node's servers send; the head of a request may have 1 MiB. All of it is read by the main thread. */
import type { FastifyRequest } from 'fastify';
import { takesOneOf } from '../../../../actors/serve/server/acceptable.ts';
import { prefersGzip } from '../../../../actors/serve/server/metrics-page.ts';
import { takesGzip } from '../../../../actors/inspect/inspector/answer-json.ts';
import { NAME_TAG, parseAlternativeNames } from '../../../../actors/serve/authn/alternative-names.ts';
import { parseCertificate } from '../../../../actors/serve/authn/certificate.ts';
import { parseNameConstraints } from '../../../../actors/serve/authn/name-constraints.ts';
import { bearerToken, webSocketToken } from '../../../../actors/serve/authn/token-syntax.ts';
import { parsePodLogOptions } from '../../../../actors/serve/container-logs/parse-options.ts';
import { parseRanges } from '../../../../actors/serve/node-logs/byte-range.ts';
import {
  parseNodeLogQuery,
  re2Problem,
  validateNodeLogQuery,
} from '../../../../actors/serve/node-logs/node-log-query.ts';
import { parseGoForm, parseGoQuery, unescapePath } from '../../../../actors/serve/server/go-query.ts';
import { decodedPath, routed } from '../../../../actors/serve/server/request-path.ts';
import { redirectBody, serveMux } from '../../../../actors/serve/server/serve-mux.ts';
import { offeredProtocols } from '../../../../actors/serve/streaming/protocols.ts';
import { portForwardPorts, remoteCommandOptions } from '../../../../actors/serve/streaming/stream-options.ts';
import type { Place } from '../support/place.ts';

const place = (name: string, channel: string, read: Place['read']): Place => ({ name, channel, thread: 'main', read });
const patterns = ['/pods', '/pods/', '/logs/', '/exec/', '/containerLogs/'];
const query = (text: string, name: string) => parseGoQuery(`/?${name}=${text}`);
const webSocket = (protocols: string) => ({
  ...{ upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-protocol': protocols },
});

/** OpenSSL takes no chain of certificates that is longer. */
const CHAIN = 100 * 1024;

/** Bytes as DER, of a tag. */
function der(tag: number, content: Buffer): Buffer {
  const length = content.length;
  return Buffer.concat([Buffer.from([tag, 0x83, length >> 16, (length >> 8) & 255, length & 255]), content]);
}
const names = (text: string, tag: number) => der(0x30, der(tag, Buffer.from(text, 'latin1')));
const shown = (name: string, read: Place['read']): Place => ({
  ...place(name, 'certificate of a client', read),
  largest: CHAIN,
});

export const places: readonly Place[] = [
  shown('parseCertificate', (text) => parseCertificate(Buffer.from(text, 'latin1'))),
  shown('parseCertificate: inside', (text) => parseCertificate(der(0x30, der(0x30, Buffer.from(text, 'latin1'))))),
  ...Object.entries(NAME_TAG).flatMap(([kind, tag]) => [
    shown(`parseAlternativeNames: ${kind}`, (text) => parseAlternativeNames(names(text, tag))),
    shown(`parseNameConstraints: ${kind}`, (text) => parseNameConstraints(der(0x30, der(0xa0, names(text, tag))))),
  ]),
  place('routed, serveMux, decodedPath', 'path', (text) => {
    const url = routed(`/logs/${text}`);
    const answer = serveMux(patterns, url);
    if (answer.kind === 'redirect') redirectBody(answer.location);
    decodedPath(url);
  }),
  place('routed: absolute form', 'path', (text) => routed(`http://${text}`)),
  place('parseGoQuery', 'query', (text) => parseGoQuery(`/?${text}`)),
  place('parseGoForm', 'query of /stats/summary', (text) => parseGoForm(text)),
  place('unescapePath', 'path of /logs/', (text) => unescapePath(routed(`/${text}`))),
  place('parsePodLogOptions: sinceTime', 'query', (text) => parsePodLogOptions(query(text, 'sinceTime'))),
  place('parsePodLogOptions: tailLines', 'query', (text) => parsePodLogOptions(query(text, 'tailLines'))),
  place('parsePodLogOptions: follow', 'query', (text) => parsePodLogOptions(query(text, 'follow'))),
  ...['query', 'sinceTime', 'untilTime', 'tailLines', 'boot', 'pattern'].map((name) =>
    place(`parseNodeLogQuery, validateNodeLogQuery: ${name}`, 'query', async (text) => {
      const parsed = parseNodeLogQuery(parseGoQuery(`/?query=a&${name}=${text}`));
      if (parsed.query) await validateNodeLogQuery(parsed.query, () => '');
    }),
  ),
  { ...place('re2Problem', 'query, which bounds it', re2Problem), largest: 16 * 1024 },
  place('parseRanges', 'header Range', (text) => parseRanges(text, 1_000_000)),
  place('parseRanges: of bytes', 'header Range', (text) => parseRanges(`bytes=${text}`, 1_000_000)),
  place('remoteCommandOptions', 'query', (text) => remoteCommandOptions(parseGoQuery(`/?${text}`))),
  place('portForwardPorts', 'query', (text) => portForwardPorts(query(text, 'port'))),
  place('portForwardPorts: many', 'query', (text) =>
    portForwardPorts(parseGoQuery(`/?${text.replaceAll('=', 'port=')}`)),
  ),
  place('bearerToken', 'header Authorization', (text) => bearerToken({ authorization: `Bearer ${text}` })),
  place('bearerToken: scheme', 'header Authorization', (text) => bearerToken({ authorization: text })),
  place('webSocketToken', 'header Sec-WebSocket-Protocol', (text) => webSocketToken(webSocket(text))),
  place('offeredProtocols', 'header Sec-WebSocket-Protocol', (text) => offeredProtocols(webSocket(text))),
  place('webSocketToken: the token', 'header Sec-WebSocket-Protocol', (text) =>
    webSocketToken(webSocket(`base64url.bearer.authorization.k8s.io.${text},a`)),
  ),
  place('takesOneOf', 'header Accept', (text) => takesOneOf(text, ['application/json'])),
  place('prefersGzip', 'header Accept-Encoding of pages of metrics', prefersGzip),
  place('takesGzip', 'header Accept-Encoding of the inspector', (text) =>
    takesGzip({ headers: { 'accept-encoding': text } } as unknown as FastifyRequest),
  ),
];
