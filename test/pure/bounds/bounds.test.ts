/** No text that a stranger can write holds a thread, or takes its memory: the table is in `places`. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { lookAt } from './support/look-at.ts';

const folder = new URL('./places/', import.meta.url);
for (const file of readdirSync(folder)) {
  test(`hostile texts: ${file}`, async () => {
    const { findings, places } = await lookAt(new URL(file, folder));
    assert.ok(places.length > 5);
    assert.deepEqual(findings, []);
  });
}
