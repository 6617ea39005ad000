import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mutations } from './list.ts';

const root = join(import.meta.dirname, '../../..');
const start = join(root, 'test/simulation/run/start.ts');

/** Runs seeds with a rule broken until one fails. */
function simulate(mutation: string, seed: number): Promise<{ code: number; output: string }> {
  const args = [start, '--seed', String(seed), '--seeds', '60', '--stop', '--no-shrink', '--no-keep'];
  const env = { ...process.env, ACTORLET_MUTATION: mutation };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, timeout: 240_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
  });
}

test('each mutation is a change of a text that stands once in its file', () => {
  for (const { name, file, from, to } of mutations) {
    assert.equal(readFileSync(join(root, file), 'utf8').split(from).length, 2, name);
    assert.notEqual(from, to, name);
  }
  assert.equal(new Set(mutations.map(({ name }) => name)).size, mutations.length);
});

for (const { name, breaks, seed } of mutations) {
  test(`the simulation finds that ${breaks}`, async () => {
    const { code, output } = await simulate(name, seed);
    assert.equal(code, 1, output);
    assert.match(output, /^seed \d+: /m);
  });
}
