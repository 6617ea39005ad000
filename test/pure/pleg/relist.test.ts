import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Pleg } from '../../../actors/runtime/pleg/pleg.ts';
import { quietPleg } from './quiet-pleg.ts';

/** PLEG of a runtime that holds nothing; `lists` gives the answer to each list of containers. */
function plegOver(t: TestContext, lists: () => Promise<unknown>): Pleg {
  return quietPleg(t, { listPodSandbox: () => Promise.resolve({ items: [] }), listContainers: lists });
}

test('a relist makes no abort controller, whose abort makes an error: an idle node does little else', async (t) => {
  const pleg = plegOver(t, () => Promise.resolve({ containers: [] }));
  const abort = t.mock.method(AbortController.prototype, 'abort');
  for (let i = 0; i < 3; i++) await pleg.relist();
  assert.equal(abort.mock.callCount(), 0);
});

test('a relist that hangs is waited for ten seconds, and the next one is not held up by it', async (t) => {
  let asked = 0;
  const pleg = plegOver(t, () => (++asked === 1 ? new Promise(() => undefined) : Promise.resolve({ containers: [] })));
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const hanging = pleg.relist();
  const shared = pleg.relist();
  assert.equal(hanging, shared);
  mock.timers.tick(9_999);
  await Promise.resolve();
  assert.equal(asked, 1);
  mock.timers.tick(1);
  await hanging;
  // The one that was asked for meanwhile.
  assert.equal(asked, 2);
  await pleg.relist();
  assert.equal(pleg.holds('some-pod'), false);
});
