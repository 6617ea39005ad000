import assert from 'node:assert/strict';
import fs, {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { CertificateStore } from '../../../actors/cluster/certificates/certificate-store.ts';
import { placeFile } from '../../../actors/host/files/private-files.ts';
import { makeSelfSigned } from '../../../actors/cluster/certificates/x509.ts';

const log = pino({ level: 'silent' });
const NOW = new Date(2026, 0, 2, 3, 4, 5);
const pair = await makeSelfSigned('host', Date.now());

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const storeIn = (directory: string, certFile = '', keyFile = '') =>
  new CertificateStore({ prefix: 'kubelet-client', directory, certFile, keyFile, log });

test('what holds a key is 0600 before its first byte, whatever the umask', (t) => {
  const folder = folderOf(t);
  const umask = process.umask(0);
  // what a killed agent left, readable for all, must not be written into
  writeFileSync(join(folder, '.a.key.draft'), 'old', { mode: 0o666 });
  const opened: { path: string; size: number; mode: number; flags: unknown }[] = [];
  const real = fs.openSync;
  const open = mock.method(fs, 'openSync', (path: string, flags: string, mode?: number) => {
    const fd = real(path, flags, mode);
    const { size, mode: is } = fs.fstatSync(fd);
    opened.push({ path, size, mode: is & 0o777, flags });
    return fd;
  });
  const chmod = mock.method(fs, 'chmodSync');
  const fchmod = mock.method(fs, 'fchmodSync');
  syncBuiltinESMExports();
  try {
    placeFile(join(folder, 'a.key'), 'secret', 0o600);
    storeIn(folder).update(pair.cert, pair.key, NOW);
  } finally {
    process.umask(umask);
    for (const spy of [open, chmod, fchmod]) spy.mock.restore();
    syncBuiltinESMExports();
  }
  assert.deepEqual(
    opened.map(({ size, mode, flags }) => ({ size, mode, flags })),
    [1, 2].map(() => ({ size: 0, mode: 0o600, flags: 'wx' })),
  );
  assert.equal(chmod.mock.callCount() + fchmod.mock.callCount(), 0);
  assert.deepEqual(readdirSync(folder).sort(), [
    'a.key',
    'kubelet-client-2026-01-02-03-04-05.pem',
    'kubelet-client-current.pem',
  ]);
  for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
});

test('a file that cannot be written leaves nothing behind', (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'file'), '');
  assert.throws(() => placeFile(join(folder, 'file', 'a.key'), 'secret', 0o600), { code: 'CERT021' });
  assert.deepEqual(readdirSync(folder), ['file']);
});

test('the store keeps pairs as kubelet does, and finds them again', (t) => {
  const folder = join(folderOf(t), 'pki');
  const store = storeIn(folder);
  assert.equal(store.current(), null);
  store.update(pair.cert, pair.key, NOW);
  const current = join(folder, 'kubelet-client-current.pem');
  assert.equal(store.currentPath, current);
  assert.ok(lstatSync(current).isSymbolicLink());
  assert.equal(readlinkSync(current), join(folder, 'kubelet-client-2026-01-02-03-04-05.pem'));
  assert.equal(statSync(folder).mode & 0o777, 0o755 & ~process.umask());
  const found = storeIn(folder).current();
  // the leaf comes first, then its authority, then the key
  assert.equal(found?.leaf.subject.startsWith('CN=host@'), true);
  assert.equal(found?.cert, pair.cert);
  assert.equal(found?.key, pair.key);
  store.update(pair.cert, pair.key, new Date(NOW.getTime() + 1000));
  assert.equal(readlinkSync(current), join(folder, 'kubelet-client-2026-01-02-03-04-06.pem'));
  assert.ok(existsSync(join(folder, 'kubelet-client-2026-01-02-03-04-05.pem')));
});

test('the store looks at the configured files, and at the names of old, when nothing is current', (t) => {
  const folder = folderOf(t);
  const [cert, key] = [join(folder, 'kubelet-client.crt'), join(folder, 'kubelet-client.key')];
  writeFileSync(cert, pair.cert);
  assert.equal(storeIn(folder).current(), null);
  writeFileSync(key, pair.key);
  assert.equal(storeIn(folder).current()?.key, pair.key);
  const own = { cert: join(folder, 'own.crt'), key: join(folder, 'own.key') };
  writeFileSync(own.cert, 'broken');
  writeFileSync(own.key, pair.key);
  assert.throws(() => storeIn(folder, own.cert, own.key).current(), { code: 'CERT006' });
  storeIn(folder).update(pair.cert, pair.key, NOW);
  assert.equal(storeIn(folder, own.cert, own.key).current()?.cert, pair.cert);
});

test('a rotation that was cut off is finished at the next start', (t) => {
  const folder = folderOf(t);
  const file = join(folder, 'kubelet-client-1.pem');
  placeFile(file, pair.cert + pair.key, 0o600);
  symlinkSync(file, join(folder, 'kubelet-client-updated.pem'));
  assert.equal(storeIn(folder).current()?.key, pair.key);
  assert.deepEqual(readdirSync(folder).sort(), ['kubelet-client-1.pem', 'kubelet-client-current.pem']);
});

test('files in the place of links, and pairs that do not fit, are refused', async (t) => {
  const folder = folderOf(t);
  const other = await makeSelfSigned('other', Date.now());
  assert.throws(() => storeIn(folder).update(pair.cert, other.key, NOW), {
    code: 'CERT006',
    message: /private key does not match public key/,
  });
  assert.deepEqual(readdirSync(folder), []);
  writeFileSync(join(folder, 'kubelet-client-updated.pem'), '');
  assert.throws(() => storeIn(folder), { code: 'CERT006', message: /expected a symlink but it is a file/ });
  rmSync(join(folder, 'kubelet-client-updated.pem'));
  const file = join(folder, 'kubelet-client-current.pem');
  placeFile(file, pair.cert + pair.key, 0o600);
  chmodSync(file, 0o600);
  assert.throws(() => storeIn(folder).update(pair.cert, pair.key, NOW), { code: 'CERT006' });
});
