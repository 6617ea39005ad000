import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExpiringCache } from '../../../actors/serve/authn/expiring-cache.ts';

test('an entry lives for its time, and not at all with none', () => {
  let now = 1000;
  const cache = new ExpiringCache<string>(10, () => now);
  cache.set('a', 'A', 50);
  cache.set('b', 'B', 0);
  now = 1049;
  assert.equal(cache.get('a'), 'A');
  assert.equal(cache.get('b'), undefined);
  now = 1050;
  assert.equal(cache.get('a'), undefined);
  assert.equal(cache.size, 0);
});

test('over the limit the entry goes that was used longest ago', () => {
  const cache = new ExpiringCache<number>(2, () => 0);
  cache.set('a', 1, 10);
  cache.set('b', 2, 10);
  assert.equal(cache.get('a'), 1);
  cache.set('c', 3, 10);
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [1, undefined, 3]);
  for (let i = 0; i < 100; i++) cache.set(`x${String(i)}`, i, 10);
  assert.equal(cache.size, 2);
});
