import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quietPleg } from './quiet-pleg.ts';

test('before the first list succeeded the runtime may hold something of any pod', async (t) => {
  let down = true;
  const list = (answer: object) => () => (down ? Promise.reject(new Error('down')) : Promise.resolve(answer));
  const pleg = quietPleg(t, { listPodSandbox: list({ items: [] }), listContainers: list({ containers: [] }) });
  await pleg.relist();
  assert.equal(pleg.holds('some-pod'), true, 'nobody could look yet');
  down = false;
  await pleg.relist();
  assert.equal(pleg.holds('some-pod'), false);
});
