import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import { withoutCreated } from '../../../machines/status/created-containers.ts';

const container = (state: ContainerStatus['state'], restartCount = 0): ContainerStatus => ({
  ...{ name: 'c', image: '', imageID: '', ready: false },
  ...{ restartCount, state },
});
const pod = (init: boolean): Pod => ({
  spec: { containers: [{ name: 'c' }], ...(init && { initContainers: [{ name: 'i' }] }) },
});
const of = (...containerStatuses: ContainerStatus[]): PodStatus => ({ phase: 'Running', containerStatuses });

test('a new container that is created waits for the reason that it had before it was created', () => {
  const init: PodStatus = { phase: 'Pending', initContainerStatuses: [container({ waiting: {} })] };
  for (const [status, list, reason] of [
    [init, 'initContainerStatuses', 'PodInitializing'],
    [of(container({ waiting: {} })), 'containerStatuses', 'ContainerCreating'],
  ] as const) {
    const shown = withoutCreated(status, {}, pod(list === 'initContainerStatuses'));
    assert.equal(shown[list]?.[0]?.state?.waiting?.reason, reason);
  }
});

test('restartCount goes up when the container runs again, not when it is created again', () => {
  const backOff = container({ waiting: { reason: 'CrashLoopBackOff' } }, 8);
  const ended = container({ terminated: { exitCode: 1 } }, 8);
  for (const before of [backOff, ended]) {
    const created = of(container({ waiting: {} }, 9));
    assert.deepEqual(withoutCreated(created, of(before), pod(false)), of(before));
  }
  const runs = of(container({ running: {} }, 9));
  assert.equal(withoutCreated(runs, of(backOff), pod(false)), runs);
});

test('an end that the API was never told of is not kept from it', () => {
  const created = of(container({ waiting: {} }, 9));
  const shown = withoutCreated(created, of(container({ running: {} }, 8)), pod(false));
  assert.deepEqual(shown, of(container({ waiting: { reason: 'ContainerCreating' } }, 9)));
});
