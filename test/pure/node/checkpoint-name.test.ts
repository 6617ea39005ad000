import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkpointName, isInt64 } from '../../../actors/serve/server/checkpoint-name.ts';

test('the file of a checkpoint has the time of the machine with its offset', (t) => {
  const before = process.env['TZ'];
  t.after(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });
  const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  const name = (zone: string) => {
    process.env['TZ'] = zone;
    return checkpointName('ns', 'pod', 'main', at);
  };
  assert.equal(name('UTC'), 'checkpoint-pod_ns-main-2026-01-02T03:04:05Z.tar');
  assert.equal(name('Asia/Kolkata'), 'checkpoint-pod_ns-main-2026-01-02T08:34:05+05:30.tar');
  assert.equal(name('America/St_Johns'), 'checkpoint-pod_ns-main-2026-01-01T23:34:05-03:30.tar');
});

test('a timeout is a whole number of 64 bits, as Go reads it', () => {
  for (const text of ['0', '+5', '-7', '007', '9223372036854775807', '-9223372036854775808'])
    assert.equal(isInt64(text), true, text);
  for (const text of ['', '+', '1.0', '1e3', ' 1', '9223372036854775808', '99999999999999999999', '0x1'])
    assert.equal(isInt64(text), false, text);
});
