import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pino from 'pino';
import { serviceAccountAccess } from '../../../actors/cluster/api/service-account.ts';
import type { Identity } from '../../../actors/cluster/api/credentials.ts';
import type { Kubeconfig } from '../../../actors/cluster/api/kubeconfig.ts';
import { makeAuthority } from './support/test-certificates.ts';

const ENV = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
let folder = '';
let now = 0;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'service-account-'));
  makeAuthority(folder);
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** As kubelet changes a mounted file: a new one in the place of the old. */
function rotate(token: string): void {
  writeFileSync(join(folder, '.new'), token);
  renameSync(join(folder, '.new'), join(folder, 'token'));
}
const access = (env: NodeJS.ProcessEnv = ENV, at = folder) =>
  serviceAccountAccess({ log: pino({ level: 'silent' }), now: () => now }, env, at);
const identity = ({ credentials }: Kubeconfig): Identity => credentials.current() as Identity;

test('a pod reaches the API server by its environment and the files of its service account', () => {
  rotate('first\n');
  const found = access();
  assert.equal(found.server.href, 'https://10.96.0.1/');
  assert.equal(found.ca(), readFileSync(join(folder, 'ca.crt'), 'utf8'));
  assert.equal(found.insecure, false);
  assert.equal(identity(found).authorization, 'Bearer first');
  const six = access({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' });
  assert.equal(six.server.href, 'https://[fd00::1]:6443/');
});

test('a token that kubelet has renewed is used within a minute, and at once when the old one is refused', () => {
  rotate('first');
  const found = access();
  const first = identity(found);
  rotate('second');
  now += 61_000;
  assert.equal(identity(found).authorization, 'Bearer second');
  rotate('third');
  const second = identity(found);
  assert.equal(found.credentials.rejected(second), true);
  assert.equal(identity(found).authorization, 'Bearer third');
  assert.notEqual(first, second);
});

test('where there is no service account the error says what is missing, and never what a token is', () => {
  const outside =
    /NDS008: There is no --kubeconfig, and no service account of a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, \/nowhere\/token is not there\. Give --kubeconfig/;
  assert.throws(() => access({}, '/nowhere'), outside);
  assert.throws(() => access(ENV, '/nowhere'), /: \/nowhere\/token is not there\. Give/);
  assert.throws(
    () => access({ KUBERNETES_SERVICE_HOST: '10.96.0.1' }),
    /: KUBERNETES_SERVICE_HOST and \S+ are not set\./,
  );
  rotate('');
  assert.throws(() => access(), /API006: .*\/token is empty/);
  rotate('secret-token');
  const ca = join(folder, 'ca.crt');
  const kept = readFileSync(ca);
  rmSync(ca);
  assert.throws(
    () => access(),
    (error: Error) =>
      /API006: .*ca\.crt cannot be read \(ENOENT\)/.test(error.message) && !error.message.includes('secret-token'),
  );
  writeFileSync(ca, kept);
});
