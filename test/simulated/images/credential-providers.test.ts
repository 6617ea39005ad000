import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { credentialProviderMetrics } from '../../../actors/record/metrics/plugin-metrics.ts';
import { CredentialProviders } from '../../../actors/runtime/images/credential-providers.ts';
import type { PullingPod, TokenSources } from '../../../actors/runtime/images/plugin-token.ts';
import { loadProviderConfig } from '../../../actors/runtime/images/provider-config.ts';

const API = 'credentialprovider.kubelet.k8s.io/v1';

/** `tokenAttributes` of a plugin. */
const TOKEN = {
  serviceAccountTokenAudience: 'reg.io',
  cacheType: 'ServiceAccount',
  requireServiceAccount: true,
  requiredServiceAccountAnnotationKeys: ['reg.io/role'],
};

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

function providersOf(
  config: string,
  bin: string,
  steady: () => number,
  timeoutMs = 60_000,
  tokens: () => TokenSources | undefined = () => undefined,
) {
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const { providers, hash } = loadProviderConfig(config, bin);
  const { registry } = createMetrics({ processMetrics: false });
  const onRun = credentialProviderMetrics(registry, hash);
  const asked = new CredentialProviders({ providers, log, steady, timeoutMs, tokens, onRun });
  /** Without a pod, and only the logins. */
  const loginsFor = async (image: string) => (await asked.loginsFor(image, null)).map(({ logins }) => logins);
  return { providers: { loginsFor }, asked, logged, registry };
}

test('a plugin gets the request and its arguments; its answer is kept for the registry', async (t) => {
  const env = [{ name: 'WHO', value: 'ada' }];
  const { dir, bin, config } = pluginBench(t, answering('Registry'), { args: ['get'], env });
  let steady = 0;
  const { providers, logged } = providersOf(config, bin, () => steady);
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
  steady = 10_001;
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

test('runs of plugins, how they end, and the configuration are in the metrics', async (t) => {
  const { dir, bin, config } = pluginBench(t, 'test -e "$(dirname "$0")/../broken" && exit 3; echo nonsense');
  const { providers, registry } = providersOf(config, bin, () => 0);
  await providers.loginsFor('a.reg.io/x');
  writeFileSync(join(dir, 'broken'), '');
  await providers.loginsFor('a.reg.io/x');
  const text = await registry.metrics();
  assert.match(text, /^kubelet_credential_provider_plugin_duration_count\{plugin_name="ecr"\} 2$/m);
  assert.match(text, /^kubelet_credential_provider_plugin_errors_total\{plugin_name="ecr"\} 1$/m);
  assert.match(text, /^kubelet_credential_provider_config_info\{hash="sha256:[0-9a-f]{64}"\} 1$/m);
});

test('the hash of a configuration is that of kubelet: of each file its length and its content', (t) => {
  const { dir, bin, config } = pluginBench(t, 'true');
  const folder = join(dir, 'many');
  mkdirSync(folder);
  const text = readFileSync(config, 'utf8');
  const second = text.replace('"ecr"', '"gcr"');
  copyFileSync(join(bin, 'ecr'), join(bin, 'gcr'));
  writeFileSync(join(folder, 'a.yaml'), text);
  writeFileSync(join(folder, 'b.json'), second);
  const bytes = [text, second].map((each) => `\0\0\0\0\0\0\0${String.fromCharCode(each.length)}${each}`).join('');
  assert.ok(text.length < 256);
  const expected = createHash('sha256').update(bytes, 'latin1').digest('hex');
  assert.equal(loadProviderConfig(folder, bin).hash, `sha256:${expected}`);
});

test('a configuration that cannot be used says which field is wrong', (t) => {
  const { dir, bin, config, write, provider } = pluginBench(t, 'true');
  const load = (...providers: object[]) => {
    write(providers);
    return loadProviderConfig(config, bin).providers;
  };
  assert.equal(load(provider)[0]?.defaultCacheMs, 10_000);
  const cases: [providers: object[], why: RegExp][] = [
    [[], /IMG003: .*providers: at least 1 item in plugins is required/],
    [[{ ...provider, matchImages: [] }], /providers\[0\]\.matchImages: at least 1 item/],
    [[{ ...provider, defaultCacheDuration: '-1s' }], /providers\[0\]\.defaultCacheDuration: "-1s" is no duration/],
    [[{ ...provider, apiVersion: 'v1' }], /providers\[0\]\.apiVersion: .*credentialprovider\.kubelet\.k8s\.io\/v1/],
    [[{ ...provider, name: '../ecr' }], /providers\[0\]\.name: a provider name is a file name/],
    [[{ ...provider, colour: 1 }], /colour/],
    [[{ ...provider, tokenAttributes: {} }], /tokenAttributes\.serviceAccountTokenAudience: an audience is required/],
    [
      [{ ...provider, tokenAttributes: { ...TOKEN, cacheType: 'Pod' } }],
      /cacheType is required to be set .*ServiceAccount, Token/,
    ],
    [
      [{ ...provider, tokenAttributes: { ...TOKEN, requireServiceAccount: 'yes' } }],
      /requireServiceAccount: true or false/,
    ],
    [
      [{ ...provider, tokenAttributes: { ...TOKEN, requireServiceAccount: false } }],
      /requireServiceAccount cannot be false/,
    ],
    [
      [{ ...provider, tokenAttributes: { ...TOKEN, optionalServiceAccountAnnotationKeys: ['reg.io/role'] } }],
      /annotation keys cannot be both required and optional/,
    ],
    [
      [{ ...provider, tokenAttributes: { ...TOKEN, requiredServiceAccountAnnotationKeys: ['a b'] } }],
      /requiredServiceAccountAnnotationKeys\[0\]: a key of an annotation/,
    ],
    [
      [{ ...provider, apiVersion: `${API}beta1`, tokenAttributes: TOKEN }],
      /tokenAttributes is only supported for credentialprovider\.kubelet\.k8s\.io\/v1 API version/,
    ],
    [[provider, provider], /duplicate provider name "ecr" found/],
    [[{ ...provider, name: 'gcr' }], /IMG004: .*\/bin\/gcr cannot be executed: ENOENT/],
  ];
  for (const [providers, why] of cases) assert.throws(() => load(...providers), why);
  const withToken = { ...provider, tokenAttributes: TOKEN };
  assert.equal(load(withToken)[0]?.tokenAttributes?.audience, 'reg.io');
  assert.throws(
    () => loadProviderConfig(config, bin, false),
    /KubeletServiceAccountTokenForCredentialProviders feature gate/,
  );
  assert.throws(() => loadProviderConfig(bin, bin), /IMG002: .*holds no \.json, \.yaml or \.yml file/);
  assert.throws(() => loadProviderConfig(join(dir, 'none'), bin), /IMG002/);
});

/** Pods, and service accounts with tokens `token-<account>-<pod>`. */
const podOf = (name: string, serviceAccount: string): PullingPod => ({
  namespace: 'ns',
  name,
  uid: name,
  serviceAccount,
});
const accounts: TokenSources = {
  serviceAccount: (_namespace, name) =>
    name === 'gone'
      ? Promise.reject(new Error('serviceaccounts "gone" not found'))
      : Promise.resolve({
          uid: `uid-${name}`,
          annotations: { ...(name !== 'plain' && { 'reg.io/role': name }), 'reg.io/other': 'x' },
        }),
  token: (pod, uid, audience) => Promise.resolve(`token-${uid}-${pod.name}-${audience}`),
};

/** As {@link providersOf}, at time 0, on a node that has these accounts. */
function withAccounts(config: string, bin: string) {
  return providersOf(
    config,
    bin,
    () => 0,
    60_000,
    () => accounts,
  );
}

test("a plugin gets a token of the pod's service account; its answer is for the account, or for the token", async (t) => {
  for (const [cacheType, expected] of [
    ['ServiceAccount', 2],
    ['Token', 3],
  ] as const) {
    const more = { args: ['get'], tokenAttributes: { ...TOKEN, cacheType } };
    const { dir, bin, config } = pluginBench(t, answering('Global'), more);
    const { asked, logged } = withAccounts(config, bin);
    const runs = () => readFileSync(join(dir, 'runs'), 'utf8').trim().split('\n').length;
    const [first] = await asked.loginsFor('a.reg.io/x', podOf('p1', 'ada'));
    assert.deepEqual(first?.serviceAccount, { uid: 'uid-ada', namespace: 'ns', name: 'ada' });
    assert.deepEqual(Object.keys(first.logins), ['*.reg.io']);
    assert.deepEqual(JSON.parse(readFileSync(join(dir, 'requests'), 'utf8')), {
      kind: 'CredentialProviderRequest',
      apiVersion: API,
      image: 'a.reg.io/x',
      serviceAccountToken: 'token-uid-ada-p1-reg.io',
      serviceAccountAnnotations: { 'reg.io/role': 'ada' },
    });
    await asked.loginsFor('a.reg.io/x', podOf('p1', 'ada'));
    assert.equal(runs(), 1, 'the same token');
    await asked.loginsFor('a.reg.io/y', podOf('p2', 'ada'));
    await asked.loginsFor('a.reg.io/x', podOf('p3', 'bob'));
    assert.equal(runs(), expected, cacheType);
    // No account, and no annotation by which it opts in: the plugin is not asked.
    assert.deepEqual(await asked.loginsFor('a.reg.io/x', podOf('p4', '')), [{ logins: {} }]);
    assert.deepEqual(await asked.loginsFor('a.reg.io/x', podOf('p5', 'plain')), [{ logins: {} }]);
    assert.deepEqual(logged, []);
    assert.deepEqual(await asked.loginsFor('a.reg.io/x', podOf('p6', 'gone')), [{ logins: {} }]);
    assert.match(logged.join(''), /failed to get service account: serviceaccounts \\"gone\\" not found/);
    assert.doesNotMatch(logged.join(''), /token-uid/);
    assert.equal(runs(), expected);
  }
});

test('a plugin that does not insist on a service account is asked without a token for a static pod', async (t) => {
  const tokenAttributes = { serviceAccountTokenAudience: 'reg.io', cacheType: 'Token', requireServiceAccount: false };
  const { dir, bin, config } = pluginBench(t, answering('Image'), { tokenAttributes });
  const { asked } = providersOf(config, bin, () => 0);
  const [answer] = await asked.loginsFor('a.reg.io/x', podOf('static', ''));
  assert.equal(answer?.serviceAccount, undefined);
  assert.deepEqual(Object.keys(answer?.logins ?? {}), ['*.reg.io']);
  assert.doesNotMatch(readFileSync(join(dir, 'requests'), 'utf8'), /serviceAccount/);
});

test('a token that comes back as the password is only good for a cache by token; a standalone node has none', async (t) => {
  const echo = `token=$(sed 's/.*"serviceAccountToken":"\\([^"]*\\)".*/\\1/'); echo '{"kind":"CredentialProviderResponse","apiVersion":"${API}","cacheKeyType":"Image","auth":{"*.reg.io":{"username":"u","password":"'"$token"'"}}}'`;
  for (const [cacheType, passwords] of [
    ['ServiceAccount', []],
    ['Token', ['token-uid-ada-p1-reg.io']],
  ] as const) {
    const { bin, config } = pluginBench(t, echo, { tokenAttributes: { ...TOKEN, cacheType } });
    const { asked, logged } = withAccounts(config, bin);
    const [answer] = await asked.loginsFor('a.reg.io/x', podOf('p1', 'ada'));
    assert.deepEqual(
      Object.values(answer?.logins ?? {}).map(({ password }) => password),
      passwords,
    );
    assert.equal(/returned the service account token as the password/.test(logged.join('')), passwords.length === 0);
    assert.doesNotMatch(logged.join(''), /token-uid/);
    const standalone = providersOf(config, bin, () => 0);
    assert.deepEqual(await standalone.asked.loginsFor('a.reg.io/x', podOf('p1', 'ada')), [{ logins: {} }]);
    assert.match(standalone.logged.join(''), /cannot get ServiceAccounts when kubelet is in standalone mode/);
  }
});
