import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../../../', import.meta.url);
const PAGE = new URL('docs/simulated-nodes.md', ROOT);

/** Cells of the rows of the table under "What the others cannot do". */
function rows(): string[][] {
  const [, after = ''] = readFileSync(PAGE, 'utf8').split('## What the others cannot do\n');
  const [section = ''] = after.split('\n## ');
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  // The first two are the head and the line below it.
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Whether this file has a test of that title, as the source has it. */
function hasTest(path: string, title: string): boolean {
  const file = new URL(path, ROOT);
  if (!existsSync(file)) return false;
  const source = readFileSync(file, 'utf8');
  return ["'", '`', '"'].some((quote) => source.includes(`test(${quote}${title}${quote},`));
}

test('each row of the table of simulated nodes names tests, and all of them are there', () => {
  const all = rows();
  assert.ok(all.length >= 15, `${all.length} rows`);
  for (const cells of all) {
    const [capability = '', , , , proof = ''] = cells;
    assert.equal(cells.length, 5, capability);
    const named = proof.split('<br>').map((text) => /^`(test\/[\w./-]+\.test\.ts)`: "(.+)"$/.exec(text));
    for (const each of named) {
      assert.ok(each !== null, `${capability}: not a path and a title: ${proof}`);
      const [, path = '', title = ''] = each;
      assert.ok(hasTest(path, title), `${capability}: ${path} has no test "${title}"`);
    }
  }
});
