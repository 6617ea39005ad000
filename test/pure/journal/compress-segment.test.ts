import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compressSegment } from '../../../actors/record/journal/compress-segment.ts';
import { folder } from './journal-fixture.ts';

test('of a segment that the bound has taken meanwhile nothing is left; another one has its gzip form', async (t) => {
  const dir = folder(t);
  await assert.rejects(compressSegment(join(dir, 'a.jsonl')), { code: 'ENOENT' });
  assert.deepEqual(readdirSync(dir), []);
  writeFileSync(join(dir, 'b.jsonl'), 'x');
  await compressSegment(join(dir, 'b.jsonl'));
  assert.deepEqual(readdirSync(dir), ['b.jsonl.gz']);
});
