/** That the measuring finds what it is there for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookAt } from './support/look-at.ts';

test('planted faults are found, and what is linear is not', async () => {
  const { findings, places } = await lookAt(new URL('./support/planted.ts', import.meta.url));
  const of = (place: string) => findings.filter((finding) => finding.place === place);
  assert.deepEqual(of('linear'), []);
  assert.ok(of('quadratic expression').some(({ shape, ms }) => shape.startsWith('"x", then " "') && ms > 250));
  assert.ok(
    of('exponential expression').some(({ size }) => size <= 64),
    'before it takes hours',
  );
  assert.ok(of('quadratic search').some(({ shape }) => shape.startsWith('"$("')));
  assert.ok(of('deep recursion').some(({ error }) => error?.includes('call stack')));
  assert.ok(of('memory').some(({ error }) => error?.includes('memory')));
  assert.equal(places.at(-1), 'memory');
});
