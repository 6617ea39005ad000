import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { AllocationFile } from '../../../actors/resources/admission/allocation-file.ts';
import type { AllocationEntries } from '../../../machines/resize/checkpoint.ts';

test('a checkpoint that cannot be written is told once, tried again by itself, and written when it can be', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'allocation-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const dir = join(root, 'missing');
  let entries: AllocationEntries = {};
  const file = new AllocationFile(join(dir, 'state'), log, () => entries);
  for (const uid of ['a', 'b', 'c']) {
    entries = { ...entries, [uid]: { ContainerResources: {}, PodLevelResources: null } };
    file.now();
  }
  t.mock.timers.tick(10_000);
  assert.equal(lines.length, 1, lines.join(''));
  assert.match(lines[0] ?? '', /NOD006.*every ten seconds/);
  mkdirSync(dir);
  t.mock.timers.tick(9_000);
  assert.equal(lines.length, 1);
  t.mock.timers.tick(2_000);
  assert.match(lines[1] ?? '', /Checkpoint is written again/);
  assert.match(readFileSync(join(dir, 'state'), 'utf8'), /\\"c\\"|"c"/);
  file.close();
});
