import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiStatusError } from '../../../actors/cluster/api/api-client.ts';
import { WatchBackOff } from '../../../actors/cluster/api/watch-back-off.ts';
import { jsonLines } from '../../../actors/cluster/api/json-lines.ts';
import { requestPath } from '../../../actors/cluster/api/request-head.ts';
import { TokenBucket } from '../../../actors/runtime/flow-control/token-bucket.ts';

const general = new ApiStatusError(500, 'InternalError', '');
const forbidden = new ApiStatusError(403, 'Forbidden', '');
const unreachable = new ApiStatusError(0, 'Unreachable', '');
const middle = () => 0.5;

test('waits double, by kind, up to a limit, and start anew after a reset', () => {
  const backOff = new WatchBackOff(undefined, middle);
  const next = (error: ApiStatusError | undefined, times: number) =>
    Array.from({ length: times }, () => backOff.next(error));
  assert.deepEqual(next(general, 7), [800, 1600, 3200, 6400, 12800, 25600, 30000]);
  assert.deepEqual(next(forbidden, 3), [50, 100, 200]);
  assert.deepEqual(next(unreachable, 7), [200, 400, 800, 1600, 3200, 5000, 5000]);
  backOff.reset();
  assert.deepEqual(next(undefined, 2), [800, 1600]);
  assert.equal(backOff.next(new ApiStatusError(429, 'TooManyRequests', '', 60)), 60_000);
});

test('property: a wait is spread by half around its middle and never above the limit', () => {
  fc.assert(
    fc.property(fc.nat(200), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (failures, random) => {
      const backOff = new WatchBackOff(undefined, () => random);
      for (let i = 0; i < failures; i++) backOff.next(unreachable);
      const ms = backOff.next(unreachable);
      const plain = Math.min(5000, 200 * 2 ** failures);
      assert.ok(ms >= plain * 0.5 && ms <= Math.min(5000, plain * 1.5));
    }),
  );
});

test('property: turns come in order, never more than the burst and the rate allow', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.nat(300), { minLength: 1, maxLength: 100 }),
      (qps, burst, gaps) => {
        let now = 0;
        const turns = new TokenBucket(qps, burst, () => now);
        const at = gaps.map((gap) => (now += gap) + turns.take());
        for (const [i, from] of at.entries()) {
          if (i > 0) assert.ok(from >= (at[i - 1] ?? 0) - 1e-6);
          for (let j = i; j < at.length; j++) {
            assert.ok(j - i + 1 <= burst + (((at[j] ?? 0) - from) / 1000) * qps + 1 + 1e-6);
          }
        }
      },
    ),
  );
});

test('property: JSON lines are the same however the bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.json()), fc.array(fc.nat(30)), fc.boolean(), async (texts, cuts, ended) => {
      const all = Buffer.from(texts.join('\n') + (ended ? '\n' : ''));
      const chunks: Buffer[] = [];
      let from = 0;
      for (const cut of cuts) chunks.push(all.subarray(from, (from += cut)));
      chunks.push(all.subarray(from));
      const got: unknown[] = [];
      for await (const value of jsonLines(streamOf(chunks))) got.push(value);
      assert.deepEqual(
        got,
        texts.map((text) => JSON.parse(text) as unknown),
      );
    }),
  );
});

async function* streamOf(chunks: Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

test('paths of requests', () => {
  const pods = { group: '', version: 'v1', resource: 'pods' };
  const path = (request: object) => requestPath('/base', { method: 'GET', on: pods, ...request });
  assert.equal(path({}), '/base/api/v1/pods');
  assert.equal(
    path({ on: { ...pods, namespace: 'a b' }, name: 'x/y', subresource: 'status', query: { fieldSelector: 'a=b' } }),
    '/base/api/v1/namespaces/a%20b/pods/x%2Fy/status?fieldSelector=a%3Db',
  );
  assert.equal(
    path({ on: { group: 'coordination.k8s.io', version: 'v1', resource: 'leases', namespace: 'n' }, name: 'l' }),
    '/base/apis/coordination.k8s.io/v1/namespaces/n/leases/l',
  );
});
