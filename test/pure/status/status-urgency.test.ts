import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, PodStatus } from '../../../machines/protocol/api-types.ts';
import { statusUrgency } from '../../../machines/status/status-urgency.ts';

const container = (changes: Partial<ContainerStatus>): ContainerStatus => ({
  name: 'a',
  ready: false,
  restartCount: 0,
  image: 'i',
  imageID: '',
  state: { waiting: { reason: 'ContainerCreating' } },
  ...changes,
});
const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const rows: [string, PodStatus, string, 'now' | 'mayWait'][] = [
  [
    'containers being created',
    { phase: 'Pending', containerStatuses: [container({})] },
    'syncing.pullingImage',
    'mayWait',
  ],
  [
    'pod initializing',
    { phase: 'Pending', containerStatuses: [container({ state: { waiting: { reason: 'PodInitializing' } } })] },
    'syncing.initializing',
    'mayWait',
  ],
  [
    'one runs',
    { phase: 'Pending', containerStatuses: [container({}), container({ state: running })] },
    'syncing.startingContainers',
    'now',
  ],
  [
    'an init container runs',
    { phase: 'Pending', initContainerStatuses: [container({ state: running })], containerStatuses: [container({})] },
    'syncing.initializing',
    'now',
  ],
  [
    'a failure',
    { phase: 'Pending', containerStatuses: [container({ state: { waiting: { reason: 'ErrImagePull' } } })] },
    'syncing.imageBackOff',
    'now',
  ],
  [
    'it ran before',
    { phase: 'Pending', containerStatuses: [container({ restartCount: 1 })] },
    'syncing.creatingSandbox',
    'now',
  ],
  ['rejected', { phase: 'Failed', reason: 'NodeAffinity' }, 'terminated.cleaningUp', 'now'],
  ['a reason', { phase: 'Pending', reason: 'R' }, 'syncing.creatingSandbox', 'now'],
  ['running', { phase: 'Running', containerStatuses: [container({ state: running })] }, 'syncing.running', 'now'],
  [
    'one of two ends',
    { phase: 'Running', containerStatuses: [container({ state: running })] },
    'terminating.stoppingContainers',
    'now',
  ],
  [
    'all have ended',
    { phase: 'Running', containerStatuses: [container({ state: { terminated: { exitCode: 0 } } })] },
    'terminating.stoppingSandbox',
    'mayWait',
  ],
  [
    'all have ended, and the phase says so already',
    { phase: 'Succeeded', containerStatuses: [container({ state: { terminated: { exitCode: 0 } } })] },
    'terminating.stoppingSandbox',
    'now',
  ],
  ['over', { phase: 'Succeeded' }, 'terminated.cleaningUp', 'now'],
];
for (const [name, status, state, urgency] of rows) {
  test(`statusUrgency: ${name}: ${urgency}`, () => assert.equal(statusUrgency(status, state), urgency));
}
