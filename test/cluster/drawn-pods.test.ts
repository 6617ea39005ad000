import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare } from '../beside-kubelet/compare.ts';
import { defects, report } from '../beside-kubelet/report.ts';
import { runBeside } from '../beside-kubelet/run.ts';

test('drawn pods are the same to the runtime and in words as with the reference kubelet', async () => {
  const both = await runBeside({ seed: 32, pods: 30, lasts: 25_000, faults: true, actions: false, restart: false });
  assert.ok(both.pods.length >= 20, `too few pods: ${both.refused.join('\n')}`);
  const differences = compare(both);
  assert.deepEqual(defects(differences), [], report(differences, false));
});
