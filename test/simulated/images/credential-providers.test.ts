import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { CredentialProviders } from '../../../actors/images/credential-providers.ts';
import { loadProviderConfig } from '../../../actors/images/provider-config.ts';

const API = 'credentialprovider.kubelet.k8s.io/v1';

/** A folder with a plugin `ecr` that runs `script`, and a configuration for it. */
function pluginBench(t: TestContext, script: string, more: object = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'plugins-'));
  t.after(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'ecr'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, 'ecr'), 0o755);
  const config = join(dir, 'config.yaml');
  const write = (providers: object[]) => {
    const whole = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers };
    writeFileSync(config, JSON.stringify(whole));
  };
  const provider = { name: 'ecr', matchImages: ['*.reg.io'], defaultCacheDuration: '10s', apiVersion: API, ...more };
  write([provider]);
  return { dir, bin, config, write, provider };
}

/** Answers with `username` and counts its runs in a file beside the program. */
function answering(cacheKeyType: string, more = ''): string {
  const response = `{"kind":"CredentialProviderResponse","apiVersion":"${API}","cacheKeyType":"${cacheKeyType}",${more}"auth":{"*.reg.io":{"username":"'"$WHO"'","password":"hush"}}}`;
  return `cat >> "$(dirname "$0")/../requests"; echo "$1" >> "$(dirname "$0")/../runs"; echo '${response}'`;
}

function providersOf(config: string, bin: string, now: () => number, timeoutMs = 60_000) {
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const providers = new CredentialProviders({ providers: loadProviderConfig(config, bin), log, now, timeoutMs });
  return { providers, logged };
}

test('a plugin gets the request and its arguments; its answer is kept for the registry', async (t) => {
  const env = [{ name: 'WHO', value: 'ada' }];
  const { dir, bin, config } = pluginBench(t, answering('Registry'), { args: ['get'], env });
  let now = 0;
  const { providers, logged } = providersOf(config, bin, () => now);
  const runs = () => readFileSync(join(dir, 'runs'), 'utf8').trim().split('\n');
  const login = { '*.reg.io': { username: 'ada', password: 'hush' } };
  assert.deepEqual(await Promise.all([providers.loginsFor('a.reg.io/x'), providers.loginsFor('a.reg.io/x')]), [
    [login],
    [login],
  ]);
  assert.deepEqual(await providers.loginsFor('a.reg.io/y'), [login]);
  assert.deepEqual(runs(), ['get']);
  assert.deepEqual(JSON.parse(readFileSync(join(dir, 'requests'), 'utf8')), {
    kind: 'CredentialProviderRequest',
    apiVersion: API,
    image: 'a.reg.io/x',
  });
  await providers.loginsFor('b.reg.io/x');
  assert.equal(runs().length, 2, 'another registry');
  now = 10_001;
  await providers.loginsFor('a.reg.io/x');
  assert.equal(runs().length, 3, 'the default duration is over');
  assert.deepEqual(await providers.loginsFor('other.io/x'), [{}]);
  assert.equal(runs().length, 3, 'not for this registry');
  assert.deepEqual(logged, []);
});

test('kept for one image, for all, or not at all, as the answer says', async (t) => {
  const cases: [type: string, more: string, runs: number][] = [
    ['Image', '', 3],
    ['Global', '', 1],
    ['Registry', '"cacheDuration":"0s",', 4],
  ];
  for (const [type, more, expected] of cases) {
    const { dir, bin, config } = pluginBench(t, answering(type, more), { args: ['get'] });
    const { providers } = providersOf(config, bin, () => 0);
    for (const image of ['a.reg.io/x', 'a.reg.io/y', 'b.reg.io/x', 'a.reg.io/x']) await providers.loginsFor(image);
    assert.equal(readFileSync(join(dir, 'runs'), 'utf8').trim().split('\n').length, expected, type);
  }
});

test('a plugin that fails, hangs or talks nonsense gives no login, and the log says why without a value', async (t) => {
  const cases: [script: string, why: RegExp][] = [
    [
      'echo oh no >&2; exit 3',
      /error execing credential provider plugin ecr for image a\.reg\.io\/x: exit status 3: oh no/,
    ],
    ['sleep 1000 & wait', /context deadline exceeded/],
    ['echo hush', /error decoding credential provider plugin response from stdout/],
    [`echo '{"apiVersion":"v2","hush":1}'`, /did not match expected apiVersion:\S+, actual apiVersion:v2/],
    [answering('Planet'), /did not return a valid cacheKeyType: Planet/],
  ];
  for (const [script, why] of cases) {
    const { bin, config } = pluginBench(t, script);
    const { providers, logged } = providersOf(config, bin, () => 0, script.startsWith('sleep') ? 200 : 60_000);
    assert.deepEqual(await providers.loginsFor('a.reg.io/x'), [{}]);
    assert.match(logged.join(''), why);
    assert.doesNotMatch(logged.join(''), /hush/);
  }
});

test('a configuration that cannot be used says which field is wrong', (t) => {
  const { dir, bin, config, write, provider } = pluginBench(t, 'true');
  const load = (...providers: object[]) => {
    write(providers);
    return loadProviderConfig(config, bin);
  };
  assert.equal(load(provider)[0]?.defaultCacheMs, 10_000);
  const cases: [providers: object[], why: RegExp][] = [
    [[], /IMG003: .*providers: at least 1 item in plugins is required/],
    [[{ ...provider, matchImages: [] }], /providers\[0\]\.matchImages: at least 1 item/],
    [[{ ...provider, defaultCacheDuration: '-1s' }], /providers\[0\]\.defaultCacheDuration: "-1s" is no duration/],
    [[{ ...provider, apiVersion: 'v1' }], /providers\[0\]\.apiVersion: .*credentialprovider\.kubelet\.k8s\.io\/v1/],
    [[{ ...provider, name: '../ecr' }], /providers\[0\]\.name: a provider name is a file name/],
    [[{ ...provider, colour: 1 }], /colour/],
    [[{ ...provider, tokenAttributes: {} }], /tokenAttributes: service account tokens .* not supported/],
    [[provider, provider], /duplicate provider name "ecr" found/],
    [[{ ...provider, name: 'gcr' }], /IMG004: .*\/bin\/gcr cannot be executed: ENOENT/],
  ];
  for (const [providers, why] of cases) assert.throws(() => load(...providers), why);
  assert.throws(() => loadProviderConfig(bin, bin), /IMG002: .*holds no \.json, \.yaml or \.yml file/);
  assert.throws(() => loadProviderConfig(join(dir, 'none'), bin), /IMG002/);
});
