import assert from 'node:assert/strict';
import { it } from 'node:test';
import { afterShutdown } from '../../../machines/pod/after-shutdown.ts';
import type { PodStatus } from '../../../machines/protocol/api-types.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import { mergePodStatus } from '../../../machines/status/merge-pod-status.ts';

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

it('its mirror pod leaves the phase Failed; that of another failed pod does not', () => {
  const own: PodStatus = { phase: 'Running', conditions: [] };
  const told = (reason: string, isStatic: boolean) =>
    mergePodStatus({
      ...{ pod: { spec: { containers: [] } }, own, isStatic, at: 0, couldHaveRunningContainers: true },
      api: { phase: 'Failed', reason, message: 'why' },
    }).status;
  for (const reason of ['Terminated', 'NodeShutdown']) {
    const { phase, reason: why, message } = told(reason, true);
    assert.deepEqual([phase, why, message], ['Running', undefined, undefined]);
    assert.equal(told(reason, false).phase, 'Failed');
  }
  assert.equal(told('DeadlineExceeded', true).phase, 'Failed');
});
