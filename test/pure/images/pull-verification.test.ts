import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDockerConfig } from '../../../machines/images/docker-config.ts';
import { accessWith, addCredentials } from '../../../machines/images/pull-credentials.ts';
import { mustVerify } from '../../../machines/images/pull-policy.ts';
import type { VerificationPolicy } from '../../../machines/images/pull-policy.ts';
import { intentText, loginText, readIntent, readRecord, recordText } from '../../../machines/images/pull-record.ts';
import type { ImagePulledRecord, ImagePullSecret } from '../../../machines/images/pull-record.ts';

const secret = (name: string, credentialHash = `hash-${name}`, namespace = 'ns'): ImagePullSecret => ({
  ...{ uid: `uid-${name}`, namespace, name, credentialHash },
});
const record = (credentialMapping: ImagePulledRecord['credentialMapping']): ImagePulledRecord => ({
  ...{ lastUpdatedTime: '2026-01-01T00:00:00Z', imageRef: 'sha256:1', credentialMapping },
});
const LATER = '2026-01-02T00:00:00Z';

test('who must show that he may use an image: each policy', () => {
  const verify = (policy: VerificationPolicy['policy'], image: string, byAgent: boolean, allowlist: string[] = []) =>
    mustVerify({ policy, allowlist }, image, byAgent);
  assert.equal(verify('NeverVerify', 'reg.io/a:1', true), false);
  assert.equal(verify('NeverVerifyPreloadedImages', 'reg.io/a:1', true), true);
  assert.equal(verify('NeverVerifyPreloadedImages', 'reg.io/a:1', false), false);
  assert.equal(verify('AlwaysVerify', 'reg.io/a:1', false), true);
  const list = ['reg.io/team/*', 'reg.io/one'];
  assert.equal(verify('NeverVerifyAllowlistedImages', 'reg.io/team/a:1', true, list), false);
  assert.equal(verify('NeverVerifyAllowlistedImages', 'reg.io/teams/a:1', true, list), true);
  assert.equal(verify('NeverVerifyAllowlistedImages', 'reg.io/one', true, list), false);
  // as in kubelet: the list names no tags, and is held against the image as the pod spells it
  assert.equal(verify('NeverVerifyAllowlistedImages', 'reg.io/one:1', true, list), true);
});

test('the same login opens, so does the same secret with another login, and both are remembered', () => {
  const known = { kubernetesSecrets: [secret('a'), secret('b')] };
  assert.deepEqual(accessWith(known, [secret('b')]), { allowed: true, remember: null });
  const twin = secret('twin', 'hash-a', 'elsewhere');
  assert.deepEqual(accessWith(known, [secret('other'), twin]), { allowed: true, remember: twin });
  const rotated = secret('a', 'hash-new');
  assert.deepEqual(accessWith(known, [rotated]), { allowed: true, remember: rotated });
  const refused = { allowed: false, remember: null };
  assert.deepEqual(accessWith(known, [secret('other')]), refused);
  assert.deepEqual(accessWith(known, []), refused);
  assert.deepEqual(accessWith({}, [secret('a')]), refused);
  assert.deepEqual(accessWith(undefined, [secret('a')]), refused);
  assert.deepEqual(accessWith({ nodePodsAccessible: true }, []), { allowed: true, remember: null });
  // a hash that could not be made equals no other
  assert.deepEqual(accessWith({ kubernetesSecrets: [secret('a', '')] }, [secret('x', '')]), refused);
});

test('a record with a hundred secrets learns no more by being looked at', () => {
  const full = { kubernetesSecrets: Array.from({ length: 100 }, (_, i) => secret(`s${i}`)) };
  assert.deepEqual(accessWith(full, [secret('twin', 'hash-s7')]), { allowed: true, remember: null });
  assert.deepEqual(accessWith(full, [secret('s7', 'hash-new')]), { allowed: false, remember: null });
});

test('credentials are added once, sorted, and a pull for all of the node ends the list', () => {
  const empty = record({});
  assert.equal(addCredentials(empty, 'reg.io/a', {}, LATER), null);
  const one = addCredentials(empty, 'reg.io/a', { kubernetesSecrets: [secret('b')] }, LATER);
  assert.deepEqual(one, {
    ...empty,
    lastUpdatedTime: LATER,
    credentialMapping: { 'reg.io/a': { kubernetesSecrets: [secret('b')] } },
  });
  assert.ok(one !== null);
  assert.equal(addCredentials(one, 'reg.io/a', { kubernetesSecrets: [secret('b')] }, LATER), null);
  const two = addCredentials(one, 'reg.io/a', { kubernetesSecrets: [secret('z', 'h', 'aa'), secret('a')] }, LATER);
  assert.deepEqual(
    two?.credentialMapping['reg.io/a']?.kubernetesSecrets?.map(({ namespace, name }) => `${namespace}/${name}`),
    ['aa/z', 'ns/a', 'ns/b'],
  );
  const free = addCredentials(one, 'reg.io/a', { nodePodsAccessible: true }, LATER);
  assert.deepEqual(free?.credentialMapping, { 'reg.io/a': { nodePodsAccessible: true } });
  assert.ok(free !== null);
  assert.equal(addCredentials(free, 'reg.io/a', { kubernetesSecrets: [secret('a')] }, LATER), null);
  assert.deepEqual(
    one.credentialMapping,
    { 'reg.io/a': { kubernetesSecrets: [secret('b')] } },
    'the old one stays as it was',
  );
});

test('records are written as kubelet writes them, and read in both versions', () => {
  assert.equal(
    intentText('reg.io/a:1'),
    '{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"reg.io/a:1"}\n',
  );
  const whole = record({
    'reg.io/b': { nodePodsAccessible: true },
    'reg.io/a': {
      kubernetesSecrets: [secret('s')],
      kubernetesServiceAccounts: [{ uid: 'u', namespace: 'n', name: 'sa' }],
    },
  });
  const text = recordText(whole);
  assert.equal(
    text,
    '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2026-01-01T00:00:00Z",' +
      '"imageRef":"sha256:1","credentialMapping":{"reg.io/a":{"kubernetesSecrets":[{"uid":"uid-s","namespace":"ns","name":"s",' +
      '"credentialHash":"hash-s"}],"kubernetesServiceAccounts":[{"uid":"u","namespace":"n","name":"sa"}]},' +
      '"reg.io/b":{"nodePodsAccessible":true}}}\n',
  );
  assert.deepEqual(readRecord(text), { value: whole, outdated: false });
  assert.deepEqual(readRecord(text.replace('v1beta1', 'v1alpha1')), { value: whole, outdated: true });
  assert.equal(recordText(record({})).includes('credentialMapping'), false);
  assert.deepEqual(readIntent(intentText('x')), { value: 'x', outdated: false });
  for (const bad of ['', '[]', text.replace('v1beta1', 'v2'), text.replace('"ns"', '7'), intentText('x')]) {
    assert.ok('fault' in readRecord(bad), bad);
  }
  assert.ok('fault' in readIntent(text));
});

test("a login's hash counts user, password and e-mail, in the text that Go makes of them", () => {
  assert.equal(
    loginText({ username: 'a', password: 'b<>&\u2028' }),
    '{"username":"a","password":"b\\u003c\\u003e\\u0026\\u2028"}',
  );
  const parsed = parseDockerConfig(
    '{"auths":{"reg.io":{"auth":"YTpi","email":"a@b.c"},"other":{"username":"u"}}}',
    false,
  );
  assert.ok('logins' in parsed);
  assert.deepEqual(parsed.logins, {
    'reg.io': { username: 'a', password: 'b', email: 'a@b.c' },
    other: { username: 'u', password: '' },
  });
  assert.equal(
    loginText({ username: 'a', password: 'b', email: 'a@b.c' }),
    '{"username":"a","password":"b","email":"a@b.c"}',
  );
  assert.equal(loginText({ username: 'u', password: '' }), '{"username":"u"}');
});
