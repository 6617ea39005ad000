import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inBundle } from '../../../actors/record/logging/bundled-lines.ts';

test('a line of a bundled file is named by its module and the line there', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'lines-'));
  t.after(() => rmSync(root, { recursive: true }));
  const dir = join(root, 'bundled/chunks');
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'chunk-A.js');
  const modules = ['actors/node/node.js', 'machines/pod/draft.js'];
  const runs = [
    [10, 0, 3],
    [15, 0, 20],
    [30, 1, 1],
  ];
  writeFileSync(`${file}.lines.json`, JSON.stringify({ modules, runs }));
  const places = () => [9, 10, 12, 16, 33].map((line) => inBundle(pathToFileURL(file).href, line));
  const first = places();
  assert.deepEqual(first, [
    null,
    { file: 'actors/node/node.js', line: 3 },
    { file: 'actors/node/node.js', line: 5 },
    { file: 'actors/node/node.js', line: 21 },
    { file: 'machines/pod/draft.js', line: 4 },
  ]);
  assert.deepEqual(places(), first, 'what is remembered is the same');
  assert.equal(inBundle(join(dir, 'chunk-B.js'), 1), null, 'a file without a table');
  assert.equal(inBundle('/usr/lib/actorlet/dist/actors/node/node.js', 1), null, 'a file that is no bundle');
});
