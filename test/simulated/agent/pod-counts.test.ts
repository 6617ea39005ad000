import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quickRows, rowText } from '../../bench/quick.ts';

// `bin/bench --quick` prints the rows.
test('the life of a pod and the start of a thread take no more than they are known to', async () => {
  const rows = await quickRows(20);
  const worse = rows.filter(({ now, most }) => now > most);
  assert.equal(worse.length, 0, `more than a fifth above what is known:\n${worse.map(rowText).join('\n')}`);
});
