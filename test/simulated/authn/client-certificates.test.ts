import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import tls from 'node:tls';
import { SERVER_AUTH, issueCertificate } from './support/issue-certificate.ts';
import { ask, startStandIn } from './support/kubelet-stand-in.ts';
import type { Issued } from './support/issue-certificate.ts';

const HOUR = 3_600_000;

async function setUp(...[t, options]: Parameters<typeof startStandIn>) {
  const clock = { now: Date.now(), steady: 0 };
  const times = { now: () => clock.now, steady: () => clock.steady };
  const standIn = await startStandIn(t, { mode: 'AlwaysAllow', ...times, ...options });
  const { port } = standIn;
  const status = async (...show: Issued[]) => (await ask(port, '/pods', { show })).status;
  return { ...standIn, clock, status };
}

test('good certificates are let in, others are not', async (t) => {
  const left: number[] = [];
  const { root, status, lines } = await setUp(t, { hooks: { onClientCertificate: (seconds) => left.push(seconds) } });
  const now = Date.now();
  const middle = issueCertificate({ commonName: 'middle', ca: true }, root);
  const lower = issueCertificate({ commonName: 'lower', ca: true }, middle);
  const name = { commonName: 'x' };
  assert.equal(await status(issueCertificate(name, root)), 200);
  assert.equal(await status(issueCertificate({ ...name, usages: [] }, root)), 200);
  assert.equal(await status(issueCertificate(name, middle), middle), 200);
  assert.equal(await status(issueCertificate(name, lower), lower, middle), 200);
  assert.equal(await status(issueCertificate(name, lower), lower), 401);
  assert.equal(await status(issueCertificate(name)), 401);
  assert.equal(await status(issueCertificate(name, issueCertificate({ commonName: 'client-ca', ca: true }))), 401);
  assert.equal(await status(issueCertificate({ ...name, usages: [SERVER_AUTH] }, root)), 401);
  assert.equal(await status(issueCertificate({ ...name, notAfter: now - 2000 }, root)), 401);
  assert.equal(await status(issueCertificate({ ...name, notBefore: now + HOUR }, root)), 401);
  assert.equal(await status(issueCertificate({}, root)), 401);
  assert.equal(await status(), 401);
  assert.equal(left.length, 11);
  assert.ok(left[0] !== undefined && left[0] > 3500 && left[0] < 3700);
  assert.match(
    lines.join(''),
    /verifying certificate SN=\d+, SKID=, AKID= failed: x509: certificate signed by unknown/,
  );
});

test('a bad certificate does not spoil a good token', async (t) => {
  const { port } = await setUp(t);
  const show = [issueCertificate({ commonName: 'x' })];
  assert.equal((await ask(port, '/pods', { show, token: 'alice-token' })).status, 200);
});

test('without clientCAFile a certificate says nothing', async (t) => {
  const { port, root } = await setUp(t, { x509: false, anonymous: true });
  const show = [issueCertificate({ commonName: 'x' }, root)];
  assert.equal((await ask(port, '/pods', { show })).status, 200);
});

test('a connection that stays open does not outlive its certificate', async (t) => {
  const { port, root, clock } = await setUp(t);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const show = [issueCertificate({ commonName: 'x' }, root)];
  const status = async () => (await ask(port, '/pods', { show, agent })).status;
  assert.equal(await status(), 200);
  clock.now += HOUR / 2;
  assert.equal(await status(), 200);
  clock.now += HOUR;
  assert.equal(await status(), 401);
  assert.equal(Object.values(agent.freeSockets).flat().length, 1);
});

test('on a connection that stays open a bad certificate is looked at once, and again when that could change what comes of it', async (t) => {
  const { port, root, clock, caFile } = await setUp(t);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const stranger = issueCertificate({ commonName: 'client-ca', ca: true });
  const show = [issueCertificate({ commonName: 'x', notBefore: clock.now + HOUR / 4 }, stranger)];
  const checks = t.mock.method(X509Certificate.prototype, 'verify');
  const ready = async () => ({
    status: (await ask(port, '/pods', { show, agent })).status,
    checks: checks.mock.callCount(),
  });
  assert.deepEqual(await ready(), { status: 401, checks: 0 });
  clock.now += HOUR / 2;
  const first = await ready();
  assert.equal(first.status, 401);
  assert.equal(first.checks, 1);
  for (let times = 0; times < 3; times++) assert.deepEqual(await ready(), first);
  writeFileSync(caFile, `${root.pem}\n${stranger.pem}`);
  clock.steady += 1_000;
  assert.equal((await ready()).status, 200);
  assert.equal(Object.values(agent.freeSockets).flat().length, 1);
});

test('a changed CA file counts from the next second on, also for open connections and when the clock is set back', async (t) => {
  const { port, root, clock, caFile, folder, lines } = await setUp(t);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const second = issueCertificate({ commonName: 'client-ca', ca: true });
  const third = issueCertificate({ commonName: 'third', ca: true });
  const show = [issueCertificate({ commonName: 'x' }, root)];
  const statuses = async () => {
    clock.steady += 1_000;
    clock.now -= 60_000;
    const out = [(await ask(port, '/pods', { show, agent })).status];
    for (const ca of [second, third]) {
      out.push((await ask(port, '/pods', { show: [issueCertificate({ commonName: 'y' }, ca)] })).status);
    }
    return out;
  };
  assert.deepEqual(await statuses(), [200, 401, 401]);
  writeFileSync(caFile, `# both\n${root.pem}\n${second.pem}`);
  assert.deepEqual(await statuses(), [200, 200, 401]);
  writeFileSync(`${caFile}.new`, second.pem);
  renameSync(`${caFile}.new`, caFile);
  assert.deepEqual(await statuses(), [401, 200, 401]);
  // As in a mounted configMap: the file is a symlink into a folder that is swapped.
  writeFileSync(join(folder, 'v1'), root.pem);
  writeFileSync(join(folder, 'v2'), third.pem);
  symlinkSync('v1', join(folder, 'link'));
  renameSync(join(folder, 'link'), caFile);
  assert.deepEqual(await statuses(), [200, 401, 401]);
  symlinkSync('v2', join(folder, 'link'));
  renameSync(join(folder, 'link'), caFile);
  assert.deepEqual(await statuses(), [401, 401, 200]);
  // What cannot be used leaves the last good content in place.
  lines.length = 0;
  rmSync(caFile);
  assert.deepEqual(await statuses(), [401, 401, 200]);
  writeFileSync(caFile, 'nonsense');
  assert.deepEqual(await statuses(), [401, 401, 200]);
  assert.equal(lines.filter((line) => line.includes('the last good one stays')).length, 2);
  writeFileSync(caFile, root.pem);
  assert.deepEqual(await statuses(), [200, 401, 401]);
});

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`a resumed ${maxVersion} session neither loses its intermediates nor keeps an old authority`, async (t) => {
    const { port, root, clock, caFile } = await setUp(t);
    const middle = issueCertificate({ commonName: 'middle', ca: true }, root);
    const show = [issueCertificate({ commonName: 'x' }, middle), middle];
    const session = await sessionOf(port, show, maxVersion);
    const again = async () => (await ask(port, '/pods', { session, maxVersion })).status;
    assert.equal(await again(), 200);
    clock.steady += 1_000;
    writeFileSync(caFile, issueCertificate({ commonName: 'other', ca: true }).pem);
    assert.equal(await again(), 401);
  });
}

/** A TLS session of a connection that has made a request. */
function sessionOf(port: number, show: Issued[], maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      ...{ host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion },
      ...{ key: show[0]?.keyPem, cert: show.map(({ pem }) => pem).join('') },
    });
    let session: Buffer | undefined;
    socket.on('session', (got) => (session = got));
    socket.on('error', reject);
    socket.on('secureConnect', () => socket.write('GET /pods HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'));
    let text = '';
    socket.on('data', (data: Buffer) => (text += data.toString()));
    socket.on('end', () => {
      socket.destroy();
      if (session === undefined || !text.startsWith('HTTP/1.1 200')) reject(new Error(`no session: ${text}`));
      else resolve(session);
    });
  });
}
