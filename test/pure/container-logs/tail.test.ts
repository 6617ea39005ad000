import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tailStart } from '../../../actors/serve/container-logs/read-logs.ts';

/** The last lines of a text; one without newline at its end comes on top. */
function lastLines(text: string, lines: number): string {
  const parts = text.split('\n');
  const rest = parts.pop() ?? '';
  return [...parts.slice(Math.max(0, parts.length - lines)).map((line) => `${line}\n`), rest].join('');
}

test('the last lines are found with blocks of any size, and with short reads', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 80 }),
      fc.nat({ max: 30 }),
      fc.integer({ min: 1, max: 90 }),
      fc.integer({ min: 1, max: 90 }),
      async (text, lines, blockSize, mostRead) => {
        const file = Buffer.from(text);
        const start = await tailStart(
          (buffer, length, position) =>
            Promise.resolve(file.copy(buffer, 0, position, position + Math.min(length, mostRead))),
          file.length,
          lines,
          blockSize,
        );
        assert.equal(text.slice(start), lastLines(text, lines));
      },
    ),
    { numRuns: 1000 },
  );
});

test('a file that became shorter while it is read ends the search', async () => {
  assert.equal(await tailStart(() => Promise.resolve(0), 1000, 5, 64), 0);
});
