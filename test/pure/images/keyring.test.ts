import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDockerConfig } from '../../../machines/images/docker-config.ts';
import type { DockerConfig } from '../../../machines/images/docker-config.ts';
import { lookUpLogins, repositoryOf } from '../../../machines/images/keyring.ts';
import { aggregate } from '../../../machines/values/aggregate.ts';
import { pullFailure } from '../../../machines/images/pull-error.ts';
import { locationKey, matcherFor } from '../../../machines/images/registry-match.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const login = (username: string) => ({ username, password: `of-${username}` });

test('both shapes of a docker configuration are read', () => {
  const entries = {
    'https://index.docker.io/v1/': { auth: base64('ada:se:cret') },
    'reg.example:5000': { username: 'bob', password: 'pw', email: 'b@c' },
    unpadded: { auth: base64('é:pä').replace(/=+$/, '') },
    none: {},
  };
  const logins = {
    'https://index.docker.io/v1/': { username: 'ada', password: 'se:cret' },
    'reg.example:5000': { username: 'bob', password: 'pw', email: 'b@c' },
    unpadded: { username: 'é', password: 'pä' },
    none: { username: '', password: '' },
  };
  assert.deepEqual(parseDockerConfig(JSON.stringify({ auths: entries, credsStore: 'x' }), false), { logins });
  assert.deepEqual(parseDockerConfig(JSON.stringify(entries), true), { logins });
  assert.deepEqual(parseDockerConfig('{}', false), { logins: {} });
});

test('what is wrong is said without a value', () => {
  const faults: [text: string, fault: RegExp][] = [
    ['{"auths": hush}', /^it is no valid JSON$/],
    ['[]', /^it is no JSON object$/],
    ['{"auths": "hush"}', /^field "auths" is no JSON object$/],
    ['{"auths": {"r": {"password": ["hush"]}}}', /^entry "r": field "password" is no string$/],
    ['{"auths": {"r": {"auth": "hush!"}}}', /^entry "r": field "auth" is no base64$/],
    [`{"auths": {"r": {"auth": "${base64('hush')}"}}}`, /^entry "r": unable to parse auth field, must be formatted/],
  ];
  for (const [text, fault] of faults) {
    const parsed = parseDockerConfig(text, false);
    assert.ok('fault' in parsed, text);
    assert.match(parsed.fault, fault);
    assert.doesNotMatch(parsed.fault, /hush/);
  }
});

test('a location covers a repository by labels, port and path', () => {
  const cases: [pattern: string, repository: string, matches: boolean][] = [
    ['kubernetes.io', 'kubernetes.io/a', true],
    ['*.kubernetes.io', 'prefix.kubernetes.io/a', true],
    ['*.kubernetes.io', 'kubernetes.io/a', false],
    ['*.io', 'a.b.io/a', false],
    ['prefix.*.io', 'prefix.kubernetes.io', true],
    ['*prefix*.kubernetes.io', 'myprefixed.kubernetes.io', true],
    ['reg?.io', 'reg1.io/a', false],
    ['reg?.io', 'reg/a', true],
    ['reg[0-9].io', 'reg7.io/a', false],
    ['[::1]:5000/a', '[::1]:5000/a', true],
    ['a.io:5000', 'a.io:5000/x', true],
    ['a.io:5000', 'a.io/x', false],
    ['a.io', 'a.io:5000/x', false],
    ['a.io/team', 'a.io/team/app', true],
    ['a.io/team', 'a.io/teams/app', true],
    ['a.io/team', 'a.io/other', false],
    ['*.a.io:80/p', 'b.a.io:80/p/q', true],
  ];
  for (const [pattern, repository, matches] of cases)
    assert.equal(matcherFor(repository)(pattern), matches, `${pattern} ${repository}`);
});

test('scheme and API version are no part of a location', () => {
  assert.equal(locationKey('https://index.docker.io/v1/'), 'index.docker.io');
  assert.equal(locationKey('http://a.io:80/v2/team'), 'a.io:80/team');
  assert.equal(locationKey('a.io/'), 'a.io');
  assert.equal(locationKey('a.io/v1'), 'a.io/v1');
});

test('the most special location comes first, rotated logins of one location in order', () => {
  const configs: DockerConfig[] = [
    { 'quay.io': login('host'), 'https://quay.io/v2/coreos': login('path') },
    { 'quay.io': login('newer') },
    { 'other.io': login('other') },
  ];
  const users = (image: string) => lookUpLogins(configs, repositoryOf(image)).map(({ username }) => username);
  assert.deepEqual(users('quay.io/coreos/etcd:v1'), ['path', 'host', 'newer']);
  assert.deepEqual(users('quay.io/x@sha256:1'), ['host', 'newer']);
  assert.deepEqual(users('nginx'), []);
});

test('images of Docker Hub get the logins of index.docker.io unless another location fits', () => {
  const hub = { 'https://index.docker.io/v1/': login('hub') };
  const users = (image: string, ...configs: DockerConfig[]) =>
    lookUpLogins(configs, repositoryOf(image)).map(({ username }) => username);
  for (const image of ['nginx', 'nginx:1.2', 'me/app', 'docker.io/me/app', 'index.docker.io/me/app'])
    assert.deepEqual(users(image, hub), ['hub'], image);
  assert.deepEqual(users('me.io/app', hub), []);
  assert.deepEqual(users('me/app', hub, { 'docker.io': login('short') }), ['short']);
});

test('repositories are named in full', () => {
  assert.equal(repositoryOf('nginx:1'), 'docker.io/library/nginx');
  assert.equal(repositoryOf('me/app@sha256:abc'), 'docker.io/me/app');
  assert.equal(repositoryOf('index.docker.io/nginx'), 'docker.io/library/nginx');
  assert.equal(repositoryOf('localhost/a/b:1'), 'localhost/a/b');
  assert.equal(repositoryOf('a.io:5000/b'), 'a.io:5000/b');
});

test("known failures become kubelet's reasons", () => {
  assert.deepEqual(pullFailure('i', 'RegistryUnavailable: 503'), {
    reason: 'RegistryUnavailable',
    message: 'image pull failed for i because the registry is unavailable: 503',
  });
  assert.equal(pullFailure('i', 'SignatureValidationFailed').reason, 'SignatureValidationFailed');
  const text = 'rpc error: code = NotFound desc = RegistryUnavailable';
  assert.deepEqual(pullFailure('i', text), { reason: 'ErrImagePull', message: text });
  assert.equal(aggregate(['a', 'b', 'a']), '[a, b]');
  assert.equal(aggregate(['a', 'a']), 'a');
});
