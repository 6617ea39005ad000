import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenCache } from '../../../actors/serve/authn/token-cache.ts';
import type { UserInfo } from '../../../actors/serve/authn/user-info.ts';

const alice: UserInfo = { name: 'alice', uid: '1', groups: [], extra: {} };

function setUp(limit?: number) {
  const clock = { now: 0 };
  const asked: string[] = [];
  const answers: { user: UserInfo | null | Error } = { user: alice };
  const seen: string[] = [];
  const cache = new TokenCache({
    ...{ qps: 0, burst: 0 },
    review: async (token) => {
      asked.push(token);
      await Promise.resolve();
      if (answers.user instanceof Error) throw answers.user;
      return answers.user;
    },
    ttlMs: 100,
    steady: () => clock.now,
    observer: {
      onTokenCacheRequest: (status) => seen.push(status),
      onTokenCacheFetch: (status) => seen.push(`fetch ${status}`),
      onTokenCacheActive: (status, delta) => seen.push(`${status} ${String(delta)}`),
    },
    limit,
  });
  return { cache, clock, asked, answers, seen };
}

test('known and unknown tokens are remembered for the TTL', async () => {
  const { cache, clock, asked, answers } = setUp();
  assert.equal(await cache.authenticate('t'), alice);
  answers.user = null;
  assert.equal(await cache.authenticate('t'), alice);
  assert.equal(await cache.authenticate('bad'), null);
  assert.equal(await cache.authenticate('bad'), null);
  assert.deepEqual(asked, ['t', 'bad']);
  clock.now = 100;
  assert.equal(await cache.authenticate('t'), null);
  answers.user = alice;
  assert.equal(await cache.authenticate('bad'), alice);
  assert.deepEqual(asked, ['t', 'bad', 't', 'bad']);
});

test('failures are not remembered', async () => {
  const { cache, asked, answers, seen } = setUp();
  answers.user = new Error('no server');
  await assert.rejects(cache.authenticate('t'), /no server/);
  answers.user = alice;
  assert.equal(await cache.authenticate('t'), alice);
  assert.equal(asked.length, 2);
  const one = (fetch: string): string[] => ['blocked 1', 'in_flight 1', fetch, 'in_flight -1', 'blocked -1', 'miss'];
  assert.deepEqual(seen, [...one('fetch error'), ...one('fetch ok')]);
});

test('requests with the same token at the same time ask once', async () => {
  const { cache, asked } = setUp();
  const users = await Promise.all([cache.authenticate('t'), cache.authenticate('t'), cache.authenticate('u')]);
  assert.deepEqual(users, [alice, alice, alice]);
  assert.deepEqual(asked, ['t', 'u']);
});

test('the number of answers is bounded, and no token is kept', async () => {
  const { cache, asked } = setUp(3);
  for (let i = 0; i < 50; i++) await cache.authenticate(`secret-${String(i)}`);
  assert.equal(asked.length, 50);
  await cache.authenticate('secret-49');
  assert.equal(asked.length, 50);
  await cache.authenticate('secret-0');
  assert.equal(asked.length, 51);
  const kept = Reflect.get(cache, 'known') as { entries: Map<string, unknown> };
  assert.equal(kept.entries.size, 3);
  assert.ok([...kept.entries.keys()].every((key) => !key.includes('secret') && key.length === 44));
});
