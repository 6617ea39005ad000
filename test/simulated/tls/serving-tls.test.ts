import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import pino from 'pino';
import { createApiClient } from '../../../actors/cluster/api/create-api-client.ts';
import { makeSelfSigned } from '../../../actors/cluster/certificates/x509.ts';
import { startServingTls } from '../../../actors/serve/tls/serving-tls.ts';
import type { ServingTlsOptions } from '../../../actors/serve/tls/serving-tls.ts';
import type { NodeAddresses } from '../../../machines/node-object/node-addresses.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import { CsrSigner } from '../certificates/support/csr-signer.ts';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { TestClock } from '../certificates/support/test-clock.ts';

const lines: string[] = [];
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });

type Wish = Partial<Omit<ServingTlsOptions, 'config'>> & { config?: Partial<ServingTlsOptions['config']> };

async function serve(t: TestContext, wish: Wish = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'serving-tls-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const tls = await startServingTls({
    featureGates: resolveFeatureGates({}).gates,
    flags: { certDir: join(folder, 'pki') },
    nodeName: 'node1',
    addresses: () => [],
    api: null,
    log,
    now: Date.now,
    ...wish,
    config: {
      tlsCertFile: '',
      tlsPrivateKeyFile: '',
      tlsMinVersion: '',
      tlsCipherSuites: [],
      serverTLSBootstrap: false,
      authentication: {
        x509: { clientCAFile: '' },
        webhook: { enabled: true, cacheTTL: 1 },
        anonymous: { enabled: false },
      },
      ...wish.config,
    },
  });
  t.after(() => tls.stop());
  const server = createServer(tls.serverOptions(), (_request, response) => response.end('well'));
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  tls.attach(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  /** Handshakes; resolves with the certificate, version and cipher. */
  const look = (more: ConnectionOptions = {}) =>
    new Promise<{ leaf: X509Certificate; version: string | null; cipher: string }>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...more });
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        const leaf = socket.getPeerX509Certificate();
        if (leaf === undefined) reject(new Error('no certificate'));
        else resolve({ leaf, version: socket.getProtocol(), cipher: socket.getCipher().name });
        socket.destroy();
      });
    });
  return { tls, folder, look, port };
}

test('without a configured certificate there is a self-signed one, as kubelet makes it, kept for the next start', async (t) => {
  const { folder, look, tls } = await serve(t);
  const [crt, key] = [join(folder, 'pki/kubelet.crt'), join(folder, 'pki/kubelet.key')];
  const { leaf, version } = await look();
  assert.equal(version, 'TLSv1.3');
  assert.match(leaf.subject, /^CN=node1@\d{10}$/);
  assert.match(leaf.issuer, /^CN=node1-ca@\d{10}$/);
  assert.equal(leaf.subjectAltName, 'DNS:node1');
  assert.equal(leaf.publicKey.asymmetricKeyDetails?.modulusLength, 2048);
  assert.equal(leaf.validToDate.getTime() - leaf.validFromDate.getTime(), 365 * 86_400_000);
  const early = Date.now() - leaf.validFromDate.getTime();
  assert.ok(early >= 3_600_000 && early < 3_700_000, String(early));
  assert.equal(statSync(key).mode & 0o777, 0o600);
  assert.equal(statSync(crt).mode & 0o777, 0o644 & ~process.umask());
  const [first, authority] = readFileSync(crt, 'utf8').match(/-----BEGIN[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  const ca = new X509Certificate(authority ?? '');
  assert.ok(ca.ca);
  assert.ok(new X509Certificate(first ?? '').verify(ca.publicKey));
  assert.match(readFileSync(key, 'utf8'), /^-----BEGIN RSA PRIVATE KEY-----/);
  assert.equal(tls.ttlSeconds(), null);

  const again = await serve(t, { flags: { certDir: join(folder, 'pki') } });
  assert.equal((await again.look()).leaf.fingerprint256, leaf.fingerprint256);
  rmSync(key);
  await assert.rejects(serve(t, { flags: { certDir: join(folder, 'pki') } }), {
    code: 'CERT003',
    message: /kubelet\.key/,
  });
  assert.ok(!existsSync(key));
});

test('a node that is named by its address has it in the certificate', async (t) => {
  const { look } = await serve(t, { nodeName: '10.1.2.3' });
  assert.equal((await look()).leaf.subjectAltName, 'IP Address:10.1.2.3');
});

async function configured(t: TestContext, featureGates = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'serving-files-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const [crt, key] = [join(dir, 'tls.crt'), join(dir, 'tls.key')];
  const put = (pair: { cert: string; key: string }, which = 'both'): void => {
    for (const [file, text, name] of [
      [crt, pair.cert, 'cert'],
      [key, pair.key, 'key'],
    ] as const) {
      if (which !== 'both' && which !== name) continue;
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    }
  };
  put(await makeSelfSigned('first', Date.now()));
  const served = await serve(t, {
    config: { tlsCertFile: crt, tlsPrivateKeyFile: key },
    featureGates: resolveFeatureGates(featureGates).gates,
  });
  const name = async () => (await served.look()).leaf.subject.slice(3).replace(/@.*/, '');
  return { ...served, put, name, crt, key };
}

test('configured files are read again when they change, once both fit', async (t) => {
  const { put, name, crt } = await configured(t);
  assert.equal(await name(), 'first');
  const second = await makeSelfSigned('second', Date.now());
  put(second, 'cert');
  await waitFor('the complaint', () => lines.find((line) => line.includes('Keeping the serving certificate')));
  assert.equal(await name(), 'first');
  put(second, 'key');
  await waitFor('the new certificate', async () => ((await name()) === 'second' ? true : undefined));
  rmSync(crt);
  // Nothing is taken: longer than the pause between two looks at the files.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  assert.equal(await name(), 'second');
});

test('with ReloadKubeletServerCertificateFile off, they are not', async (t) => {
  const { put, name } = await configured(t, { ReloadKubeletServerCertificateFile: false });
  put(await makeSelfSigned('second', Date.now()));
  // As long as those that are looked at would take.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal(await name(), 'first');
});

test('configured files that cannot be used are errors', async (t) => {
  const { crt, key } = await configured(t);
  const config = { tlsCertFile: crt, tlsPrivateKeyFile: '' };
  await assert.rejects(serve(t, { config }), { code: 'CERT001' });
  writeFileSync(key, 'no key');
  await assert.rejects(serve(t, { config: { ...config, tlsPrivateKeyFile: key } }), { code: 'CERT002' });
});

test('versions and ciphers are those that are configured', async (t) => {
  const newest = await serve(t, { config: { tlsMinVersion: 'VersionTLS13' } });
  assert.equal((await newest.look()).version, 'TLSv1.3');
  await assert.rejects(newest.look({ maxVersion: 'TLSv1.2' }), /alert protocol version|EPROTO|ECONNRESET/);
  const one = await serve(t, { config: { tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'] } });
  assert.equal((await one.look({ maxVersion: 'TLSv1.2' })).cipher, 'ECDHE-RSA-AES256-GCM-SHA384');
  assert.equal((await one.look()).version, 'TLSv1.3');
  await assert.rejects(
    one.look({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' }),
    /handshake failure/,
  );
  const old = await serve(t, { config: { tlsMinVersion: 'VersionTLS10' } });
  const weak = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'ECDHE-RSA-AES128-SHA:@SECLEVEL=0' } as const;
  assert.equal((await old.look(weak)).version, 'TLSv1');
  await assert.rejects(one.look(weak), /protocol version/);
});

test('serverTLSBootstrap: no handshake without a certificate, then the signed one, another one for other addresses', async (t) => {
  const api = await startFakeApiServer();
  t.after(() => api.close());
  const signer = new CsrSigner(api);
  const client = createApiClient({ kubeconfig: api.kubeconfigPath, userAgent: 'test', log });
  t.after(() => client.close());
  const clock = new TestClock();
  const rotated: number[] = [];
  let addresses: NodeAddresses = [];
  const { look, tls, folder } = await serve(t, {
    ...{ api: client, clock, addresses: () => addresses, onRotated: (seconds: number) => rotated.push(seconds) },
    config: { serverTLSBootstrap: true },
  });
  await assert.rejects(look(), /alert internal error/);
  assert.match(
    lines.join(),
    /http: TLS handshake error from 127\.0\.0\.1:\d+: no serving certificate available for the kubelet/,
  );
  assert.equal(tls.ttlSeconds(), Infinity);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(signer.requests().length, 0, 'a node without addresses asks for nothing');
  addresses = [
    { type: 'InternalIP', address: '10.0.0.7' },
    { type: 'Hostname', address: 'node1' },
  ];
  const first = await signer.waitOpen();
  assert.equal(first.spec.signerName, 'kubernetes.io/kubelet-serving');
  assert.deepEqual(first.spec.usages, ['digital signature', 'server auth']);
  assert.match(
    signer.describe(first),
    /Subject: O ?= ?system:nodes, CN ?= ?system:node:node1\n[^]*DNS:node1, IP Address:10\.0\.0\.7\n/,
  );
  // another address before it is signed: the request is given up
  addresses = [...addresses, { type: 'InternalIP', address: 'fd00::7' }];
  await waitFor('the pause', () => clock.pauses.find((ms) => ms === 2_000));
  clock.jump(2_000);
  const second = await waitFor('the next request', () =>
    signer.requests().find((each) => each.metadata.name !== first.metadata.name),
  );
  signer.sign(second);
  signer.refuse(first, 'Denied');
  const served = await waitFor('the signed certificate', () => look());
  assert.equal(served.leaf.subjectAltName, 'DNS:node1, IP Address:10.0.0.7, IP Address:FD00:0:0:0:0:0:0:7');
  assert.equal(statSync(join(folder, 'pki/kubelet-server-current.pem')).mode & 0o777, 0o600);
  assert.ok(Number(tls.ttlSeconds()) > 86_000);
  // fewer addresses are no reason to ask, other ones are
  addresses = [{ type: 'InternalIP', address: '10.0.0.7' }];
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(signer.requests().length, 2);
  addresses = [{ type: 'InternalIP', address: '10.0.0.8' }];
  const { request } = await signer.signNext();
  assert.match(signer.describe(request), /IP Address:10\.0\.0\.8\n/);
  await waitFor('the next certificate', async () => {
    return (await look()).leaf.subjectAltName === 'IP Address:10.0.0.8' ? true : undefined;
  });
  assert.equal(rotated.length, 1);
  // it expires unrenewed
  clock.jump(2 * 86_400_000);
  await assert.rejects(look(), /alert internal error/);
});
