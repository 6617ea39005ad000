import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call } from '../../../actors/inspect/inspector/node-overview/slow-calls.ts';
import { keepSlow, KEPT_CALLS } from '../../../actors/inspect/inspector/node-overview/slow-calls.ts';

const call = (uid: string, ms: number, type = 'cri.StartContainer', at = 0): Call => ({
  ...{ uid, type, key: '', asked: 0, answered: 1, at, ms, failed: false },
});

test('the longest calls are kept, longest first, in whatever order they come', () => {
  const all = Array.from({ length: 100 }, (_, i) => call(`pod-${String(i)}`, (i * 37) % 100));
  const list: Call[] = [];
  for (const one of all) keepSlow(list, one);
  assert.deepEqual(
    list.map(({ ms }) => ms),
    Array.from({ length: KEPT_CALLS }, (_, i) => 99 - i),
  );
});

test('one pod whose probe always takes long does not push the others out: of the same call the longest is kept', () => {
  const list: Call[] = [call('web', 30), call('db', 20)];
  for (let i = 0; i < 50; i++) keepSlow(list, call('slow', 1_000 + (i % 7), 'cri.ExecSync', i));
  keepSlow(list, call('slow', 5, 'cri.StopContainer'));
  assert.deepEqual(
    list.map(({ uid, type, ms, at }) => [uid, type, ms, at]),
    [
      ['slow', 'cri.ExecSync', 1_006, 6],
      ['web', 'cri.StartContainer', 30, 0],
      ['db', 'cri.StartContainer', 20, 0],
      ['slow', 'cri.StopContainer', 5, 0],
    ],
  );
});
