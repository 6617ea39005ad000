import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServerAuth } from '../../../actors/serve/server/auth-hook.ts';
import { until } from '../../tools/wait-for.ts';
import { issueCertificate } from './support/issue-certificate.ts';
import { ask, startStandIn } from './support/kubelet-stand-in.ts';
import type { ServerAuthOptions } from '../../../actors/serve/server/auth-hook.ts';
import type { Got } from './support/kubelet-stand-in.ts';

const unauthorized = { status: 401, type: 'text/plain; charset=utf-8', body: 'Unauthorized' };
const part = ({ status, type, body }: Got) => ({ status, type, body });

test('who is not known gets 401 on the paths of kubelet, 404 on all others', async (t) => {
  const { port, routed, apiServer } = await startStandIn(t);
  for (const path of ['/pods', '/exec/a/b/c', '/healthz', '/metrics/cadvisor', '/pods/nosuch', '/logs/x']) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      assert.deepEqual(part(await ask(port, path, { method })), unauthorized, `${method} ${path}`);
    }
  }
  const lost = await ask(port, '/nosuch');
  assert.deepEqual(part(lost), { ...unauthorized, status: 404, body: '404 page not found\n' });
  assert.equal(lost.headers['x-content-type-options'], 'nosniff');
  const moved = await ask(port, '/logs?a=b');
  assert.equal(moved.status, 301);
  assert.equal(moved.headers.location, '/logs/?a=b');
  assert.equal(moved.body, '<a href="/logs/?a=b">Moved Permanently</a>.\n\n');
  assert.equal((await ask(port, '/pods/../exec/a/b/c', { method: 'POST' })).headers.location, '/exec/a/b/c');
  assert.deepEqual(routed, []);
  assert.equal(apiServer.requests.length, 0);
});

test('a token is reviewed, its user asked for, and the token goes no further', async (t) => {
  const { port, routed, apiServer, allowed } = await startStandIn(t);
  allowed.add('alice get proxy').add('bob get metrics');
  assert.equal((await ask(port, '/exec/a/b/c', { token: 'alice-token' })).body, 'reached');
  assert.equal((await ask(port, '/metrics', { token: 'bob-token' })).body, 'reached');
  assert.deepEqual(part(await ask(port, '/pods', { token: 'wrong-token' })), unauthorized);
  const [first] = apiServer.requestsOf({ resource: 'tokenreviews' });
  assert.deepEqual(first?.body, {
    ...{ kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', metadata: {} },
    spec: { token: 'alice-token' },
  });
  assert.equal(first.path, '/apis/authentication.k8s.io/v1/tokenreviews');
  const [review] = apiServer.requestsOf({ resource: 'subjectaccessreviews' });
  assert.deepEqual((review?.body as { spec: unknown }).spec, {
    ...{ user: 'alice', uid: 'a1', groups: ['dev', 'system:authenticated'], extra: { scopes: ['x'] } },
    resourceAttributes: { verb: 'get', version: 'v1', resource: 'nodes', subresource: 'proxy', name: 'node-1' },
  });
  assert.equal(routed.length, 2);
  assert.ok(routed.every(({ authorization, raw }) => authorization === undefined && !raw.join().includes('token')));
});

test('what a user may not do is forbidden in the words of kubelet', async (t) => {
  const { port, allowed } = await startStandIn(t);
  allowed.add('alice get pods').add('alice get stats');
  const as = { token: 'alice-token' };
  assert.equal((await ask(port, '/pods', as)).status, 200);
  assert.equal((await ask(port, '/stats/summary', as)).status, 200);
  const words = 'Forbidden (user=alice, verb=create, resource=nodes, subresource(s)=[proxy])\n';
  const forbidden = { ...unauthorized, status: 403, body: words };
  assert.deepEqual(part(await ask(port, '/exec/a/b/c', { ...as, method: 'POST' })), forbidden);
  assert.match(
    (await ask(port, '/configz', as)).body,
    /verb=get, resource=nodes, subresource\(s\)=\[configz proxy\]\)\n$/,
  );
  assert.match((await ask(port, '/%6detrics', as)).body, /\[metrics\]/);
  assert.match((await ask(port, '/logs/%2e%2e/pods', as)).body, /\[log\]/);
  assert.match((await ask(port, '/pods', { ...as, method: 'OPTIONS' })).body, /verb=, .*\[pods proxy\]/);
});

test('without the gate only proxy opens /pods', async (t) => {
  const { port, allowed } = await startStandIn(t, { fineGrained: false });
  allowed.add('alice get pods').add('bob get proxy');
  assert.match((await ask(port, '/pods', { token: 'alice-token' })).body, /subresource\(s\)=\[proxy\]/);
  assert.equal((await ask(port, '/pods', { token: 'bob-token' })).status, 200);
});

test('answers are remembered for their times', async (t) => {
  const clock = { steady: 0 };
  const { port, allowed, apiServer } = await startStandIn(t, { steady: () => clock.steady });
  const counts = () =>
    ['tokenreviews', 'subjectaccessreviews'].map((resource) => apiServer.requestsOf({ resource }).length);
  const status = async (path: string) => (await ask(port, path, { token: 'alice-token' })).status;
  allowed.add('alice get metrics');
  for (let i = 0; i < 3; i++) assert.equal(await status('/metrics'), 200);
  for (let i = 0; i < 3; i++) assert.equal(await status('/stats/'), 403);
  assert.deepEqual(counts(), [1, 2]);
  allowed.clear();
  allowed.add('alice get stats');
  clock.steady += 29_000;
  assert.deepEqual([await status('/metrics'), await status('/stats/')], [200, 403]);
  clock.steady += 1_000;
  assert.deepEqual([await status('/metrics'), await status('/stats/')], [200, 200]);
  assert.deepEqual(counts(), [1, 3]);
  clock.steady += 90_000;
  assert.equal(await status('/metrics'), 200);
  assert.deepEqual(counts(), [2, 3]);
  clock.steady += 180_000;
  assert.equal(await status('/metrics'), 403);
});

test('an API server that fails: 401 for tokens, 500 for certificates, and nothing of it is remembered', async (t) => {
  const seen: string[] = [];
  const { port, allowed, apiServer, root, lines } = await startStandIn(t, {
    hooks: {
      onTokenReview: (code) => seen.push(`authn ${code}`),
      onSubjectAccessReview: (code) => seen.push(`authz ${code}`),
    },
  });
  allowed.add('alice get metrics').add('carol get metrics');
  const show = [issueCertificate({ commonName: 'carol' }, root)];
  const lift = apiServer.fault({}, { do: 'fail', code: 500, reason: 'InternalError' });
  assert.deepEqual(part(await ask(port, '/metrics', { token: 'alice-token' })), unauthorized);
  assert.deepEqual(part(await ask(port, '/metrics', { show })), {
    ...unauthorized,
    status: 500,
    body: 'Authorization error (user=carol, verb=get, resource=nodes, subresource=metrics)',
  });
  assert.deepEqual(seen, [...Array<string>(5).fill('authn 500'), ...Array<string>(5).fill('authz 500')]);
  lift();
  const lost = apiServer.fault({}, { do: 'drop' });
  assert.equal((await ask(port, '/metrics', { show })).status, 500);
  lost();
  seen.length = 0;
  assert.equal((await ask(port, '/metrics', { token: 'alice-token' })).status, 200);
  assert.equal((await ask(port, '/metrics', { show })).status, 200);
  assert.deepEqual(seen, ['authn 201', 'authz 201', 'authz 201']);
  assert.ok(!lines.join('').includes('alice-token'));
});

test('anonymous requests pass where they are allowed, but bad credentials stay bad', async (t) => {
  const { port, allowed, apiServer } = await startStandIn(t, { anonymous: true });
  allowed.add('system:anonymous get healthz');
  assert.equal((await ask(port, '/healthz')).status, 200);
  const [review] = apiServer.requestsOf({ resource: 'subjectaccessreviews' });
  const { user, groups } = (review?.body as { spec: { user: string; groups: string[] } }).spec;
  assert.deepEqual([user, groups], ['system:anonymous', ['system:unauthenticated']]);
  assert.match((await ask(port, '/pods')).body, /^Forbidden \(user=system:anonymous, verb=get,/);
  assert.equal((await ask(port, '/healthz', { token: 'wrong' })).status, 401);
  assert.equal((await ask(port, '/healthz', { show: [issueCertificate({ commonName: 'x' })] })).status, 401);
  assert.equal((await ask(port, '/healthz', { headers: { authorization: 'Basic eDp5' } })).status, 200);
});

test('a WebSocket upgrade may bring its token as a protocol', async (t) => {
  const { port, allowed, routed } = await startStandIn(t);
  allowed.add('alice get proxy');
  const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('alice-token').toString('base64url')}`;
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const path = '/exec/a/b/c';
  const good = await ask(port, path, {
    headers: { ...upgrade, 'sec-websocket-protocol': `v5.channel.k8s.io, ${token}` },
  });
  assert.equal(good.status, 200);
  assert.equal(routed[0]?.protocols, 'v5.channel.k8s.io');
  assert.ok(!routed[0].raw.join().includes('bearer'));
  assert.deepEqual(
    part(await ask(port, path, { headers: { ...upgrade, 'sec-websocket-protocol': token } })),
    unauthorized,
  );
  assert.deepEqual(part(await ask(port, path, { headers: upgrade })), unauthorized);
  const spdy = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
  assert.equal((await ask(port, path, { headers: spdy, token: 'alice-token' })).status, 200);
  assert.equal((await ask(port, path, { headers: spdy, token: 'bob-token', method: 'POST' })).status, 403);
});

test('AlwaysAllow asks nobody, but wants to know who it is', async (t) => {
  const { port, apiServer } = await startStandIn(t, { mode: 'AlwaysAllow' });
  assert.equal((await ask(port, '/pods')).status, 401);
  assert.equal((await ask(port, '/pods', { token: 'bob-token' })).status, 200);
  assert.equal(apiServer.requestsOf({ resource: 'subjectaccessreviews' }).length, 0);
});

test('a standalone node starts, says once what it lacks, and lets nobody in', async (t) => {
  const { port, root, lines } = await startStandIn(t, { apiServer: false });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /no API server.*--kubeconfig.*authentication.webhook.enabled.*AlwaysAllow/);
  assert.equal((await ask(port, '/pods', { token: 'alice-token' })).status, 401);
  assert.equal((await ask(port, '/pods', { show: [issueCertificate({ commonName: 'x' }, root)] })).status, 403);
  const open = await startStandIn(t, {
    ...{ apiServer: false, webhook: false, mode: 'AlwaysAllow', anonymous: true, x509: false },
  });
  assert.deepEqual(open.lines, []);
  assert.equal((await ask(open.port, '/pods', { token: 'any' })).status, 200);
});

test('tokens of strangers are reviewed as fast as the API client may, and no more wait than have their turn in time', async (t) => {
  // Each was reviewed at once: whoever reached the port could send the API server as much as he liked.
  const { port, apiServer } = await startStandIn(t, { qps: 0.001, burst: 3 });
  const reviews = () => apiServer.requestsOf({ resource: 'tokenreviews' }).length;
  let refused = 0;
  const strangers = Array.from({ length: 20 }, (_, i) =>
    ask(port, '/pods', { token: `stranger-${String(i)}` }).then(({ status }) => status === 401 && refused++),
  );
  // Three have a turn and an answer; up to four wait for theirs until the test is over, the others are refused at once.
  await until(() => refused >= 20 - 4);
  assert.equal(reviews(), 3);
  await Promise.any(strangers);
});

test('a configuration that lets nobody in is refused at start', async (t) => {
  const { caFile } = await startStandIn(t);
  const make = (clientCAFile: string, webhook: boolean) =>
    createServerAuth({
      config: {
        authentication: {
          ...{ x509: { clientCAFile }, webhook: { enabled: webhook, cacheTTL: 1 }, anonymous: { enabled: false } },
        },
        authorization: { mode: 'AlwaysAllow', webhook: { cacheAuthorizedTTL: 1, cacheUnauthorizedTTL: 1 } },
        ...{ kubeAPIQPS: 0, kubeAPIBurst: 0 },
      },
      featureGates: { enabled: () => true },
      ...{ nodeName: 'n', api: null },
      log: { warn: () => undefined } as unknown as ServerAuthOptions['log'],
    });
  assert.throws(() => make('', false), { code: 'AUTH002' });
  assert.throws(() => make(`${caFile}.nosuch`, true), { code: 'AUTH001' });
  assert.throws(() => make('/etc/hostname', true), { code: 'AUTH001' });
  make(caFile, false);
});
