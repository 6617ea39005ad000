import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patienceMs } from '../../../actors/pods/shard/worker-patience.ts';

test('a silent worker that computes is taken for one that loops, one that gets no processor is borne', () => {
  const quick = { loaded: true, loadCpuMs: 150 };
  assert.equal(patienceMs({ ...quick, quietCpuMs: 1_500 }), 3_000);
  assert.equal(patienceMs({ ...quick, quietCpuMs: 1_490 }), 60_000);
  assert.equal(patienceMs({ loaded: false, loadCpuMs: null, quietCpuMs: 9_000 }), 60_000, 'it loads its code');
  assert.equal(patienceMs({ loaded: true, loadCpuMs: null, quietCpuMs: null }), 3_000, 'no /proc');
});

test('on a slow machine, where loading its code took seconds, a worker may compute that much longer', () => {
  const emulated = { loaded: true, loadCpuMs: 4_000 };
  assert.equal(patienceMs({ ...emulated, quietCpuMs: 4_203 }), 60_000);
  assert.equal(patienceMs({ ...emulated, quietCpuMs: 16_000 }), 3_000);
});
