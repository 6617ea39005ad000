import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { journalChunks } from '../../../actors/record/journal/journal-reader.ts';
import { until } from '../../tools/wait-for.ts';
import { folder } from './journal-fixture.ts';

/** How many files of this folder are open in this process. */
function openIn(dir: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(`${dir}/`);
    } catch {
      return false;
    }
  }).length;
}

test('a segment that is damaged, or not read to its end, does not stay open', async (t) => {
  const dir = folder(t);
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warned);
  t.after(() => process.off('warning', warned));
  // Lines that compression makes little of: several pieces have to be read.
  const text = Array.from({ length: 4_000 }, () => randomBytes(500).toString('hex')).join('\n');
  const zipped = gzipSync(text);
  const [plain, whole, damaged] = ['a.jsonl', 'b.jsonl.gz', 'c.jsonl.gz'].map((name) => join(dir, name));
  assert.ok(plain !== undefined && whole !== undefined && damaged !== undefined);
  writeFileSync(plain, text);
  writeFileSync(whole, zipped);
  zipped.fill(0xff, 0, 1_000);
  writeFileSync(damaged, zipped);
  const broken: string[] = [];
  for (const path of [plain, whole, damaged])
    for await (const { pieces } of journalChunks([path], ({ code }) => void broken.push(code))) {
      assert.ok(pieces.length > 0);
      break;
    }
  assert.deepEqual(broken, ['JRN001']);
  await until(() => openIn(dir) === 0, 'all of them to be closed');
  assert.deepEqual(warnings, [], 'nor is it left to the collection of garbage');
});
