import assert from 'node:assert/strict';
import { it } from 'node:test';
import { afterShutdown } from '../../../machines/pod/after-shutdown.ts';
import { judgedAnew } from '../../../machines/pod/judged-anew.ts';
import type { PodStatus } from '../../../machines/protocol/api-types.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import { mergePodStatus } from '../../../machines/status/merge-pod-status.ts';

const RUNNING: PodStatus = { phase: 'Running', conditions: [] };

const memoryOf = (reason: string): PodMemory => ({
  ...{ containers: {}, probes: {}, messages: { a: 'b' }, startedAt: 5 },
  termination: { reason, message: '', since: 1, graceSeconds: 1, deletedFromSource: false, phase: 'Failed' },
});

it('a static pod that ended or was refused for a shutdown begins anew, and remembers the rest', () => {
  for (const reason of ['Terminated', 'NodeShutdown'])
    for (const source of ['file', 'http', undefined] as const)
      assert.deepEqual(afterShutdown(memoryOf(reason), source), { containers: {}, probes: {}, messages: { a: 'b' } });
});

it('a pod of the API stays failed, as does one that ended for another reason', () => {
  for (const source of ['api', 'orphan'] as const)
    assert.deepEqual(afterShutdown(memoryOf('Terminated'), source), memoryOf('Terminated'));
  for (const reason of ['Evicted', 'DeadlineExceeded', 'Removed'])
    assert.deepEqual(afterShutdown(memoryOf(reason), 'file'), memoryOf(reason));
  assert.equal(afterShutdown(null, 'file'), null);
});

it('a static pod that was refused is judged anew by the next agent; one that was ended is not, nor one of the API', () => {
  const refused: PodMemory = memoryOf('OutOfcpu');
  if (refused.termination) refused.termination.rejected = true;
  for (const source of ['file', 'http'] as const)
    assert.deepEqual(judgedAnew(refused, source), { containers: {}, probes: {}, messages: { a: 'b' } });
  for (const source of ['api', 'orphan'] as const) assert.deepEqual(judgedAnew(refused, source), refused);
  assert.deepEqual(judgedAnew(memoryOf('Evicted'), 'file'), memoryOf('Evicted'));
  assert.equal(judgedAnew(null, 'file'), null);
});

it('its mirror pod leaves the phase Failed; a pod of the API does not, nor the mirror of one that is still failed', () => {
  const told = (reason: string, isStatic: boolean, own: PodStatus = RUNNING, isSyncing = true) =>
    mergePodStatus({
      ...{ pod: { spec: { containers: [] } }, own, isStatic, isSyncing, at: 0, couldHaveRunningContainers: true },
      api: { phase: 'Failed', reason, message: 'why' },
    }).status;
  for (const reason of ['Terminated', 'NodeShutdown', 'OutOfcpu']) {
    const { phase, reason: why, message } = told(reason, true);
    assert.deepEqual([phase, why, message], ['Running', undefined, undefined]);
    assert.equal(told(reason, false).phase, 'Failed');
  }
  const still = told('DeadlineExceeded', true, { phase: 'Failed', reason: 'DeadlineExceeded', conditions: [] });
  assert.deepEqual([still.phase, still.reason], ['Failed', 'DeadlineExceeded']);
  assert.equal(told('OutOfcpu', true, RUNNING, false).phase, 'Failed', 'what ends may not know any more how it did');
});
