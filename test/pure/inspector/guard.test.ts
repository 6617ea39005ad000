import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { inspectorAddress } from '../../../actors/configure/configuration/inspector-address.ts';
import { InspectorGuard } from '../../../actors/inspect/inspector/inspector-guard.ts';

const request = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage;

test('--inspect: host, port, both, either family', () => {
  const cases: [string, string, number][] = [
    ['', '127.0.0.1', 10_270],
    ['127.0.0.1:10270', '127.0.0.1', 10_270],
    [':8080', '127.0.0.1', 8_080],
    ['8080', '127.0.0.1', 8_080],
    ['0', '127.0.0.1', 0],
    ['0.0.0.0:1', '0.0.0.0', 1],
    ['[::1]:9', '::1', 9],
    ['[::1]', '::1', 10_270],
    ['::1', '::1', 10_270],
    ['localhost', 'localhost', 10_270],
    ['node-1.example:70', 'node-1.example', 70],
  ];
  for (const [text, host, port] of cases) assert.deepEqual(inspectorAddress(text), { host, port }, text);
  for (const bad of ['a:b', '127.0.0.1:70000', '[x]:1', 'a b', 'http://x:1', '-a', '1.2.3.4:'])
    assert.equal(inspectorAddress(bad), null, bad);
});

test('the token: as a bearer or in our own cookie, nothing else', () => {
  const guard = new InspectorGuard('s3cret', '127.0.0.1');
  const allowed = (headers: Record<string, string>) => guard.refuseStranger(request(headers)) === null;
  assert.ok(allowed({ authorization: 'Bearer s3cret' }));
  assert.ok(allowed({ cookie: `a=b; ${guard.cookieName}=s3cret; c=d` }));
  assert.ok(!allowed({}));
  assert.ok(!allowed({ authorization: 'Bearer s3cre' }));
  assert.ok(!allowed({ authorization: 'Bearer ' }));
  assert.ok(!allowed({ authorization: 'Basic s3cret' }));
  assert.ok(!allowed({ cookie: `${guard.cookieName}=` }));
  assert.ok(!allowed({ cookie: `x${guard.cookieName}=s3cret` }));
  assert.match(guard.cookie(), /; HttpOnly; SameSite=Strict$/);
  // Cookies know no ports.
  assert.notEqual(guard.cookieName, new InspectorGuard('other', '127.0.0.1').cookieName);
  assert.ok(!guard.cookieName.includes('s3cret'));
});

test('Host: addresses and own names only, for a name can be pointed at us by anyone', () => {
  const guard = new InspectorGuard('t', 'node.example');
  const allowed = (host: string) => guard.refuseOrigin(request({ host })) === null;
  for (const host of [
    '127.0.0.1:10270',
    '[::1]:10270',
    'localhost',
    'LOCALHOST:1',
    '10.1.2.3',
    'node.example:9',
    hostname(),
  ])
    assert.ok(allowed(host), host);
  for (const host of ['evil.example', 'evil.example:10270', 'localhost.evil.example', '', '127.0.0.1.evil.example'])
    assert.ok(!allowed(host), host);
});

test('Origin: our own or none', () => {
  const guard = new InspectorGuard('t', '127.0.0.1');
  const host = '127.0.0.1:10270';
  const refused = (origin: string, any = false) => guard.refuseOrigin(request({ host, origin }), any)?.status;
  assert.equal(refused(`http://${host}`), undefined);
  assert.equal(refused('http://127.0.0.1:8080'), 403);
  assert.equal(refused('https://evil.example'), 403);
  assert.equal(refused('null'), 403);
  assert.equal(refused('https://stately.ai', true), undefined);
});
