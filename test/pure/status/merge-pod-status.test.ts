import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '../../../machines/protocol/api-types.ts';
import { mergePodStatus, needsReconcile } from '../../../machines/status/merge-pod-status.ts';
import type { MergeInput } from '../../../machines/status/merge-pod-status.ts';
import { guardTerminal } from '../../../machines/status/terminal-guard.ts';

const AT = Date.parse('2026-01-01T00:00:00Z');
const BEFORE = '2025-12-31T00:00:00Z';

const pod = (restartPolicy: string, more: Partial<NonNullable<Pod['spec']>> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { restartPolicy, containers: [{ name: 'a' }], ...more },
});
const merge = (changes: Partial<MergeInput>) =>
  mergePodStatus({
    pod: pod('Always'),
    api: {},
    own: {},
    couldHaveRunningContainers: false,
    isStatic: false,
    at: AT,
    ...changes,
  });
const condition = (type: string, status: string, more: Partial<PodCondition> = {}): PodCondition => ({
  type,
  status,
  lastTransitionTime: BEFORE,
  ...more,
});
const container = (name: string, state: ContainerStatus['state']): ContainerStatus => ({
  name,
  state,
  lastState: {},
  ready: false,
  restartCount: 0,
  image: 'i',
  imageID: '',
});
const running = { running: { startedAt: BEFORE } };
const ended = (exitCode: number) => ({ terminated: { exitCode } });

test('conditions of others stay, own ones are replaced, own ones that are gone are dropped', () => {
  const { status } = merge({
    api: {
      conditions: [
        condition('example.com/gate', 'True'),
        condition('Ready', 'False', { reason: 'NodeLost' }),
        condition('PodResizePending', 'True'),
      ],
    },
    own: { conditions: [condition('example.com/gate', 'False'), condition('Ready', 'True')] },
  });
  assert.deepEqual(status.conditions, [condition('example.com/gate', 'True'), condition('Ready', 'True')]);
});

test('an own condition without observedGeneration keeps the old one, which the API server does not let go', () => {
  const { status } = merge({
    api: { conditions: [condition('Ready', 'False', { observedGeneration: 3 })], observedGeneration: 4 },
    own: { conditions: [condition('Ready', 'True')], observedGeneration: 2 },
  });
  assert.deepEqual(status.conditions, [condition('Ready', 'True', { observedGeneration: 3 })]);
  assert.equal(status.observedGeneration, 4);
});

test('fields of others stay; QoS class and start time are those of the API', () => {
  const api: PodStatus = {
    nominatedNodeName: 'n2',
    resourceClaimStatuses: [{ name: 'c', resourceClaimName: 'cc' }],
    qosClass: 'Guaranteed',
    startTime: BEFORE,
  };
  const { status } = merge({
    api,
    own: { qosClass: 'Burstable', startTime: '2026-01-01T00:00:00Z', phase: 'Pending' },
  });
  assert.deepEqual(status, { ...api, phase: 'Pending', conditions: [] });
});

test('times of a static pod come from its mirror pod, those of an API pod do not', () => {
  const api = { conditions: [condition('Ready', 'True')] };
  const own = { conditions: [condition('Ready', 'True', { lastTransitionTime: '2026-01-01T00:00:00Z' })] };
  assert.deepEqual(merge({ api, own, isStatic: true }).status.conditions, api.conditions);
  assert.deepEqual(merge({ api, own }).status.conditions, own.conditions);
});

test('a phase becomes terminal only when nothing can run any more', () => {
  const api: PodStatus = { phase: 'Running', reason: 'Old' };
  const own: PodStatus = { phase: 'Failed', reason: 'Evicted', message: 'm' };
  const delayed = merge({ api, own, couldHaveRunningContainers: true }).status;
  assert.deepEqual([delayed.phase, delayed.reason, delayed.message], ['Running', 'Old', undefined]);
  const told = merge({ api, own }).status;
  assert.deepEqual([told.phase, told.reason, told.message], ['Failed', 'Evicted', 'm']);
});

test('DisruptionTarget is told with the terminal phase, at the time it is told', () => {
  const own: PodStatus = { phase: 'Failed', conditions: [condition('DisruptionTarget', 'True', { reason: 'R' })] };
  const api: PodStatus = { phase: 'Running' };
  assert.deepEqual(merge({ api, own, couldHaveRunningContainers: true }).status.conditions, []);
  assert.deepEqual(merge({ api, own }).status.conditions, [
    { type: 'DisruptionTarget', status: 'True', reason: 'R', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ]);
  // Set by the taint manager before: its time stays, and it is not taken away.
  const known = { phase: 'Running', conditions: [condition('DisruptionTarget', 'True', { reason: 'Taint' })] };
  assert.deepEqual(merge({ api: known, own }).status.conditions, [
    condition('DisruptionTarget', 'True', { reason: 'R' }),
  ]);
  assert.deepEqual(merge({ api: known, own: { phase: 'Failed' } }).status.conditions, known.conditions);
});

for (const [phase, reason] of [
  ['Succeeded', 'PodCompleted'],
  ['Failed', 'PodFailed'],
] as const) {
  test(`a pod that is ${phase} is never shown as ready`, () => {
    const own: PodStatus = { phase, conditions: [condition('Ready', 'True'), condition('ContainersReady', 'True')] };
    const { conditions } = merge({ api: { phase: 'Running' }, own }).status;
    const at = '2026-01-01T00:00:00Z';
    assert.deepEqual(conditions, [
      { type: 'Ready', status: 'False', lastTransitionTime: at, reason },
      { type: 'ContainersReady', status: 'False', lastTransitionTime: at, reason },
    ]);
  });
}

test('a terminal phase is never left, nor exchanged for the other', () => {
  for (const phase of ['Running', 'Pending', 'Succeeded']) {
    const { status } = merge({ api: { phase: 'Failed', reason: 'Evicted' }, own: { phase, message: 'm' } });
    assert.deepEqual([status.phase, status.reason, status.message], ['Failed', 'Evicted', undefined]);
  }
  const same = merge({ api: { phase: 'Failed' }, own: { phase: 'Failed', reason: 'R' } }).status;
  assert.equal(same.reason, 'R');
});

const guardRows: [string, Pod, number, boolean][] = [
  ['Always', pod('Always'), 1, true],
  ['OnFailure, failed', pod('OnFailure'), 1, true],
  ['OnFailure, succeeded', pod('OnFailure'), 0, false],
  ['Never', pod('Never'), 1, false],
  ['Never, its own policy Always', pod('Never', { containers: [{ name: 'a', restartPolicy: 'Always' }] }), 1, true],
  [
    'Never, a rule for its code',
    pod('Never', {
      containers: [
        {
          name: 'a',
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
        },
      ],
    }),
    42,
    true,
  ],
];
for (const [name, spec, exitCode, may] of guardRows) {
  test(`an ended container may run again: ${name}: ${String(may)}`, () => {
    const known = { containerStatuses: [container('a', ended(exitCode))] };
    const next = { containerStatuses: [container('a', running)] };
    const { status, refused } = guardTerminal(spec, known, next);
    assert.deepEqual(status.containerStatuses, may ? next.containerStatuses : known.containerStatuses);
    assert.deepEqual(refused, may ? [] : ['a']);
  });
}

test('init containers: an ended one stays ended, a sidecar runs again', () => {
  const spec = pod('Never', { initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }] });
  const known = { initContainerStatuses: [container('i', ended(0)), container('s', ended(1))] };
  const next = { initContainerStatuses: [container('i', running), container('s', running)] };
  const { status, refused } = guardTerminal(spec, known, next);
  assert.deepEqual(
    status.initContainerStatuses?.map((s) => Object.keys(s.state ?? {})[0]),
    ['terminated', 'running'],
  );
  assert.deepEqual(refused, ['i']);
});

test('needsReconcile: what is ours counts, what is of others, and how the API writes nothing, does not', () => {
  const base = { pod: pod('Always'), couldHaveRunningContainers: true, isStatic: false, at: AT };
  const own: PodStatus = {
    phase: 'Running',
    conditions: [condition('Ready', 'True')],
    containerStatuses: [container('a', { ...ended(0) })],
  };
  const asStored: PodStatus = {
    ...own,
    conditions: [condition('x', 'True'), condition('Ready', 'True', { lastProbeTime: null as unknown as string })],
    containerStatuses: [
      container('a', { terminated: { exitCode: 0, startedAt: null as unknown as string, reason: '' } }),
    ],
    nominatedNodeName: 'n',
  };
  assert.equal(needsReconcile({ ...base, own, api: asStored }), false);
  const overwritten = { ...asStored, conditions: [condition('Ready', 'False', { reason: 'NodeNotReady' })] };
  assert.equal(needsReconcile({ ...base, own, api: overwritten }), true);
});
