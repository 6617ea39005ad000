import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { parse } from 'yaml';
import { createApiClient } from '../../../actors/cluster/api/create-api-client.ts';
import { loadKubeconfig } from '../../../actors/cluster/api/kubeconfig.ts';
import type { Kubeconfig } from '../../../actors/cluster/api/kubeconfig.ts';
import { bootstrapClientConfig as bootstrap } from '../../../actors/cluster/certificates/bootstrap-client.ts';
import type { BootstrapOptions } from '../../../actors/cluster/certificates/bootstrap-client.ts';
import { openApiAccess } from '../../../actors/cluster/certificates/api-access.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import { CsrSigner, issuePair } from './support/csr-signer.ts';

const log = pino({ level: 'silent' });
let ends: AbortSignal;
/** Ends with the test. */
const bootstrapClientConfig = (options: BootstrapOptions, signal = ends) => bootstrap(options, signal);
const TOKEN = 'abcdef.0123456789abcdef';

async function setUp(t: TestContext) {
  const server = await startFakeApiServer({ transport: 'h2' });
  t.after(() => server.close());
  const ending = new AbortController();
  t.after(() => ending.abort());
  ends = ending.signal;
  const signer = new CsrSigner(server);
  const folder = join(server.folder, 'node');
  mkdirSync(folder);
  const caData = readFileSync(signer.caFile).toString('base64');
  const bootstrapKubeconfig = join(folder, 'bootstrap');
  const write = (cluster: object) =>
    writeFileSync(
      bootstrapKubeconfig,
      JSON.stringify({
        ...server.kubeconfig(),
        clusters: [{ name: 'fake', cluster: { server: server.url, ...cluster } }],
        users: [{ name: 'node1', user: { token: TOKEN } }],
      }),
    );
  write({ 'certificate-authority-data': caData });
  const certDirectory = join(folder, 'pki');
  const kubeconfig = join(folder, 'kubeconfig');
  const connect = (to: string | Kubeconfig) => createApiClient({ kubeconfig: to, userAgent: 'test', log });
  const options = { kubeconfig, bootstrapKubeconfig, certDirectory, nodeName: 'node1', connect, log };
  return { server, signer, folder, write, caData, certDirectory, kubeconfig, options };
}

const file = (path: string) => readFileSync(path, 'utf8');

test('a node without kubeconfig gets a certificate and writes the kubeconfig that kubelet writes', async (t) => {
  const { server, signer, certDirectory, kubeconfig, caData, options } = await setUp(t);
  const done = bootstrapClientConfig(options);
  const request = await signer.waitOpen();
  assert.match(request.metadata.name, /^node-csr-[\w-]{43}$/);
  assert.equal(request.spec.signerName, 'kubernetes.io/kube-apiserver-client-kubelet');
  assert.deepEqual(request.spec.usages, ['digital signature', 'client auth']);
  const text = signer.describe(request);
  assert.match(text, /Subject: O ?= ?system:nodes, CN ?= ?system:node:node1\n/);
  assert.match(text, /prime256v1/);
  assert.doesNotMatch(text, /Alternative Name/);
  const pending = join(certDirectory, 'kubelet-client.key.tmp');
  assert.equal(statSync(pending).mode & 0o777, 0o600);
  const key = file(pending);
  assert.match(key, /^-----BEGIN EC PRIVATE KEY-----/);
  assert.ok(!existsSync(kubeconfig));
  const certificate = signer.sign(request);
  await done;

  const posts = server.requestsOf({ verb: 'create', resource: 'certificatesigningrequests' });
  assert.equal(posts[0]?.headers['authorization'], `Bearer ${TOKEN}`);
  const current = join(certDirectory, 'kubelet-client-current.pem');
  assert.equal(file(current), certificate + key);
  assert.match(readlinkSync(current), /kubelet-client-\d{4}(-\d\d){5}\.pem$/);
  assert.ok(!existsSync(pending));
  assert.equal(statSync(kubeconfig).mode & 0o777, 0o600);
  assert.equal(
    file(kubeconfig),
    `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${caData}
    server: ${server.url}
  name: default-cluster
contexts:
- context:
    cluster: default-cluster
    namespace: default
    user: default-auth
  name: default-context
current-context: default-context
kind: Config
users:
- name: default-auth
  user:
    client-certificate: ${current}
    client-key: ${current}
`,
  );
  const api = createApiClient({ kubeconfig: loadKubeconfig(kubeconfig, { log }), userAgent: 'test', log });
  t.after(() => api.close());
  await api.request({ method: 'GET', on: { group: '', version: 'v1', resource: 'nodes' } });
  assert.equal(server.requestsOf({ resource: 'nodes' })[0]?.clientName, 'system:node:node1');

  await bootstrapClientConfig(options);
  assert.equal(signer.requests().length, 1, 'a valid kubeconfig needs no bootstrap');
});

test('the way of the authority is kept: files by absolute path, no verification', async (t) => {
  const { signer, folder, write, kubeconfig, options } = await setUp(t);
  writeFileSync(join(folder, 'ca.pem'), file(signer.caFile));
  write({ 'certificate-authority': 'ca.pem' });
  await Promise.all([bootstrapClientConfig(options), signer.signNext()]);
  const cluster = (): unknown => (parse(file(kubeconfig)) as { clusters: { cluster: unknown }[] }).clusters[0]?.cluster;
  const { server } = cluster() as { server: string };
  assert.deepEqual(cluster(), { 'certificate-authority': join(folder, 'ca.pem'), server });
  write({ 'insecure-skip-tls-verify': true });
  writeFileSync(kubeconfig, 'broken: [');
  await Promise.all([bootstrapClientConfig({ ...options, nodeName: 'node2' }), signer.signNext()]);
  assert.deepEqual(cluster(), { 'insecure-skip-tls-verify': true, server });
});

test('an agent that starts again finds its key and its request', async (t) => {
  const { server, signer, certDirectory, options } = await setUp(t);
  const cut = new AbortController();
  const first = bootstrapClientConfig(options, cut.signal);
  const request = await signer.waitOpen();
  cut.abort(new Error('killed'));
  await assert.rejects(first, /killed/);
  const key = file(join(certDirectory, 'kubelet-client.key.tmp'));
  const second = bootstrapClientConfig(options);
  await waitFor(
    'the request to be looked for again',
    () => server.requestsOf({ verb: 'get', name: request.metadata.name })[0],
  );
  signer.sign(request);
  await second;
  assert.equal(signer.requests().length, 1);
  assert.ok(file(join(certDirectory, 'kubelet-client-current.pem')).endsWith(key));
});

test('a request of this name that another key made is refused', async (t) => {
  const { server, signer, options } = await setUp(t);
  const done = bootstrapClientConfig(options);
  const { request } = await signer.signNext();
  await done;
  writeFileSync(options.kubeconfig, '');
  // the same key asks again under the same name, and finds what another one has put there
  const other = bootstrapClientConfig({ ...options, nodeName: 'node9', certDirectory: `${options.certDirectory}9` });
  const { request: foreign } = await signer.signNext();
  await other;
  server.put(
    { group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' },
    {
      ...request,
      spec: { ...request.spec, request: foreign.spec.request },
      status: undefined,
    },
  );
  writeFileSync(options.kubeconfig, '');
  await assert.rejects(bootstrapClientConfig(options), { code: 'CERT011', message: /csr subjects differ/ });
});

test('a denied or failed request ends the bootstrap with what the approver says', async (t) => {
  const { signer, kubeconfig, options } = await setUp(t);
  const denied = assert.rejects(bootstrapClientConfig(options), {
    code: 'CERT012',
    message: /is denied, reason: No, message: not you/,
  });
  signer.refuse(await signer.waitOpen(), 'Denied');
  await denied;
  await assert.rejects(bootstrapClientConfig(options), { code: 'CERT012' });
  const failed = assert.rejects(bootstrapClientConfig({ ...options, nodeName: 'node2' }), { code: 'CERT013' });
  signer.refuse(await signer.waitOpen(), 'Failed');
  await failed;
  assert.ok(!existsSync(kubeconfig));
});

test('credentials that may not create requests are told of', async (t) => {
  const { server, options } = await setUp(t);
  server.fault({ verb: 'create' }, { do: 'fail', code: 403, reason: 'Forbidden', message: 'no right' });
  await assert.rejects(bootstrapClientConfig(options), {
    code: 'CERT010',
    message: /cannot create certificate signing request: no right/,
  });
});

test('an expired certificate is replaced, with the key that it had; a token alone is no valid kubeconfig', async (t) => {
  const { server, signer, certDirectory, kubeconfig, options } = await setUp(t);
  const old = issuePair(server, '/O=system:nodes/CN=system:node:node1', -1);
  mkdirSync(certDirectory);
  const current = join(certDirectory, 'kubelet-client-current.pem');
  writeFileSync(join(certDirectory, 'old.pem'), old.cert + old.key);
  symlinkSync(join(certDirectory, 'old.pem'), current);
  const user = { 'client-certificate': current, 'client-key': current };
  writeFileSync(kubeconfig, JSON.stringify({ ...server.kubeconfig(), users: [{ name: 'node1', user }] }));
  await Promise.all([bootstrapClientConfig(options), signer.signNext()]);
  const renewed = file(current);
  assert.ok(renewed.includes(old.key.trim().split('\n')[2] ?? 'no key'), 'the key is the old one');
  assert.ok(!renewed.includes(old.cert));
  writeFileSync(
    kubeconfig,
    JSON.stringify({ ...server.kubeconfig(), users: [{ name: 'node1', user: { token: 'x' } }] }),
  );
  const again = bootstrapClientConfig(options);
  // same key, same name: the certificate that was issued is taken
  await again;
  assert.equal(signer.requests().length, 1);
  assert.match(file(kubeconfig), /name: default-auth/);
});

test('the agent waits for an API server that is not up yet', async (t) => {
  const { server, signer, options } = await setUp(t);
  await server.stop();
  const done = bootstrapClientConfig(options);
  // It is turned away some times first.
  await new Promise((resolve) => setTimeout(resolve, 500));
  await server.start();
  await signer.signNext();
  await done;
});

test('the way to the API server by flags', async (t) => {
  const { signer, certDirectory, kubeconfig, options } = await setUp(t);
  const common = { nodeName: 'node1', userAgent: 'test', log, onHopeless: () => assert.fail('hopeless') };
  const flags = { kubeconfig: '', bootstrapKubeconfig: '', certDir: certDirectory };
  const config = { rotateCertificates: false };
  assert.equal(await openApiAccess({ ...common, config, flags }), null);
  const { bootstrapKubeconfig } = options;
  await assert.rejects(openApiAccess({ ...common, config, flags: { ...flags, bootstrapKubeconfig } }), {
    code: 'CERT020',
  });
  const opening = openApiAccess({ ...common, config, flags: { ...flags, kubeconfig, bootstrapKubeconfig } });
  await signer.signNext();
  const access = await opening;
  assert.equal(access?.rotation, null);
  assert.match((await access.kubeconfig.credentials.current()).cert ?? '', /BEGIN CERTIFICATE/);
});
