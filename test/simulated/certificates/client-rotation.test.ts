import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { createApiClient } from '../../../actors/cluster/api/create-api-client.ts';
import type { Kubeconfig } from '../../../actors/cluster/api/kubeconfig.ts';
import { Reflector } from '../../../actors/cluster/api/reflector.ts';
import { startClientRotation } from '../../../actors/cluster/certificates/client-rotation.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import { CsrSigner, issuePair } from './support/csr-signer.ts';
import { TestClock } from './support/test-clock.ts';

const log = pino({ level: 'silent' });
const DAY_MS = 86_400_000;
const pods = { group: '', version: 'v1', resource: 'pods', namespace: 'default' };

async function setUp(t: TestContext) {
  const server = await startFakeApiServer({ transport: 'h2' });
  const signer = new CsrSigner(server);
  const folder = join(server.folder, 'node');
  mkdirSync(folder);
  const kubeconfig = join(folder, 'kubeconfig');
  const ca = readFileSync(signer.caFile).toString('base64');
  const write = (file: string, user: object) =>
    writeFileSync(
      file,
      JSON.stringify({
        ...server.kubeconfig(),
        clusters: [{ name: 'fake', cluster: { server: server.url, 'certificate-authority-data': ca } }],
        users: [{ name: 'node1', user }],
      }),
    );
  const clock = new TestClock();
  const ends: (() => unknown)[] = [];
  t.after(async () => {
    for (const end of ends.reverse()) await end();
    await server.close();
  });
  const connect = (to: Kubeconfig) => createApiClient({ kubeconfig: to, userAgent: 'test', log });
  let hopeless = 0;
  const start = (bootstrapKubeconfig = '') => {
    const certDirectory = join(folder, 'pki');
    const rotation = startClientRotation({
      ...{ kubeconfig, bootstrapKubeconfig, certDirectory, nodeName: 'node1', connect, log, clock },
      onHopeless: () => hopeless++,
    });
    const api = connect(rotation.kubeconfig);
    ends.push(
      () => rotation.stop(),
      () => api.close(),
    );
    return { rotation, api };
  };
  /** Who the server takes a request of this client for. */
  const caller = async (api: ReturnType<typeof connect>) => {
    await api.request({ method: 'GET', on: { group: '', version: 'v1', resource: 'nodes' } });
    return server.requestsOf({ resource: 'nodes' }).at(-1)?.clientName;
  };
  const text = (pem: string) => Buffer.from(pem).toString('base64');
  return { server, signer, folder, kubeconfig, write, clock, start, caller, ends, text, hopeless: () => hopeless };
}

test('a certificate in the kubeconfig is used at once and replaced at once, as for kubeadm', async (t) => {
  const { server, signer, kubeconfig, write, start, caller, text, folder } = await setUp(t);
  const admin = issuePair(server, '/O=system:masters/CN=admin', 1);
  write(kubeconfig, { 'client-certificate-data': text(admin.cert), 'client-key-data': text(admin.key) });
  const { api, rotation } = start();
  assert.equal(await caller(api), 'admin');
  const { request } = await signer.signNext();
  assert.match(request.metadata.name, /^csr-/);
  assert.equal(request.metadata.generateName, 'csr-');
  assert.equal(server.requestsOf({ verb: 'create' })[0]?.clientName, 'admin');
  await waitFor('the node to be itself', async () => ((await caller(api)) === 'system:node:node1' ? true : undefined));
  assert.match(readFileSync(join(folder, 'pki/kubelet-client-current.pem'), 'utf8'), /BEGIN EC PRIVATE KEY/);
  const ttl = rotation.ttlSeconds();
  assert.ok(ttl > 86_000 && ttl <= 86_400, String(ttl));
  assert.equal(rotation.renewErrors(), 0);
});

test('an API server that does not answer a request for a certificate holds up no end', async (t) => {
  const { server, kubeconfig, write, start, text } = await setUp(t);
  const admin = issuePair(server, '/O=system:masters/CN=admin', 1);
  write(kubeconfig, { 'client-certificate-data': text(admin.cert), 'client-key-data': text(admin.key) });
  server.fault({ verb: 'create' }, { do: 'hang' }, 1);
  const { rotation } = start();
  await waitFor('the request', () => (server.requestsOf({ verb: 'create' }).length > 0 ? true : undefined));
  // The request itself would be given up after 30 s.
  const ended = rotation.stop().then(() => 'ended');
  assert.equal(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 10_000, 'late'))]), 'ended');
});

test('a certificate is renewed in time, and what runs goes on', async (t) => {
  const { server, signer, kubeconfig, write, start, clock, ends, folder } = await setUp(t);
  const first = issuePair(server, '/O=system:nodes/CN=system:node:node1', 10);
  const own = { cert: join(folder, 'own.crt'), key: join(folder, 'own.key') };
  writeFileSync(own.cert, first.cert);
  writeFileSync(own.key, first.key);
  write(kubeconfig, { 'client-certificate': own.cert, 'client-key': own.key });
  clock.chance = 0.5;
  const { api, rotation } = start();
  const seen: string[] = [];
  const watch = new Reflector({ api, on: pods, log, onEvent: ({ object }) => seen.push(object.metadata?.name ?? '') });
  ends.push(() => watch.stop());
  watch.start();
  await watch.whenSynced();
  await waitFor('the wait for the deadline', () => (clock.pauses.includes(3_600_000) ? true : undefined));
  clock.jump(7.9 * DAY_MS);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(signer.requests().length, 0, 'not before 80 % of the lifetime');
  clock.jump(0.2 * DAY_MS);
  const before = server.connections;
  // requests go on all the time; none of them may fail
  let sent = 0;
  let failed: unknown;
  let on = true;
  const pump = (async () => {
    while (on) {
      await api.request({ method: 'GET', on: pods }).catch((error: unknown) => (failed = error));
      sent++;
    }
  })();
  await signer.signNext(30);
  await waitFor('the new certificate', () => (rotation.ttlSeconds() > 15 * 86_400 ? true : undefined));
  const at = sent;
  await waitFor('more requests', () => (sent > at + 5 ? true : undefined));
  on = false;
  await pump;
  assert.equal(failed, undefined);
  // the watch goes on over the old connection, requests took a new one
  assert.equal(server.connections, before + 1);
  assert.equal(server.requestsOf({ verb: 'watch', resource: 'pods' }).length, 1);
  server.put(pods, { metadata: { name: 'late', namespace: 'default' } });
  await waitFor('the watch to tell', () => (seen.includes('late') ? true : undefined));
});

test('without a certificate the bootstrap credentials ask in the background, and requests wait for it', async (t) => {
  const { server, signer, kubeconfig, folder, write, start, caller } = await setUp(t);
  const bootstrap = join(folder, 'bootstrap');
  write(bootstrap, { token: 'abcdef.0123456789abcdef' });
  const { api, rotation } = start(bootstrap);
  assert.match(readFileSync(kubeconfig, 'utf8'), /client-certificate: .*\/pki\/kubelet-client-current\.pem/);
  assert.equal(rotation.ttlSeconds(), Infinity);
  const waiting = caller(api);
  await signer.signNext();
  assert.equal(await waiting, 'system:node:node1');
  assert.equal(server.requestsOf({ verb: 'create' })[0]?.headers['authorization'], 'Bearer abcdef.0123456789abcdef');
  const nodes = server.requestsOf({ resource: 'nodes' });
  assert.ok(nodes.every(({ clientName, headers }) => clientName !== '' && headers['authorization'] === undefined));
});

test('a refused request is followed by others, with longer and longer pauses', async (t) => {
  const { server, signer, kubeconfig, folder, write, start, clock, caller } = await setUp(t);
  const bootstrap = join(folder, 'bootstrap');
  write(bootstrap, { token: 't' });
  const lift = server.fault({ verb: 'create' }, { do: 'fail', code: 500 });
  const { api, rotation } = start(bootstrap);
  const isPause = (ms: number): boolean => ms !== 10_000 && ms !== 15 * 60_000;
  for (const [at, pause] of [2_000, 4_000, 8_000, 16_000, 32_000, 32_000].entries()) {
    const told = await waitFor(`pause ${String(at)}`, () => clock.pauses.filter(isPause)[at]);
    assert.equal(told, pause);
    assert.equal(rotation.renewErrors(), at + 1);
    if (at === 5) lift();
    clock.jump(pause);
  }
  signer.refuse(await signer.waitOpen(), 'Denied');
  await waitFor('the pause after the denial', () => clock.pauses.filter(isPause)[6]);
  assert.equal(rotation.renewErrors(), 7);
  clock.jump(32_000);
  const unsigned = await signer.waitOpen();
  // nobody signs it: after a quarter of an hour there is another one
  await waitFor('the wait for the certificate', () =>
    clock.pauses.filter((ms) => ms === 900_000).length === 2 ? true : undefined,
  );
  clock.jump(900_000);
  await waitFor('the next pause', () => clock.pauses.filter(isPause)[7]);
  clock.jump(32_000);
  const next = await waitFor('another request', () => {
    return signer
      .requests()
      .find(({ metadata, status }) => status === undefined && metadata.name !== unsigned.metadata.name);
  });
  signer.sign(next);
  assert.equal(await caller(api), 'system:node:node1');
  assert.match(readFileSync(kubeconfig, 'utf8'), /default-auth/);
});

test('an expired certificate without bootstrap: five minutes, then the agent ends if the server answers', async (t) => {
  const { server, kubeconfig, write, start, clock, text, hopeless } = await setUp(t);
  const old = issuePair(server, '/O=system:nodes/CN=system:node:node1', -1);
  write(kubeconfig, { 'client-certificate-data': text(old.cert), 'client-key-data': text(old.key) });
  const lift = server.fault({ verb: 'create' }, { do: 'drop' });
  start();
  const isLook = (ms: number): boolean => ms === 10_000;
  const tick = async (): Promise<void> => {
    const looks = clock.pauses.filter(isLook).length;
    clock.jump(10_000);
    await waitFor('the next look', () =>
      hopeless() > 0 || clock.pauses.filter(isLook).length > looks ? true : undefined,
    );
  };
  await waitFor('the first failure', () => clock.pauses.find((ms) => ms === 2_000));
  for (let at = 0; at < 33; at++) await tick();
  assert.equal(hopeless(), 0, 'the server is away: wait');
  lift();
  server.fault({ verb: 'create' }, { do: 'fail', code: 401, reason: 'Unauthorized' });
  for (let at = 0; at < 60 && hopeless() === 0; at++) await tick();
  assert.equal(hopeless(), 1);
});

test('a clock that is set forward is no time without a certificate', async (t) => {
  const { server, kubeconfig, write, start, clock, text, hopeless } = await setUp(t);
  const old = issuePair(server, '/O=system:nodes/CN=system:node:node1', -1);
  write(kubeconfig, { 'client-certificate-data': text(old.cert), 'client-key-data': text(old.key) });
  server.fault({ verb: 'create' }, { do: 'fail', code: 401, reason: 'Unauthorized' });
  start();
  const looks = (): number => clock.pauses.filter((ms) => ms === 10_000).length;
  await waitFor('the first failure', () => clock.pauses.find((ms) => ms === 2_000));
  clock.set(3_600_000);
  const before = looks();
  clock.jump(10_000);
  await waitFor('a look', () => (looks() > before || hopeless() > 0 ? true : undefined));
  assert.equal(hopeless(), 0);
});
