import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import pino from 'pino';
import type { ApiClient } from '../../../actors/cluster/api/api-client.ts';
import { ApiStatusError } from '../../../actors/cluster/api/api-client.ts';
import { answerError } from '../../../actors/cluster/api/answer-error.ts';
import { WatchBackOff } from '../../../actors/cluster/api/watch-back-off.ts';
import { jsonLines, NotJson } from '../../../actors/cluster/api/json-lines.ts';
import { listNewest } from '../../../actors/cluster/api/list-pages.ts';
import { watchPodsOfNode } from '../../../actors/node/pods-of-node.ts';
import { WatchedObject } from '../../../actors/cluster/objects/watched-object.ts';
import { ServiceVariables } from '../../../actors/cluster/objects/service-variables.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { PATIENCE_MS } from '../../tools/wait-for.ts';
import { byteChanges, changedBytes } from './support/mutate-bytes.ts';
import { changed, jsonChanges } from './support/mutate-json.ts';
import { nasty } from './support/nasty.ts';
import { fuzz } from './support/runs.ts';
import { wholePod } from './support/whole-pod.ts';

const log = pino({ level: 'silent' });
const LAST = 'the-last';

/** An API server whose lists and watches are scripted: each call takes the next; then it hangs. */
function scripted(lists: unknown[], watches: Buffer[][]): ApiClient & { listed: number } {
  const api = {
    listed: 0,
    request: (): Promise<never> => {
      const body = lists[Math.min(api.listed++, lists.length - 1)];
      return body instanceof Error ? Promise.reject(body) : Promise.resolve(body as never);
    },
    stream: ({ signal }: { signal?: AbortSignal }) => {
      const chunks = watches.shift();
      return Promise.resolve(
        jsonLines(
          (async function* () {
            for (const chunk of chunks ?? []) yield await Promise.resolve(chunk);
            if (watches.length === 0) await new Promise((done) => signal?.addEventListener('abort', done));
          })(),
        ),
      );
    },
    limited: () => api,
    close: () => undefined,
  };
  return api;
}

const apiPod = (name: string, version: string): Pod => {
  const pod = wholePod(name, `uid-${name}`);
  return { ...pod, metadata: { ...pod.metadata, resourceVersion: version } };
};
const line = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value) ?? 'null'}\n`);
const event = { type: 'MODIFIED', object: apiPod('a', '11') };
const cut = fc.array(fc.nat(5_000), { maxLength: 3 });

/** The bytes in pieces, as a connection hands them out. */
function pieces(all: Buffer, at: readonly number[]): Buffer[] {
  const marks = [0, ...at.map((mark) => mark % (all.length + 1)).sort((a, b) => a - b), all.length];
  return marks.slice(1).map((mark, i) => all.subarray(marks[i], mark));
}

async function reflect(lists: unknown[], watches: Buffer[][], until: string): Promise<{ told: Pod[]; all: Pod[] }> {
  const told: Pod[] = [];
  const api = scripted(lists, watches);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const seen = (pods: Pod[]): void => {
    told.push(...pods);
    if (pods.some((pod) => pod.metadata?.name === until)) resolve(undefined);
  };
  const reflector = watchPodsOfNode({
    api,
    nodeName: 'node1',
    log,
    onList: seen,
    onPod: (pod) => seen([pod]),
    onPods: () => undefined,
  });
  (reflector as unknown as { backOff: WatchBackOff }).backOff = new WatchBackOff({
    general: { firstMs: 1, maxMs: 1 },
    forbidden: { firstMs: 1, maxMs: 1 },
    unreachable: { firstMs: 1, maxMs: 1 },
  });
  reflector.start();
  // One that never comes is no matter of time: what the script has is given out at once.
  const late = setTimeout(() => resolve(undefined), PATIENCE_MS);
  await promise;
  clearTimeout(late);
  reflector.stop();
  assert.ok(
    told.some((pod) => pod.metadata?.name === until),
    `${until} never came`,
  );
  for (const pod of told) {
    assert.ok(typeof pod.metadata?.uid === 'string' && Array.isArray(pod.spec?.containers));
    for (const container of pod.spec.containers) assert.equal(typeof (container.image ?? ''), 'string');
  }
  return { told, all: reflector.list() };
}

const list = { metadata: { resourceVersion: '10' }, items: [apiPod('a', '9')] };
const lastOne = { type: 'ADDED', object: apiPod(LAST, '99') };

test('watch: a bad event never loses the next good one', async () => {
  await fc.assert(
    fc.asyncProperty(jsonChanges, cut, async (changes, at) => {
      const bad = line(changed(event, changes));
      // An event that became ERROR ends the watch; what it hid comes with the next one or the list.
      const { all } = await reflect([list], [pieces(Buffer.concat([bad, line(lastOne)]), at), [line(lastOne)]], LAST);
      assert.ok(all.length >= 1);
    }),
    fuzz(250),
  );
});

test('watch: whatever the bytes are, what follows comes', async () => {
  const after = { metadata: { resourceVersion: '99' }, items: [lastOne.object] };
  await fc.assert(
    fc.asyncProperty(
      byteChanges(['\n', '{"type":"ERROR"}\n', Buffer.from('1f8b', 'hex')]),
      cut,
      async (changes, at) => {
        const bytes = changedBytes(Buffer.concat([line(event), line(event)]), changes);
        await reflect([list, after], [pieces(bytes, at), [bytes], [line(lastOne)]], LAST);
      },
    ),
    fuzz(200),
  );
});

test('list: a pod that cannot be used costs no other', async () => {
  await fc.assert(
    fc.asyncProperty(jsonChanges, async (changes) => {
      const items = [changed(apiPod('a', '9'), changes), apiPod(LAST, '10')];
      await reflect([{ ...list, items }], [], LAST);
    }),
    fuzz(200),
  );
});

test('list: whatever it is, the next one is taken', async () => {
  await fc.assert(
    fc.asyncProperty(jsonChanges, async (changes) => {
      const body = changed(list, changes);
      await reflect([body, { ...list, items: [apiPod(LAST, '10')] }], [[Buffer.from('{\n')], [line(lastOne)]], LAST);
    }),
    fuzz(150),
  );
});

for (const kind of ['secret', 'configMap'] as const) {
  test(`watch of a ${kind}: a bad event never loses the next good one`, async () => {
    const good = (version: string, data: Record<string, string>) => ({
      metadata: { name: 'x', namespace: 'n', uid: 'u', resourceVersion: version },
      type: 'Opaque',
      data,
    });
    const end = {
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: '12', annotations: { 'k8s.io/initial-events-end': 'true' } } },
    };
    await fc.assert(
      fc.asyncProperty(jsonChanges, cut, async (changes, at) => {
        const bad = line(changed({ type: 'ADDED', object: good('1', { __proto__x: 'YQ==' }) }, changes));
        const rest = [line({ type: 'ADDED', object: good('12', { a: 'Yg==' }) }), line(end)];
        const stream = Buffer.concat([bad, ...rest]);
        const object = new WatchedObject({
          api: scripted([new ApiStatusError(404, 'NotFound', 'none')], [pieces(stream, at), [Buffer.concat(rest)]]),
          ref: { kind, namespace: 'n', name: 'x' },
          log,
          steady: () => 0,
          getTimeoutMs: 2_000,
          onChange: () => undefined,
        });
        const has = async (): Promise<boolean> => Object.hasOwn((await object.get())?.data ?? {}, 'a');
        for (let i = 0; i < 200 && !(await has()); i++) await new Promise((done) => setTimeout(done, 2));
        object.stop();
        assert.deepEqual((await object.get())?.data, { a: kind === 'secret' ? 'b' : 'Yg==' });
      }),
      fuzz(40),
    );
  });
}

test('services: one of the wrong types costs no other', async () => {
  const service = (name: string) => ({
    metadata: { name, namespace: 'n', uid: name, resourceVersion: '1' },
    spec: { clusterIP: '10.0.0.1', ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
  });
  await fc.assert(
    fc.asyncProperty(jsonChanges, async (changes) => {
      const items = [changed(service('bad'), changes), service('good')];
      const services = new ServiceVariables({
        api: scripted([{ metadata: { resourceVersion: '1' }, items }], []),
        log,
      });
      services.start();
      const env = await services.env('n', true);
      services.stop();
      assert.ok(env.some(({ key, value }) => key === 'GOOD_SERVICE_HOST' && value === '10.0.0.1'));
      for (const { key, value } of env) assert.deepEqual([typeof key, typeof value], ['string', 'string']);
    }),
    fuzz(200),
  );
});

test('answers that are no success become a status error, whatever their body is', () => {
  fc.assert(
    fc.property(nasty, jsonChanges, (value, changes) => {
      const status = { kind: 'Status', code: 429, reason: 'x', message: 'm', details: { retryAfterSeconds: 1 } };
      for (const body of [JSON.stringify(value) ?? '', JSON.stringify(changed(status, changes)) ?? '']) {
        const error = answerError(429, body, undefined);
        assert.ok(typeof error.reason === 'string' && typeof error.message === 'string');
        // 1e21 s became a wait of 1 ms: the server was asked in a tight loop.
        assert.ok(error.retryAfterSeconds >= 0 && error.retryAfterSeconds <= 3600);
      }
    }),
    fuzz(500),
  );
});

test('a list whose chunks never end is given up', async () => {
  const body = { metadata: { continue: 'again' }, items: [apiPod('a', '1')] };
  const on = { group: '', version: 'v1', resource: 'pods' };
  await assert.rejects(listNewest(scripted([body], []), { method: 'GET', on }), /the same chunk again and again/);
});

test('a line of a watch that never ends is given up', async () => {
  const chunk = Buffer.alloc(1 << 20, 'a');
  const endless = (async function* () {
    for (;;) yield await Promise.resolve(chunk);
  })();
  await assert.rejects(async () => {
    for await (const value of jsonLines(endless)) assert.fail(String(value));
  }, NotJson);
});
