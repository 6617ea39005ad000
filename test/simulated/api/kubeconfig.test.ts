import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, after, test } from 'node:test';
import pino from 'pino';
import { loadKubeconfig } from '../../../actors/cluster/api/kubeconfig.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { makeAuthority, makeCertificate } from './support/test-certificates.ts';

const log = pino({ level: 'silent' });
const secret = 'very-secret-value';
let folder = '';
let now = 0;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubeconfig-test-'));
  const ca = makeAuthority(folder);
  makeCertificate(folder, 'one', '/CN=one', ca);
  makeCertificate(folder, 'two', '/CN=two', ca);
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a kubeconfig with one cluster and one user; returns its path. */
function write(user: object, cluster: object = {}, rest: object = {}): string {
  const path = join(folder, 'kubeconfig');
  const file = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'k', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u', namespace: 'ns' } }],
    users: [{ name: 'u', user }],
    ...rest,
  };
  writeFileSync(path, JSON.stringify(file));
  return path;
}

const load = (path: string) => loadKubeconfig(path, { log, now: () => now });
const pem = (name: string): string => readFileSync(join(folder, name), 'utf8');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Writes an exec plugin that counts its runs in `runs` and prints `answer`. */
function plugin(name: string, answer: object | string, code = 0): string {
  const path = join(folder, name);
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  writeFileSync(
    path,
    `#!/bin/sh\necho x >> '${path}.runs'\nprintf '%s' "$KUBERNETES_EXEC_INFO" > '${path}.info'\n` +
      `echo "$1 $PLUGIN_ENV" > '${path}.args'\necho 'said on stderr' >&2\ncat <<'EOF'\n${text}\nEOF\nexit ${String(code)}\n`,
  );
  chmodSync(path, 0o755);
  rmSync(`${path}.runs`, { force: true });
  return path;
}
const runsOf = (path: string): number => readFileSync(`${path}.runs`, 'utf8').trim().split('\n').length;
const v1 = 'client.authentication.k8s.io/v1';
const credential = (status: object, apiVersion = v1) => ({ apiVersion, kind: 'ExecCredential', status });

test('token, basic authentication, certificate files and data, authority', async () => {
  assert.deepEqual(await load(write({ token: secret })).credentials.current(), {
    authorization: `Bearer ${secret}`,
    cert: undefined,
    key: undefined,
  });
  const basic = await load(write({ username: 'a', password: 'b' })).credentials.current();
  assert.equal(basic.authorization, `Basic ${base64('a:b')}`);
  const files = load(
    write({ 'client-certificate': 'one.crt', 'client-key': './one.key' }, { 'certificate-authority': 'ca.crt' }),
  );
  assert.deepEqual(await files.credentials.current(), {
    authorization: undefined,
    cert: pem('one.crt'),
    key: pem('one.key'),
  });
  assert.equal(files.ca(), pem('ca.crt'));
  const data = load(
    write(
      { 'client-certificate-data': base64(pem('two.crt')), 'client-key-data': base64(pem('two.key')) },
      { 'certificate-authority-data': base64(pem('ca.crt')), 'tls-server-name': 'fake.example' },
    ),
  );
  assert.equal((await data.credentials.current()).cert, pem('two.crt'));
  assert.equal(data.ca(), pem('ca.crt'));
  assert.equal(data.serverName, 'fake.example');
  assert.equal(data.namespace, 'ns');
  assert.equal(data.server.href, 'https://10.0.0.1:6443/');
});

test('YAML, relative to its own folder; a server without a scheme and with a path', () => {
  const path = join(folder, 'y.yaml');
  writeFileSync(
    path,
    'current-context: c\nclusters:\n- name: k\n  cluster:\n    server: host:1234/base/\n    certificate-authority: ca.crt\n' +
      'contexts:\n- name: c\n  context: {cluster: k}\npreferences: {}\n',
  );
  const { server } = load(path);
  assert.equal(server.href, 'https://host:1234/base');
});

test('booleans of YAML 1.1', () => {
  const path = write({ token: secret }, { 'insecure-skip-tls-verify': true });
  writeFileSync(path, readFileSync(path, 'utf8').replace(':true', ': yes'));
  assert.equal(load(path).insecure, true);
});

const bad: [string, () => string, RegExp][] = [
  ['no file', () => join(folder, 'missing'), /^API001: cannot read kubeconfig .*missing: ENOENT/],
  [
    'no cluster of that name',
    () => write({}, {}, { clusters: [] }),
    /contexts\[0\]\.context\.cluster names cluster 'k'.*it has: none/,
  ],
  [
    'no current context',
    () => write({}, {}, { 'current-context': undefined }),
    /current-context: got nothing; accepted: a text/,
  ],
  ['unknown context', () => write({}, {}, { 'current-context': 'x' }), /names context 'x'.*it has: 'c'/],
  ['unknown user', () => write({}, {}, { users: [] }), /contexts\[0\]\.context\.user names user 'u'/],
  ['other kind', () => write({}, {}, { kind: 'Pod' }), /kind: got another text; accepted: "Config"/],
  ['no server', () => write({}, { server: '' }), /clusters\[0\]\.cluster\.server: got an empty text/],
  ['bad server', () => write({}, { server: 'ftp://x' }), /cluster\.server: .*accepted: an address like https:/],
  ['proxy', () => write({}, { 'proxy-url': 'http://p' }), /cluster\.proxy-url is not supported/],
  [
    'authority missing',
    () => write({}, { 'certificate-authority': 'no.crt' }),
    /certificate-authority: file .*no\.crt cannot be read \(ENOENT\)/,
  ],
  ['authority no PEM', () => write({}, { 'certificate-authority': 'one.key' }), /has no PEM certificate in it/],
  [
    'authority and insecure',
    () => write({}, { 'certificate-authority': 'ca.crt', 'insecure-skip-tls-verify': true }),
    /insecure-skip-tls-verify: got true/,
  ],
  ['token is a number', () => write({ token: 12345678 }), /users\[0\]\.user\.token: got a number; accepted: a text/],
  [
    'bad base64',
    () => write({ 'client-certificate-data': `${secret}!`, 'client-key-data': 'AAAA' }),
    /client-certificate-data: got another text; accepted: base64/,
  ],
  ['key missing', () => write({ 'client-certificate': 'one.crt' }), /user\.client-key: got nothing/],
  [
    'no pair',
    () => write({ 'client-certificate': 'one.crt', 'client-key': 'two.key' }),
    /one\.crt and client-key are no usable pair/,
  ],
  ['token file missing', () => write({ tokenFile: 'no-token' }), /tokenFile: file .*no-token cannot be read/],
  ['two ways', () => write({ token: secret, username: 'a' }), /more than one way to authenticate: token, username/],
  ['auth provider', () => write({ 'auth-provider': { name: 'gcp' } }), /auth-provider is not supported.*exec plugin/],
  ['impersonation', () => write({ token: secret, as: 'x' }), /user\.as is not supported/],
  [
    'exec version',
    () => write({ exec: { apiVersion: 'v1', command: 'x' } }),
    /exec\.apiVersion: got another text; accepted: "client/,
  ],
  [
    'exec without mode',
    () => write({ exec: { apiVersion: v1, command: 'x' } }),
    /interactiveMode: got nothing; accepted: "Never"/,
  ],
  [
    'exec that asks',
    () => write({ exec: { apiVersion: v1, command: 'x', interactiveMode: 'Always' } }),
    /interactiveMode: got "Always"/,
  ],
];
for (const [name, path, expected] of bad) {
  test(`bad file: ${name}`, () => {
    assert.throws(
      () => load(path()),
      (error) => {
        assert.ok(error instanceof ActorletError);
        assert.match(error.message, expected);
        assert.ok(!`${error.message}${String(error.stack)}`.includes(secret));
        return true;
      },
    );
  });
}

test('a syntax error names the place and shows nothing of the text', () => {
  const path = join(folder, 'broken.yaml');
  writeFileSync(path, `a: 1\ntoken: "${secret}\n  b: [\n`);
  assert.throws(
    () => load(path),
    (error: Error) => /API002.*line \d+, column \d+/.test(error.message) && !error.message.includes(secret),
  );
});

test('a token file is read again each minute, and the last token stays when it goes away', async () => {
  const file = join(folder, 'token');
  writeFileSync(file, 'first\n');
  const { credentials } = load(write({ tokenFile: 'token', token: 'old' }));
  const token = async () => (await credentials.current()).authorization;
  assert.equal(await token(), 'Bearer first');
  writeFileSync(file, 'second-token\n');
  now += 59_000;
  assert.equal(await token(), 'Bearer first');
  now += 2_000;
  assert.equal(await token(), 'Bearer second-token');
  rmSync(file);
  now += 61_000;
  assert.equal(await token(), 'Bearer second-token');
  writeFileSync(file, 'third-token');
  assert.equal(credentials.rejected(await credentials.current()), false);
  assert.equal(await token(), 'Bearer third-token');
});

test('a 401 makes a token file be read at once', async () => {
  const file = join(folder, 'token2');
  writeFileSync(file, 'first');
  const { credentials } = load(write({ tokenFile: file }));
  const identity = await credentials.current();
  assert.equal(credentials.rejected(identity), false);
  writeFileSync(file, 'other-one');
  assert.equal(credentials.rejected(identity), true);
  assert.equal((await credentials.current()).authorization, 'Bearer other-one');
});

test('a rotated client certificate is used; half a rotation is not', async () => {
  const copy = (from: string, to: string): void => {
    writeFileSync(join(folder, 'rotating.new'), pem(from));
    renameSync(join(folder, 'rotating.new'), join(folder, to));
  };
  copy('one.crt', 'r.crt');
  copy('one.key', 'r.key');
  const { credentials } = load(write({ 'client-certificate': 'r.crt', 'client-key': 'r.key' }));
  const first = await credentials.current();
  copy('two.crt', 'r.crt');
  now += 61_000;
  assert.equal(await credentials.current(), first);
  copy('two.key', 'r.key');
  now += 61_000;
  const second = await credentials.current();
  assert.equal(second.cert, pem('two.crt'));
  assert.equal(second.key, pem('two.key'));
});

test('exec plugin: environment, arguments, cluster, relative command, kept until a 401', async () => {
  const path = plugin('plug', credential({ token: secret }));
  const exec = {
    apiVersion: v1,
    command: './plug',
    args: ['hello'],
    env: [{ name: 'PLUGIN_ENV', value: 'world' }],
    interactiveMode: 'IfAvailable',
    provideClusterInfo: true,
  };
  const extension = [{ name: 'client.authentication.k8s.io/exec', extension: { a: 1 } }];
  const { credentials } = load(write({ exec }, { 'certificate-authority': 'ca.crt', extensions: extension }));
  const [a, b] = await Promise.all([credentials.current(), credentials.current()]);
  assert.equal(a.authorization, `Bearer ${secret}`);
  assert.equal(a, b);
  assert.equal(await credentials.current(), a);
  assert.equal(runsOf(path), 1);
  assert.equal(readFileSync(`${path}.args`, 'utf8'), 'hello world\n');
  assert.deepEqual(JSON.parse(readFileSync(`${path}.info`, 'utf8')), {
    kind: 'ExecCredential',
    apiVersion: v1,
    spec: {
      cluster: {
        server: 'https://10.0.0.1:6443',
        'certificate-authority-data': base64(pem('ca.crt')),
        config: { a: 1 },
      },
      interactive: false,
    },
  });
  assert.equal(credentials.rejected(a), true);
  await credentials.current();
  assert.equal(runsOf(path), 2);
});

test('exec plugin v1beta1 with a certificate that expires', async () => {
  const beta = 'client.authentication.k8s.io/v1beta1';
  const status = {
    clientCertificateData: pem('one.crt'),
    clientKeyData: pem('one.key'),
    expirationTimestamp: '2020-01-01T00:00:00Z',
  };
  const path = plugin('beta', credential(status, beta));
  const { credentials } = load(write({ exec: { apiVersion: beta, command: path } }));
  assert.equal((await credentials.current()).cert, pem('one.crt'));
  await credentials.current();
  assert.equal(runsOf(path), 2);
  assert.deepEqual(JSON.parse(readFileSync(`${path}.info`, 'utf8')), {
    kind: 'ExecCredential',
    apiVersion: beta,
    spec: { interactive: false },
  });
});

const badPlugins: [string, object | string, number, RegExp][] = [
  ['fails', secret, 3, /API010.*ended with code 3: said on stderr.*Install it/],
  ['no JSON', secret, 0, /API011.*\(standard output\): got no JSON/],
  [
    'other version',
    credential({ token: secret }, 'client.authentication.k8s.io/v1beta1'),
    0,
    /apiVersion: got '.*v1beta1'; accepted: '.*v1'/,
  ],
  ['no status', { apiVersion: v1, kind: 'ExecCredential' }, 0, /status: got nothing; accepted: an object/],
  ['nothing in it', credential({}), 0, /status: got neither/],
  ['half a pair', credential({ clientKeyData: secret }), 0, /clientCertificateData and clientKeyData together/],
];
for (const [name, output, code, expected] of badPlugins) {
  test(`bad exec plugin: ${name}`, async () => {
    const command = plugin('bad', output, code);
    const exec = { apiVersion: v1, command, interactiveMode: 'Never', installHint: 'Install it' };
    const { credentials } = load(write({ exec }));
    await assert.rejects(
      async () => credentials.current(),
      (error: Error) => {
        assert.match(error.message, expected);
        assert.ok(!error.message.includes(secret));
        return true;
      },
    );
  });
}

test('a missing exec plugin', async () => {
  const exec = { apiVersion: v1, command: '/nowhere/plug', interactiveMode: 'Never' };
  const { credentials } = load(write({ exec }));
  await assert.rejects(async () => credentials.current(), /API010.*there is no such program/);
});
