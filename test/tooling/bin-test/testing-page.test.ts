import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const checkout = join(import.meta.dirname, '..', '..', '..');
const read = (path: string): string => readFileSync(join(checkout, path), 'utf8');
const page = read('docs/testing.md');

/** The layers that bin/test knows. */
function layers(): string[] {
  const [, names = ''] = /^ALL_LAYERS="(.*)"$/m.exec(read('bin/test')) ?? [];
  return ['static', ...names.split(' ')];
}

test('docs/testing.md has a row for each layer of bin/test, and none for another', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` +\|(.*)\|$/gm)];
  assert.deepEqual(rows.map(([, name]) => name).toSorted(), layers().toSorted());
  for (const [row, , cells = ''] of rows) {
    const [proves = '', took = '', needs = ''] = cells.split(' | ').map((cell) => cell.trim());
    assert.ok(proves !== '' && needs !== '', row);
    assert.match(took, /\d+ s/, row);
  }
});

test('what the page names is there, and the README leads to it', () => {
  const named = [...page.matchAll(/(?:^|[\s`(])((?:test|bin|docs)\/[\w./-]+\w|[\w-]+\.md)/gm)].map(
    ([, path = '']) => path,
  );
  assert.ok(named.length > 10, named.join());
  for (const path of named)
    assert.ok(
      [path, join('docs', path)].some((at) => existsSync(join(checkout, at))),
      path,
    );
  const variables = new Set([...page.matchAll(/\bACTORLET_\w+/g)].map(([name]) => name));
  const readers = [
    'bin/test',
    'test/tools/quick-checks.sh',
    'test/simulation/simulation.test.ts',
    'test/simulation/run/start.ts',
  ]
    .concat('test/pure/fuzz/support/runs.ts')
    .filter((path) => existsSync(join(checkout, path)))
    .map(read)
    .join('\n');
  for (const name of variables) assert.ok(readers.includes(name), name);
  assert.match(read('README.md'), /\]\(docs\/testing\.md\)/);
});
