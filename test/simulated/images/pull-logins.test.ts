import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import { usableImage } from '../../../actors/pods/shard/usable-image.ts';
import { looksForSecrets } from '../../../actors/node/secret-looks.ts';
import { ImagePuller } from '../../../actors/runtime/images/image-puller.ts';
import type { ImagePullerOptions } from '../../../actors/runtime/images/image-puller.ts';
import { nodeLogins } from '../../../actors/runtime/images/node-logins.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { CriError } from '../../../cri/client/cri-error.ts';
import { Image } from '../../../cri/generated/runtime/v1/api.ts';
import type { PullImageRequest } from '../../../cri/generated/runtime/v1/api.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const dockerConfig = (entries: Record<string, string>) =>
  JSON.stringify({
    auths: Object.fromEntries(Object.entries(entries).map(([at, who]) => [at, { auth: base64(who) }])),
  });
const secretOf = (entries: Record<string, string>): ObjectContent => ({
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': dockerConfig(entries) },
  binaryData: {},
});

/** A runtime that lets in who `letsIn` says; `tried` holds the users, '' without a login. */
function pullBench(letsIn: (user: string) => Error | null, options: Partial<ImagePullerOptions> = {}) {
  const tried: string[] = [];
  const logged: string[] = [];
  const missing: [string, string][] = [];
  const cri = {
    image: {
      pullImage: ({ auth }: PullImageRequest) => {
        const user = auth?.username ?? '';
        tried.push(auth === undefined ? '' : `${user}:${auth.password}`);
        const error = letsIn(user);
        return error === null ? Promise.resolve({ imageRef: 'sha256:1' }) : Promise.reject(error);
      },
      imageStatus: () => Promise.resolve({ image: Image.fromPartial({ id: 'sha256:1', size: '5' }), info: {} }),
    },
  } as unknown as CriClient;
  const puller = new ImagePuller({
    cri,
    serialize: true,
    maxParallel: null,
    qps: 0,
    burst: 1,
    records: null,
    metrics: createMetrics({ processMetrics: false }),
    log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
    onMissingSecrets: (uid, message) => missing.push([uid, message]),
    ...options,
  });
  const pull = (pullSecrets: string[], image = 'reg.io/app:1') =>
    puller.pull({ image, runtimeHandler: '', namespace: 'default', pullSecrets, sandboxConfig: null }, 'uid-1');
  return { puller, pull, tried, logged, missing };
}

const secrets = (all: Record<string, ObjectContent>) => (_namespace: string, name: string) =>
  Promise.resolve(all[name] ?? null);

test("each login is tried until one is let in: the secrets' first, then the node's", async () => {
  const { pull, tried, missing } = pullBench(
    (user) => (user === 'node' ? null : new CriError('PullImage', 'Unknown', 'denied')),
    {
      pullSecret: secrets({
        one: secretOf({ 'reg.io': 'a:1', 'reg.io/app': 'b:2' }),
        two: secretOf({ '*.io': 'c:3' }),
      }),
      nodeLogins: () => Promise.resolve({ 'reg.io': { username: 'node', password: 'x' } }),
    },
  );
  assert.equal((await pull(['one', 'two'])).imageRef, 'sha256:1');
  assert.deepEqual(tried, ['b:2', 'a:1', 'c:3', 'node:x']);
  assert.deepEqual(missing, []);
});

test('without a login that fits the pull goes without', async () => {
  const { pull, tried } = pullBench(() => null, { pullSecret: secrets({ one: secretOf({ 'other.io': 'a:1' }) }) });
  await pull(['one', '']);
  assert.deepEqual(tried, ['']);
});

test('when all fail, each different failure is told once; the code Unknown is left out', async () => {
  const errors = [
    new CriError('PullImage', 'Unknown', 'denied'),
    new CriError('PullImage', 'Unavailable', 'away'),
    new CriError('PullImage', 'Unknown', 'denied'),
  ];
  const pullSecret = secrets({ s: secretOf({ 'reg.io': 'a:1', 'reg.io/app': 'b:2', '*.io': 'c:3' }) });
  const { pull } = pullBench(() => errors.shift() ?? null, { pullSecret });
  await assert.rejects(pull(['s']), {
    message: '[denied, rpc error: code = Unavailable desc = away]',
    code: 'EUNKNOWN',
  });
  const one = pullBench(() => new CriError('PullImage', 'NotFound', 'none'));
  await assert.rejects(one.pull([]), { code: 'NotFound', details: 'none' });
});

test('secrets that cannot be had are told, and the pull goes on', async () => {
  const { pull, tried, missing } = pullBench(() => null, {
    pullSecret: (_namespace, name) =>
      name === 'broken'
        ? Promise.reject(new Error('timed out'))
        : secrets({ ok: secretOf({ 'reg.io': 'a:1' }) })('', name),
  });
  await pull(['gone', 'ok', 'broken']);
  assert.deepEqual(tried, ['a:1']);
  assert.deepEqual(missing, [
    [
      'uid-1',
      'Unable to retrieve some image pull secrets (gone, broken); attempting to pull the image may not succeed.',
    ],
  ]);
});

test('secrets that cannot be had are told of an image that is there, too, and the pod does not wait for them', async () => {
  let answer: (content: null) => void = () => undefined;
  const podOf = (uid: string) =>
    uid === 'uid-1' ? { spec: { containers: [], imagePullSecrets: [{ name: 'gone' }, {}] } } : undefined;
  const { puller, missing } = pullBench(() => null, {
    podOf,
    pullSecret: () => new Promise((resolve) => (answer = resolve)),
  });
  const image = 'reg.io/app:1';
  assert.equal((await puller.mayUse({ podUid: 'uid-1', image, imageRef: 'sha256:1' })).allowed, true);
  assert.deepEqual(missing, []);
  answer(null);
  await turn();
  await puller.mayUse({ podUid: 'uid-2', image, imageRef: 'sha256:1' });
  await turn();
  const message = 'Unable to retrieve some image pull secrets (gone); attempting to pull the image may not succeed.';
  assert.deepEqual(missing, [['uid-1', message]]);
});

test('secrets that cannot be had are told at each sync of a pod that has come to its containers', async () => {
  const podOf = () => ({ spec: { containers: [], imagePullSecrets: [{ name: 'gone' }] } });
  const { puller, missing } = pullBench(() => null, { podOf, pullSecret: secrets({}) });
  for (const state of ['syncing.running', 'syncing.mountingVolumes', 'syncing.imageBackOff', 'terminating.x', null])
    if (looksForSecrets(state)) puller.lookForSecrets('uid-1');
  puller.lookForSecrets('uid-1');
  await turn();
  assert.deepEqual(
    missing.map(([uid]) => uid),
    ['uid-1', 'uid-1'],
  );
});

test('a pod that may not pull an image that is not there hears of secrets that cannot be had, too; any other does when it pulls', async () => {
  const image = 'reg.io/app';
  const podOf = (uid: string) => ({
    spec: {
      containers: [{ name: 'c', image, imagePullPolicy: uid === 'never' ? 'Never' : 'IfNotPresent' }],
      imagePullSecrets: [{ name: 'gone' }],
      ...(uid === 'volume' && {
        volumes: [{ name: 'v', image: { reference: 'reg.io/files:1', pullPolicy: 'Never' } }],
      }),
    },
  });
  const { puller, missing } = pullBench(() => null, { podOf, pullSecret: secrets({}) });
  const mayUse = puller.mayUse.bind(puller);
  const absent = { present: null };
  for (const podUid of ['never', 'other'])
    assert.deepEqual(await usableImage(absent, { podUid, image: 'reg.io/app:latest' }, mayUse), absent);
  await usableImage(absent, { podUid: 'volume', image: 'reg.io/files:1' }, mayUse);
  await turn();
  assert.deepEqual(
    missing.map(([uid]) => uid),
    ['never', 'volume'],
  );
});

test('a secret of another type is passed over; one that is broken is an error that shows no value', async () => {
  const opaque = { type: 'Opaque', data: { '.dockerconfigjson': dockerConfig({ 'reg.io': 'a:1' }) }, binaryData: {} };
  const broken = { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': '{"reg.io": "hush"}' }, binaryData: {} };
  const { pull, tried, logged } = pullBench(() => null, { pullSecret: secrets({ opaque, broken }) });
  await pull(['opaque']);
  assert.deepEqual(tried, ['']);
  const error: unknown = await pull(['broken']).catch((thrown: unknown) => thrown);
  assert.match(
    String(error),
    /IMG001: Image pull secret default\/broken cannot be used: entry "reg.io": it is no JSON/,
  );
  assert.doesNotMatch(String(error) + logged.join(''), /hush/);
});

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'logins-'));
  t.after(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

test("the node's first valid file counts, read again after five minutes", async (t) => {
  const home = folder(t);
  const rootDir = folder(t);
  const log = pino({ level: 'silent' });
  let steady = 0;
  const read = nodeLogins({ rootDir, log, home, steady: () => steady });
  writeFileSync(join(rootDir, 'config.json'), 'broken');
  mkdirSync(join(home, '.docker'));
  writeFileSync(join(home, '.docker', 'config.json'), dockerConfig({ 'reg.io': 'home:1' }));
  writeFileSync(join(rootDir, '.dockercfg'), JSON.stringify({ 'reg.io': { username: 'legacy', password: '' } }));
  assert.equal((await read())['reg.io']?.username, 'home');
  writeFileSync(join(rootDir, 'config.json'), dockerConfig({ 'reg.io': 'root:1' }));
  assert.equal((await read())['reg.io']?.username, 'home');
  steady = 5 * 60_000;
  assert.equal((await read())['reg.io']?.username, 'root');
  rmSync(join(rootDir, 'config.json'));
  rmSync(join(home, '.docker'), { recursive: true });
  steady *= 2;
  assert.equal((await read())['reg.io']?.username, 'legacy');
});
