import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import { withWaitingReasons } from '../../../machines/status/waiting-reason.ts';

const container = (state: ContainerStatus['state']): ContainerStatus => ({
  ...{ name: 'c', image: '', imageID: '', ready: false, restartCount: 0 },
  state,
});
const pod = (init: boolean): Pod => ({
  spec: { containers: [{ name: 'c' }], ...(init && { initContainers: [{ name: 'i' }] }) },
});

test('a container that is created and not started waits for the reason that it had before it was created', () => {
  const status: PodStatus = {
    phase: 'Pending',
    initContainerStatuses: [container({ terminated: { exitCode: 0 } }), container({ waiting: {} })],
    containerStatuses: [container({ waiting: { reason: 'ImagePullBackOff' } })],
  };
  assert.deepEqual(withWaitingReasons(status, pod(true)), {
    ...status,
    initContainerStatuses: [
      container({ terminated: { exitCode: 0 } }),
      container({ waiting: { reason: 'PodInitializing' } }),
    ],
  });
  const lone: PodStatus = { phase: 'Pending', containerStatuses: [container({ waiting: {} })] };
  assert.equal(
    withWaitingReasons(lone, pod(false)).containerStatuses?.[0]?.state?.waiting?.reason,
    'ContainerCreating',
  );
});

test('a status in which nothing waits without a reason is passed on as it is', () => {
  const status: PodStatus = { phase: 'Running', containerStatuses: [container({ running: {} })] };
  assert.equal(withWaitingReasons(status, pod(false)), status);
});
