import assert from 'node:assert/strict';
import { test } from 'node:test';
import { main } from './run/main.ts';

test('numbers that make no run are refused, with what is accepted', async (t) => {
  const told: string[] = [];
  t.mock.method(process.stderr, 'write', (text: string) => told.push(text) > 0);
  const codes = [];
  for (const args of [
    ['--hours', '0.3'],
    ['--hours', 'x'],
    ['--seeds', '0'],
    ['--seed', '1e3'],
  ])
    codes.push(await main(args));
  assert.deepEqual(codes, [2, 2, 2, 2]);
  assert.deepEqual(told, [
    'simulate: --hours must be a number of at least 1, not "0.3"; see bin/simulate --help\n',
    'simulate: --hours must be a number of at least 1, not "x"; see bin/simulate --help\n',
    'simulate: --seeds must be a whole number of at least 1, not "0"; see bin/simulate --help\n',
    'simulate: --seed must be a whole number, not "1e3"; see bin/simulate --help\n',
  ]);
});
