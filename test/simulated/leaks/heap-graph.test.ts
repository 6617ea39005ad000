import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeHeapSnapshot } from 'node:v8';
import { HeapGraph } from './support/heap-graph.ts';

class Holder {
  [field: string]: unknown;
}

test('what an allowed field holds is no leak, wherever V8 keeps the field', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'heap-graph-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const holder = new Holder();
  // So many that the last ones do not stand in the object itself.
  for (let i = 0; i < 40; i++) holder[`field${i}`] = { number: i };
  const text = (which: string) => ['text', 'of', which, process.pid].join('-');
  holder['allowed'] = { text: text('allowed') };
  holder['leaking'] = { text: text('leaking') };
  const path = writeHeapSnapshot(join(dir, 'a.heapsnapshot'));
  const found = new HeapGraph(path, [{ of: 'Holder', edge: 'allowed' }]).texts(/^text-of-(allowed|leaking)-\d/);
  assert.deepEqual(
    found.map(({ text: held }) => held),
    [text('leaking')],
  );
  assert.match(found[0]?.way ?? '', /Holder\.leaking > Object\.text$/);
  assert.equal(Object.keys(holder).length, 42);
});
