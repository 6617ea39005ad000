import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { ImagePuller } from '../../../actors/runtime/images/image-puller.ts';
import { PullRecords } from '../../../actors/runtime/images/pull-records.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { CriError } from '../../../cri/client/cri-error.ts';
import { Image } from '../../../cri/generated/runtime/v1/api.ts';
import type { PullImageRequest } from '../../../cri/generated/runtime/v1/api.ts';
import type { PullPlace } from '../../../machines/protocol/pull-place.ts';
import type { ImagePulledRecord } from '../../../machines/images/pull-record.ts';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';

type Params = EffectCatalog['image.Pull']['params'];

const IMAGE = 'reg.io/app:1';
/** By secret: who it lets in. Two of them hold the same. */
const USERS: Record<string, string> = { one: 'ann', other: 'bob', copy: 'ann' };

interface Call {
  user: string;
  image: PullImageRequest['image'];
  succeed: () => void;
  fail: () => void;
}

/** A puller whose pulls (several at once) end as the test says; all of it is a node without an API server. */
function bench(t: TestContext) {
  const rootDir = mkdtempSync(join(tmpdir(), 'rights-'));
  t.after(() => rmSync(rootDir, { recursive: true, force: true }));
  const log = pino({ level: 'silent' });
  const calls: Call[] = [];
  const cri = {
    image: {
      pullImage: ({ auth, image }: PullImageRequest, { signal }: { signal?: AbortSignal } = {}) =>
        new Promise((resolve, reject) => {
          const succeed = () => resolve({ imageRef: 'sha256:1' });
          const fail = () => reject(new CriError('PullImage', 'NotFound', 'no such manifest'));
          calls.push({ user: auth?.username ?? '', image, succeed, fail });
          signal?.addEventListener('abort', () => reject(new CriError('PullImage', 'Canceled', 'context canceled')));
        }),
      imageStatus: () => Promise.resolve({ image: Image.fromPartial({ id: 'sha256:1', size: '5' }), info: {} }),
    },
  } as unknown as CriClient;
  const puller = new ImagePuller({
    ...{ cri, log, serialize: false, maxParallel: null, qps: 0, burst: 1 },
    records: new PullRecords({
      ...{ rootDir, log, listImages: () => Promise.resolve([]) },
      policy: { policy: 'AlwaysVerify', allowlist: [] },
    }),
    metrics: createMetrics({ processMetrics: false }),
    pullSecret: (_namespace, name) =>
      Promise.resolve({
        ...{ type: 'kubernetes.io/dockercfg', uid: `uid-${name}`, binaryData: {} },
        data: { '.dockercfg': JSON.stringify({ 'reg.io': { username: USERS[name], password: 'hush' } }) },
      }),
  });
  const pull = (uid: string, over: Partial<Params> = {}, key = `container/c/${uid}`) => {
    const turns: (PullPlace | null)[] = [];
    const params = { image: IMAGE, runtimeHandler: '', namespace: 'ns', pullSecrets: [], sandboxConfig: null };
    const done = puller.pull({ ...params, ...over }, uid, { key, onTurn: (place) => turns.push(place) });
    done.catch(() => undefined);
    return { done, turns };
  };
  const record = () => {
    const [file = ''] = readdirSync(join(rootDir, 'image_manager', 'pulled'));
    return JSON.parse(readFileSync(join(rootDir, 'image_manager', 'pulled', file), 'utf8')) as ImagePulledRecord;
  };
  return { puller, pull, calls, record };
}

/** Until so many calls have been made, and all that is under way in this process is done. */
async function made(calls: readonly Call[], count: number): Promise<void> {
  while (calls.length < count) await turn();
  for (let i = 0; i < 20; i++) await turn();
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('different secrets make two pulls at once; one that has no login makes its own', async (t) => {
  const { pull, calls } = bench(t);
  const all = [pull('a', { pullSecrets: ['one'] }), pull('b', { pullSecrets: ['other'] }), pull('c')];
  await made(calls, 3);
  assert.deepEqual(calls.map(({ user }) => user).sort(), ['', 'ann', 'bob']);
  const refused = calls.find(({ user }) => user === 'bob');
  refused?.fail();
  await assert.rejects(all[1]?.done ?? Promise.resolve(), { code: 'NotFound' });
  for (const { succeed } of calls) succeed();
  for (const each of [all[0], all[2]]) assert.equal((await each?.done)?.imageRef, 'sha256:1');
});

test('two secrets that hold the same login make one pull, recorded for each of them', async (t) => {
  const { pull, calls, record } = bench(t);
  const all = ['one', 'copy'].map((secret) => pull(secret, { pullSecrets: [secret] }));
  await made(calls, 1);
  assert.equal(calls.length, 1);
  calls[0]?.succeed();
  for (const { done } of all) await done;
  const known = record().credentialMapping['reg.io/app'];
  assert.deepEqual(known?.kubernetesSecrets?.map(({ name }) => name).sort(), ['copy', 'one']);
  assert.equal(known?.nodePodsAccessible, undefined);
});

test('another runtime handler is another pull: it may unpack the image elsewhere', async (t) => {
  const { pull, calls } = bench(t);
  const annotations = { 'io.containerd.cri.runtime-handler': 'kata' };
  pull('a');
  pull('b', { runtimeHandler: 'kata' });
  pull('c', { sandboxConfig: { annotations } as unknown as Params['sandboxConfig'] });
  await made(calls, 3);
  assert.equal(calls.length, 3);
});

test('a pull has the annotations of the pod that asked for it first', async (t) => {
  const { pull, calls } = bench(t);
  const first = pull('u1', { annotations: { team: 'blue' } });
  const second = pull('u2', { annotations: { team: 'red' } });
  await made(calls, 1);
  assert.deepEqual(
    calls.map(({ image }) => image),
    [{ image: IMAGE, runtimeHandler: '', annotations: { team: 'blue' } }],
  );
  calls[0]?.succeed();
  await Promise.all([first.done, second.done]);
});

test('after a pull that failed those who ask one after the other share the next, policy Always too', async (t) => {
  const { pull, calls } = bench(t);
  const first = pull('a', { fresh: true });
  await made(calls, 1);
  calls[0]?.fail();
  await assert.rejects(first.done, { code: 'NotFound' });
  const again = [pull('a', { fresh: true }, 'container/c/2')];
  await made(calls, 1);
  again.push(pull('b', { fresh: true }));
  await made(calls, 2);
  assert.equal(calls.length, 2);
  calls[1]?.succeed();
  for (const { done, turns } of again) {
    assert.equal((await done).imageRef, 'sha256:1');
    assert.deepEqual(turns, [], 'of a moment nothing is told');
  }
});

test('who looked for an image before another pull of it ended needs none of his own; policy Always does', async (t) => {
  const { pull, calls } = bench(t);
  const first = pull('a');
  await made(calls, 1);
  calls[0]?.succeed();
  await first.done;
  assert.equal((await pull('b').done).sizeBytes, 5);
  assert.equal(calls.length, 1);
  const always = pull('c', { fresh: true });
  await made(calls, 2);
  calls[1]?.succeed();
  await always.done;
});

test('policy Always waits for the pull that has begun, and is told so', async (t) => {
  const { puller, pull, calls } = bench(t);
  const first = pull('a');
  await made(calls, 1);
  const always = pull('b', { fresh: true });
  await made(calls, 1);
  assert.deepEqual(always.turns, [{ place: 1, underWay: [IMAGE], before: [], more: 0 }]);
  assert.equal(
    puller.placeOf('b', (image) => image === IMAGE),
    1,
  );
  calls[0]?.succeed();
  await first.done;
  await made(calls, 2);
  assert.deepEqual(always.turns.slice(1), [null]);
  assert.equal(
    puller.placeOf('b', () => true),
    null,
  );
  calls[1]?.succeed();
  const { ms, waitedMs } = await always.done;
  assert.ok(ms <= waitedMs);
});

test('a container that asks anew gives up what it asked before: a worker that died does not hold the queue', async (t) => {
  const { pull, calls } = bench(t);
  const old = pull('a', {}, 'container/c/1');
  const other = pull('a', {}, 'container/other/1');
  await made(calls, 1);
  const anew = pull('a', {}, 'container/c/1');
  await assert.rejects(old.done, { code: 'Superseded' }, 'nobody is told under a key that is used again');
  const changed = pull('a', { image: 'reg.io/app:2' }, 'container/c/2');
  await assert.rejects(anew.done, { code: 'Canceled' });
  await made(calls, 2);
  for (const { succeed } of calls) succeed();
  await Promise.all([other.done, changed.done]);
});
