import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pinnedPlans } from '../run/saved-plan.ts';
import { brokenSource } from './broken-source.ts';
import { mutations } from './list.ts';
import type { Mutation } from './mutation.ts';

const root = join(import.meta.dirname, '../../..');
const start = join(root, 'test/simulation/run/start.ts');

/** Simulates with a rule broken until a seed fails. */
function simulate(mutation: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const env = { ...process.env, ACTORLET_MUTATION: mutation };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [start, '--stop', '--no-shrink', '--no-keep', ...args],
      { env, timeout: 300_000 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
    );
  });
}

test('each mutation changes one place of the agent, wherever it lives', () => {
  for (const mutation of mutations) {
    const { file, source } = brokenSource(mutation);
    assert.notEqual(source, readFileSync(join(root, file), 'utf8'), mutation.name);
    assert.ok(source.includes(mutation.to), mutation.name);
  }
  assert.equal(new Set(mutations.map(({ name }) => name)).size, mutations.length);
  const pinned = new Set([...pinnedPlans().values()].flatMap(({ mutation }) => mutation ?? []));
  for (const { name, seed } of mutations) assert.ok(seed !== undefined || pinned.has(name), `nothing finds ${name}`);
});

test('a mutation is found however its place is laid out, and says what it cannot find', () => {
  const [mutation] = mutations.filter(({ name }) => name === 'late-last-report');
  assert.ok(mutation !== undefined);
  const { file, source } = brokenSource(mutation);
  const reformed = (from: string): Mutation => ({ ...mutation, from });
  const otherwise = mutation.from
    .replace(' for', ' /* another comment */ for')
    .replaceAll(/\s+/g, '\n   ')
    .replaceAll("'", '"')
    .replaceAll(/(\w)\)/g, '$1,)');
  assert.notEqual(otherwise, mutation.from);
  assert.deepEqual(brokenSource(reformed(otherwise)), { file, source });
  assert.throws(
    () => brokenSource(reformed('carryOut(pod, order)')),
    /^Error: mutation late-last-report: in \w+ \(.*\) `carryOut.*` is not there$/,
  );
  assert.throws(() => brokenSource(reformed('carryOut')), /`carryOut` is there \d+ times$/);
  assert.throws(
    () => brokenSource({ ...mutation, within: 'noSuchRule' }),
    /^Error: mutation late-last-report: nothing is called noSuchRule in machines or actors$/,
  );
});

// On a slow machine all of them take longer than one test may; each run has a limit of its own.
test('the simulation finds each broken rule', { concurrency: 2, timeout: 3_600_000 }, async (t) => {
  const found = mutations.flatMap(({ name, breaks, seed, plugins, claims }) =>
    seed === undefined
      ? []
      : t.test(breaks, async () => {
          const { code, output } = await simulate(
            name,
            '--seed',
            String(seed),
            '--seeds',
            '60',
            ...(plugins === true ? ['--plugins'] : []),
            ...(claims === true ? ['--claims'] : []),
          );
          assert.equal(code, 1, output);
          assert.match(output, /^seed \d+: /m);
        }),
  );
  const pinned = [...pinnedPlans()].flatMap(([plan, { mutation, file }]) =>
    [mutation ?? []].flat().map((name) =>
      t.test(`the pinned plan ${plan} finds ${name}`, async () => {
        const { code, output } = await simulate(name, '--plan', file);
        assert.equal(code, 1, output);
        assert.match(output, /^seed \d+: /m);
      }),
    ),
  );
  await Promise.all([...found, ...pinned]);
});
