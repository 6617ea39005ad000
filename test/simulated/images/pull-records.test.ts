import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { ImagePuller } from '../../../actors/runtime/images/image-puller.ts';
import type { LoginSources } from '../../../actors/runtime/images/pull-logins.ts';
import { PullRecords } from '../../../actors/runtime/images/pull-records.ts';
import type { CheckResult, ListedImage } from '../../../actors/runtime/images/pull-records.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { usableImage } from '../../../actors/pods/shard/usable-image.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { Image } from '../../../cri/generated/runtime/v1/api.ts';
import type { VerificationPolicy } from '../../../machines/images/pull-policy.ts';
import { intentText, recordText } from '../../../machines/images/pull-record.ts';
import type { ImagePulledRecord, ImagePullSecret } from '../../../machines/images/pull-record.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { until } from '../../tools/wait-for.ts';

const IMAGE = 'reg.io/app';
const ID = 'sha256:1';
const secret = (name: string): ImagePullSecret => ({
  uid: name,
  namespace: 'ns',
  name,
  credentialHash: `hash-${name}`,
});
const nobody = () => Promise.resolve([]);
const noAccount = () => Promise.resolve(null);
const fileName = (key: string) => `sha256-${createHash('sha256').update(key).digest('hex')}`;

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'pulls-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** One life of an agent on a root folder. */
async function life(rootDir: string, more: { policy?: VerificationPolicy['policy']; images?: ListedImage[] } = {}) {
  const checks: CheckResult[] = [];
  const counts: string[] = [];
  const records = new PullRecords({
    rootDir,
    policy: { policy: more.policy ?? 'NeverVerifyPreloadedImages', allowlist: [] },
    listImages: () =>
      more.images === undefined ? Promise.reject(new Error('the runtime is away')) : Promise.resolve(more.images),
    log: pino({ level: 'silent' }),
    now: () => Date.parse('2026-01-01T00:00:00.900Z'),
    onCheck: (result) => checks.push(result),
    onCounts: ({ intents, records: pulled }) => counts.push(`${intents}/${pulled}`),
  });
  await records.ready;
  const files = (name: string) => readdirSync(join(rootDir, 'image_manager', name));
  const read = () =>
    JSON.parse(readFileSync(join(rootDir, 'image_manager', 'pulled', fileName(ID)), 'utf8')) as ImagePulledRecord;
  return { records, checks, counts, files, read };
}

test('a pull is an intent until it ends, then a record; a failed one leaves nothing', async (t) => {
  const { records, counts, files, read } = await life(folder(t));
  records.began(IMAGE);
  records.began(IMAGE);
  assert.deepEqual(files('pulling'), [fileName(IMAGE)]);
  records.failed(IMAGE);
  assert.deepEqual(files('pulling'), [fileName(IMAGE)], 'another pull of it is under way');
  records.pulled(IMAGE, ID, { kubernetesSecrets: [secret('a')] });
  assert.deepEqual([files('pulling'), files('pulled')], [[], [fileName(ID)]]);
  assert.equal(read().lastUpdatedTime, '2026-01-01T00:00:00Z');
  assert.deepEqual(read().credentialMapping, { [IMAGE]: { kubernetesSecrets: [secret('a')] } });
  assert.equal(counts.at(-1), '0/1');
});

test('an image is for who knows its secret, under the name it was pulled by; others go to the registry', async (t) => {
  const root = folder(t);
  const first = await life(root);
  assert.equal(await first.records.mustPull(IMAGE, ID, nobody, noAccount), false, 'preloaded');
  first.records.began(IMAGE);
  assert.equal(await first.records.mustPull(IMAGE, ID, nobody, noAccount), true, 'being pulled by the agent');
  first.records.pulled(IMAGE, ID, { kubernetesSecrets: [secret('a')] });
  const { records, checks } = await life(root);
  assert.equal(await records.mustPull(`${IMAGE}:1`, ID, nobody, noAccount), true);
  assert.equal(await records.mustPull(`${IMAGE}:1`, ID, () => Promise.resolve([secret('a')]), noAccount), false);
  assert.equal(await records.mustPull('reg.io/alias', ID, () => Promise.resolve([secret('a')]), noAccount), true);
  assert.equal(await records.mustPull(IMAGE, ID, () => Promise.reject(new Error('no such secret')), noAccount), true);
  records.pulled(IMAGE, ID, { nodePodsAccessible: true });
  assert.equal(await records.mustPull(IMAGE, ID, nobody, noAccount), false);
  const found = 'credentialRecordFound';
  assert.deepEqual(checks, ['mustAuthenticate', found, 'mustAuthenticate', 'error', found]);
});

test('a pull that a former life left behind is settled by what the runtime has', async (t) => {
  const root = folder(t);
  const first = await life(root);
  first.records.began(`${IMAGE}:1`);
  first.records.began('reg.io/lost:1');
  const { records, files, read } = await life(root, {
    images: [{ id: ID, repoTags: [`${IMAGE}:1`], repoDigests: [] }],
  });
  assert.deepEqual(files('pulling'), [fileName('reg.io/lost:1')]);
  assert.deepEqual(read().credentialMapping ?? {}, {});
  assert.equal(
    await records.mustPull(`${IMAGE}:1`, ID, nobody, noAccount),
    true,
    'nobody knows with what it was pulled',
  );
  assert.equal(await records.mustPull('reg.io/lost:1', 'sha256:2', nobody, noAccount), true);
});

test('older records are written anew; damaged ones open nothing until they are replaced', async (t) => {
  const root = folder(t);
  await life(root);
  const old = recordText({
    lastUpdatedTime: '2025-01-01T00:00:00Z',
    imageRef: ID,
    credentialMapping: { [IMAGE]: { nodePodsAccessible: true } },
  });
  const place = (key: string) => join(root, 'image_manager', 'pulled', fileName(key));
  writeFileSync(place(ID), old.replace('v1beta1', 'v1alpha1'));
  writeFileSync(place('sha256:2'), old.slice(0, 40));
  writeFileSync(join(root, 'image_manager', 'pulling', `${fileName('x')}.tmp`), 'half');
  writeFileSync(join(root, 'image_manager', 'pulling', fileName('y')), intentText('y').replace('v1beta1', 'v1alpha1'));
  const { records, checks } = await life(root);
  assert.equal(readFileSync(place(ID), 'utf8'), old);
  assert.equal(readFileSync(join(root, 'image_manager', 'pulling', fileName('y')), 'utf8'), intentText('y'));
  assert.equal(await records.mustPull(IMAGE, ID, nobody, noAccount), false);
  assert.equal(await records.mustPull(IMAGE, 'sha256:2', nobody, noAccount), true);
  records.began(IMAGE);
  records.pulled(IMAGE, 'sha256:2', { nodePodsAccessible: true });
  assert.equal(await records.mustPull(IMAGE, 'sha256:2', nobody, noAccount), false);
  assert.deepEqual(checks, ['credentialRecordFound', 'error', 'credentialRecordFound']);
});

test('records of images that are gone are forgotten, but for young ones', async (t) => {
  const { records, files } = await life(folder(t));
  for (const id of ['sha256:1', 'sha256:2']) {
    records.began(IMAGE);
    records.pulled(IMAGE, id, { nodePodsAccessible: true });
  }
  records.prune(new Set(), Date.parse('2026-01-01T00:00:00Z'));
  assert.equal(files('pulled').length, 2);
  records.prune(new Set(['sha256:2']), Date.parse('2026-01-01T00:00:01Z'));
  assert.deepEqual(files('pulled'), [fileName('sha256:2')]);
});

interface BenchOptions {
  qps?: number;
  burst?: number;
  providers?: NonNullable<LoginSources['providers']>;
}

/** A puller whose pulls end when the test says so. */
function bench(records: PullRecords | null, options: BenchOptions = {}) {
  const pulls: { image: string; end: () => void }[] = [];
  const cri = {
    image: {
      pullImage: ({ image }: { image?: { image: string } }, { signal }: { signal?: AbortSignal } = {}) =>
        new Promise((resolve, reject) => {
          pulls.push({ image: image?.image ?? '', end: () => resolve({ imageRef: ID }) });
          signal?.addEventListener('abort', () => reject(Object.assign(new Error('canceled'), { code: 'Canceled' })));
        }),
      imageStatus: () => Promise.resolve({ image: Image.fromPartial({ id: ID, size: '5' }), info: {} }),
    },
  } as unknown as CriClient;
  const pod = {
    metadata: { namespace: 'ns' },
    spec: { containers: [{ name: 'c', image: IMAGE }], imagePullSecrets: [{ name: 's' }], serviceAccountName: 'ada' },
  } as Pod;
  const puller = new ImagePuller({
    ...{ cri, serialize: true, maxParallel: null, qps: options.qps ?? 0, burst: options.burst ?? 1, records },
    metrics: createMetrics({ processMetrics: false }),
    log: pino({ level: 'silent' }),
    podOf: (uid) => (uid === 'owner' ? pod : undefined),
    ...(options.providers !== undefined && { providers: options.providers }),
    pullSecret: () =>
      Promise.resolve({
        ...{ type: 'kubernetes.io/dockercfg', uid: 'uid-s', binaryData: {} },
        data: { '.dockercfg': '{"reg.io":{"username":"ann","password":"hush"}}' },
      }),
  });
  const pull = (uid: string, pullSecrets: string[] = [], image = `${IMAGE}:latest`) =>
    puller.pull({ image, runtimeHandler: '', namespace: 'ns', pullSecrets, sandboxConfig: null }, uid);
  return { puller, pull, pulls };
}
/** Waits for so many pulls to have begun, and then for what would come beside them. */
async function began(pulls: readonly unknown[], count: number): Promise<void> {
  await until(() => pulls.length >= count, `${count} pulls`);
  await new Promise((resolve) => setTimeout(resolve, 20));
}

test('the puller records what opened an image, by the name that the pod writes, and lets in who has it', async (t) => {
  const root = folder(t);
  const { records, read, files } = await life(root);
  const { puller, pull, pulls } = bench(records);
  const pulled = pull('owner', ['s']);
  await began(pulls, 1);
  assert.deepEqual(files('pulling'), [fileName(IMAGE)], 'the pod writes no tag');
  pulls[0]?.end();
  await pulled;
  const credentialHash = createHash('sha256').update('{"username":"ann","password":"hush"}').digest('hex');
  const kubernetesSecrets = [{ uid: 'uid-s', namespace: 'ns', name: 's', credentialHash }];
  assert.deepEqual(read().credentialMapping, { [IMAGE]: { kubernetesSecrets } });
  const found = { present: { imageRef: ID, uid: null, username: '' } };
  const mayUse = puller.mayUse.bind(puller);
  const image = `${IMAGE}:latest`;
  assert.deepEqual(await usableImage(found, { podUid: 'owner', image }, mayUse), found);
  assert.deepEqual(await usableImage(found, { podUid: 'stranger', image }, mayUse), { present: null });
  const free = bench(null).puller;
  assert.deepEqual(await usableImage(found, { podUid: 'stranger', image }, free.mayUse.bind(free)), {
    ...found,
    unchecked: true,
  });
});

test('the pull of a pod that is gone ends and makes room; one that still waits never begins', async (t) => {
  const { records, files } = await life(folder(t));
  const { puller, pull, pulls } = bench(records);
  const first = pull('one', [], 'reg.io/one:1');
  const second = pull('two', [], 'reg.io/two:1');
  const third = pull('three', [], 'reg.io/three:1');
  await began(pulls, 1);
  assert.deepEqual(
    pulls.map(({ image }) => image),
    ['reg.io/one:1'],
  );
  puller.podGone('two');
  puller.podGone('one');
  await assert.rejects(first, { code: 'Canceled' });
  await assert.rejects(second, { code: 'Canceled' });
  await began(pulls, 2);
  assert.deepEqual(
    pulls.map(({ image }) => image),
    ['reg.io/one:1', 'reg.io/three:1'],
  );
  assert.deepEqual(files('pulling'), [fileName('reg.io/three:1')]);
  pulls[1]?.end();
  await third;
});

test('pulls beyond QPS and burst are refused when their turn comes', async () => {
  const { pull, pulls } = bench(null, { qps: 0.001, burst: 1 });
  const first = pull('one');
  const second = pull('two', [], 'reg.io/two:1');
  const alike = pull('three', [], 'reg.io/two:1');
  await began(pulls, 1);
  pulls[0]?.end();
  await first;
  for (const refused of [second, alike]) await assert.rejects(refused, { message: 'pull QPS exceeded' });
  assert.equal(pulls.length, 1);
});

test('an image that came with a token is for the pods of that service account', async (t) => {
  const account = (name: string) => ({ uid: `uid-${name}`, namespace: 'ns', name });
  const { records, read, checks } = await life(folder(t));
  records.began(IMAGE);
  records.pulled(IMAGE, ID, { kubernetesServiceAccounts: [account('ada')] });
  assert.deepEqual(read().credentialMapping, { [IMAGE]: { kubernetesServiceAccounts: [account('ada')] } });
  const may = async (name: string | null) =>
    !(await records.mustPull(IMAGE, ID, nobody, () => Promise.resolve(name === null ? null : account(name))));
  assert.deepEqual([await may('ada'), await may('bob'), await may(null)], [true, false, false]);
  assert.deepEqual(checks.slice(-3), ['credentialRecordFound', 'mustAuthenticate', 'mustAuthenticate']);
});

test("a pull with a plugin's login for a service account is recorded for that account, and looked up again for its pods", async (t) => {
  const { records, read } = await life(folder(t));
  const serviceAccount = { uid: 'uid-ada', namespace: 'ns', name: 'ada' };
  const asked: unknown[] = [];
  const { puller, pull, pulls } = bench(records, {
    providers: (repository, pod) => {
      asked.push([repository, pod]);
      const logins = { 'reg.io': { username: 'robot', password: 'hush' } };
      return Promise.resolve([pod?.serviceAccount === 'ada' ? { logins, serviceAccount } : { logins: {} }]);
    },
  });
  const pulled = pull('owner');
  await began(pulls, 1);
  pulls[0]?.end();
  await pulled;
  assert.deepEqual(asked, [[IMAGE, { namespace: 'ns', name: '', uid: '', serviceAccount: 'ada' }]]);
  assert.deepEqual(read().credentialMapping, { [IMAGE]: { kubernetesServiceAccounts: [serviceAccount] } });
  const may = (podUid: string) => puller.mayUse({ podUid, image: `${IMAGE}:latest`, imageRef: ID });
  assert.equal((await may('owner')).allowed, true);
  assert.equal((await may('stranger')).allowed, false);
});
