import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearerToken, webSocketToken } from '../../../actors/serve/authn/token-syntax.ts';

test('bearer tokens are read as kubelet reads them', () => {
  const table: [string | undefined, string | null][] = [
    [undefined, null],
    ['', null],
    ['Bearer', null],
    ['Bearer ', null],
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER abc', 'abc'],
    ['  Bearer abc  ', 'abc'],
    ['Bearer  abc', null],
    ['Bearer abc def', 'abc'],
    ['Bearer\tabc', null],
    ['Bearerabc', null],
    ['Basic abc', null],
    ['Token Bearer abc', null],
    [Buffer.from('Bearer żółw').toString('latin1'), 'żółw'],
  ];
  for (const [authorization, token] of table) assert.equal(bearerToken({ authorization }), token, authorization);
});

const PREFIX = 'base64url.bearer.authorization.k8s.io.';
const upgrade = { connection: 'keep-alive, Upgrade', upgrade: 'WebSocket' };
const encoded = Buffer.from('a-token').toString('base64url');

test('a WebSocket protocol may be the token, and is taken out', () => {
  const header = `v5.channel.k8s.io, ${PREFIX}${encoded},v4.channel.k8s.io`;
  assert.deepEqual(webSocketToken({ ...upgrade, 'sec-websocket-protocol': header }), {
    token: 'a-token',
    protocols: 'v5.channel.k8s.io,v4.channel.k8s.io',
  });
});

test('no WebSocket upgrade or no such protocol is no opinion', () => {
  const header = `v5.channel.k8s.io,${PREFIX}${encoded}`;
  assert.equal(webSocketToken({ 'sec-websocket-protocol': header }), null);
  assert.equal(webSocketToken({ ...upgrade, upgrade: 'SPDY/3.1', 'sec-websocket-protocol': header }), null);
  assert.equal(webSocketToken({ ...upgrade, connection: 'close', 'sec-websocket-protocol': header }), null);
  assert.equal(webSocketToken(upgrade), null);
  assert.equal(webSocketToken({ ...upgrade, 'sec-websocket-protocol': 'v5.channel.k8s.io' }), null);
  assert.equal(webSocketToken({ ...upgrade, 'sec-websocket-protocol': PREFIX }), null);
});

test('bad WebSocket tokens are refused', () => {
  const refuse = (header: string, words: RegExp): void =>
    assert.throws(() => webSocketToken({ ...upgrade, 'sec-websocket-protocol': header }), words);
  refuse(`${PREFIX}${encoded}`, /missing additional subprotocol/);
  refuse(`a,${PREFIX}${encoded},${PREFIX}${encoded}`, /multiple/);
  refuse(`a,${PREFIX}YQ==`, /token encoding/);
  refuse(`a,${PREFIX}YWJjZ`, /token encoding/);
  refuse(`a,${PREFIX}a+b/`, /token encoding/);
  refuse(`a,${PREFIX}${Buffer.from([0xff, 0xfe]).toString('base64url')}`, /authorization token$/);
});
