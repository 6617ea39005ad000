import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { ContainerStatus, Pod, PodCondition, PodStatus } from '../../../machines/protocol/api-types.ts';
import { CURRENT } from '../../../machines/protocol/behaviour.ts';
import type { ObservedContainer } from '../../../machines/protocol/observed.ts';
import { podConditions } from '../../../machines/status/conditions.ts';
import { podPhase } from '../../../machines/status/phase.ts';
import type { Phase } from '../../../machines/status/phase.ts';
import { podStatus } from '../../../machines/status/pod-status.ts';
import type { StatusInput } from '../../../machines/status/status-input.ts';
import { nodeSettings } from '../qos/node-settings.ts';
import { AT, observedPod, seen, statusInput } from './status-fixtures.ts';

function vectorsOf<T>(file: string): T[] {
  const vectors = JSON.parse(readFileSync(new URL(`./${file}`, import.meta.url), 'utf8')) as T[];
  assert.ok(vectors.length >= 10, file);
  return vectors;
}

test('phases are the kubelet’s', () => {
  type Vector = { pod: Pod; statuses: ContainerStatus[]; podIsTerminal: boolean; initialized: boolean; phase: string };
  for (const vector of vectorsOf<Vector>('kubelet-phase-vectors.json')) {
    assert.equal(podPhase(vector.pod, vector.statuses, vector), vector.phase, JSON.stringify(vector));
  }
});

test('container statuses are the kubelet’s', () => {
  type Vector = {
    pod: Pod;
    previous: PodStatus;
    containers: ObservedContainer[];
    decisions: StatusInput['containers'];
    regular: ContainerStatus[];
    init: ContainerStatus[];
  };
  // The kubelet's prober fills these two in afterwards; a time that is not set is null in Go's JSON.
  const bare = (statuses: ContainerStatus[] | undefined): unknown[] =>
    (statuses ?? []).map(({ started: _started, ready: _ready, ...rest }) =>
      JSON.parse(JSON.stringify(rest, (_key, value: unknown) => (value === null ? undefined : value))),
    );
  for (const { pod, previous, containers, decisions, regular, init } of vectorsOf<Vector>(
    'kubelet-status-vectors.json',
  )) {
    const status = podStatus(
      statusInput({ pod, previous, observed: { ...observedPod([]), containers }, containers: decisions }),
    );
    const what = JSON.stringify({ pod, previous, containers, decisions });
    assert.deepEqual(bare(status.containerStatuses), bare(regular), what);
    assert.deepEqual(bare(status.initContainerStatuses), bare(init), what);
  }
});

test('conditions are the kubelet’s', () => {
  type Vector = { pod: Pod; statuses: ContainerStatus[]; phase: Phase; conditions: PodCondition[] };
  for (const { pod, statuses, phase, conditions } of vectorsOf<Vector>('kubelet-condition-vectors.json')) {
    const made = podConditions({ pod, old: {}, observed: null, statuses, phase, at: AT });
    const bare = made.map(({ lastTransitionTime: _time, ...rest }) => rest);
    for (const want of conditions) {
      assert.deepEqual(
        bare.find(({ type }) => type === want.type),
        want,
        JSON.stringify({ pod, statuses, phase }),
      );
    }
  }
});

test('a running pod, whole', () => {
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'n', uid: 'u', generation: 3 },
    spec: {
      containers: [
        {
          name: 'b',
          image: 'b:1',
          resources: { requests: { cpu: '100m' } },
          volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true }],
        },
        { name: 'a', image: 'a:1' },
      ],
    },
  };
  const observed = observedPod([
    seen({ id: '2', name: 'b', user: { uid: 1, gid: 2, supplementalGroups: [3] }, stopSignal: 'SIGUSR1' }),
    seen({
      id: '1',
      name: 'a',
      state: 'exited',
      createdAt: AT - 5000,
      exitCode: 1,
      reason: 'Error',
      finishedAt: AT - 1500,
    }),
  ]);
  const input = statusInput({
    pod,
    observed,
    podIPs: ['fd00::5', '10.0.0.5'],
    containers: {
      a: {
        ready: false,
        started: true,
        waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container=a pod=p_n(u)' },
      },
      b: { ready: true, started: true },
    },
  });
  const at = '2026-01-01T00:00:00Z';
  assert.deepEqual(podStatus(input), {
    observedGeneration: 3,
    phase: 'Running',
    conditions: [
      { type: 'PodReadyToStartContainers', status: 'True', observedGeneration: 3, lastTransitionTime: at },
      { type: 'Initialized', status: 'True', observedGeneration: 3, lastTransitionTime: at },
      ...['Ready', 'ContainersReady'].map((type) => ({
        type,
        status: 'False',
        observedGeneration: 3,
        lastTransitionTime: at,
        reason: 'ContainersNotReady',
        message: 'containers with unready status: [a]',
      })),
      { type: 'PodScheduled', status: 'True', observedGeneration: 3, lastTransitionTime: at },
    ],
    hostIP: '192.168.0.2',
    hostIPs: [{ ip: '192.168.0.2' }],
    podIP: '10.0.0.5',
    podIPs: [{ ip: '10.0.0.5' }, { ip: 'fd00::5' }],
    startTime: '2025-12-31T23:59:50Z',
    containerStatuses: [
      {
        name: 'a',
        state: {
          waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container=a pod=p_n(u)' },
        },
        lastState: {
          terminated: {
            exitCode: 1,
            reason: 'Error',
            startedAt: '2025-12-31T23:59:58Z',
            finishedAt: '2025-12-31T23:59:58Z',
            containerID: 'containerd://1',
          },
        },
        ready: false,
        started: false,
        restartCount: 0,
        image: 'img',
        imageID: 'sha256:x',
        containerID: 'containerd://1',
        resources: {},
      },
      {
        name: 'b',
        state: { running: { startedAt: '2025-12-31T23:59:58Z' } },
        lastState: {},
        ready: true,
        started: true,
        restartCount: 0,
        image: 'img',
        imageID: 'sha256:x',
        containerID: 'containerd://2',
        resources: { requests: { cpu: '100m' } },
        allocatedResources: { cpu: '100m' },
        volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true, recursiveReadOnly: 'Disabled' }],
        user: { linux: { uid: 1, gid: 2, supplementalGroups: [3] } },
        stopSignal: 'SIGUSR1',
      },
    ],
    qosClass: 'Burstable',
  });
});

test('ready and started by kind of container', () => {
  const pod: Pod = {
    spec: {
      initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }],
      containers: [{ name: 'a' }],
      ephemeralContainers: [{ name: 'e' }],
    },
  };
  const observed = observedPod([
    seen({ id: '1', name: 'i', state: 'exited' }),
    seen({ id: '2', name: 's' }),
    seen({ id: '3', name: 'a' }),
    seen({ id: '4', name: 'e' }),
  ]);
  const flags = (containers: StatusInput['containers']): unknown => {
    const s = podStatus(statusInput({ pod, observed, containers }));
    const all = [
      ...(s.initContainerStatuses ?? []),
      ...(s.containerStatuses ?? []),
      ...(s.ephemeralContainerStatuses ?? []),
    ];
    return all.map(({ name, ready, started }) => [name, ready, started]);
  };
  assert.deepEqual(flags({}), [
    ['i', true, false],
    ['s', true, true],
    ['a', true, true],
    ['e', false, undefined],
  ]);
  assert.deepEqual(flags({ s: { ready: true, started: false }, a: { ready: false, started: true } }), [
    ['i', true, false],
    ['s', false, false],
    ['a', false, true],
    ['e', false, undefined],
  ]);
});

test('transition times move with the condition’s status only', () => {
  const pod: Pod = { spec: { containers: [{ name: 'a' }] } };
  const observed = observedPod([seen({ name: 'a' })]);
  const time = (status: PodStatus): unknown =>
    status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  const first = podStatus(statusInput({ pod, observed }));
  const same = podStatus(statusInput({ pod, observed, previous: first, at: AT + 60_000 }));
  assert.deepEqual(same, first);
  const unready = { a: { ready: false, started: true } };
  const changed = podStatus(statusInput({ pod, observed, previous: same, containers: unready, at: AT + 120_000 }));
  assert.equal(time(changed), '2026-01-01T00:02:00Z');
  const later = podStatus(statusInput({ pod, observed, previous: changed, containers: unready, at: AT + 180_000 }));
  assert.equal(time(later), '2026-01-01T00:02:00Z');
});

test('conditions of others are kept, DisruptionTarget from the last status', () => {
  const pod: Pod = {
    spec: { containers: [{ name: 'a' }], readinessGates: [{ conditionType: 'x/y' }] },
    status: {
      conditions: [
        { type: 'x/y', status: 'True' },
        { type: 'Ready', status: 'True' },
      ],
    },
  };
  const previous: PodStatus = { conditions: [{ type: 'DisruptionTarget', status: 'True' }] };
  const status = podStatus(statusInput({ pod, previous, observed: observedPod([seen({ name: 'a' })]) }));
  assert.deepEqual(
    status.conditions?.map(({ type, status: s }) => `${type}=${s}`),
    [
      'x/y=True',
      'DisruptionTarget=True',
      'PodReadyToStartContainers=True',
      'Initialized=True',
      'Ready=True',
      'ContainersReady=True',
      'PodScheduled=True',
    ],
  );
});

test('PodReadyToStartContainers looks at the sandboxes', () => {
  const ready = (sandboxes: Parameters<typeof observedPod>[1], hostNetwork = false): unknown => {
    const pod: Pod = { spec: { containers: [{ name: 'a' }], hostNetwork } };
    const status = podStatus(statusInput({ pod, observed: observedPod([], sandboxes) }));
    return status.conditions?.find(({ type }) => type === 'PodReadyToStartContainers')?.status;
  };
  assert.equal(ready([]), 'False');
  assert.equal(ready([{}]), 'True');
  assert.equal(ready([{ state: 'notReady' }]), 'False');
  assert.equal(ready([{}, { state: 'notReady' }]), 'True');
  assert.equal(ready([{}, {}]), 'False');
  assert.equal(ready([{ ips: [] }]), 'False');
  assert.equal(ready([{ hostNetwork: true }]), 'False');
  assert.equal(ready([{ hostNetwork: true, ips: [] }], true), 'True');
});

test('eviction sets phase, reason and message, and they stay', () => {
  const pod: Pod = { spec: { containers: [{ name: 'a' }] } };
  const termination = { reason: 'Evicted', message: 'The node was low on resource: memory.', phase: 'Failed' as const };
  const observed = observedPod([seen({ name: 'a' })]);
  const failed = podStatus(statusInput({ pod, observed, termination }));
  assert.deepEqual([failed.phase, failed.reason, failed.message], ['Failed', termination.reason, termination.message]);
  assert.equal(failed.conditions?.find(({ type }) => type === 'Ready')?.reason, 'PodFailed');
  const later = podStatus(statusInput({ pod, observed, previous: failed }));
  assert.deepEqual([later.phase, later.reason, later.message], ['Failed', termination.reason, termination.message]);
  const deleted = podStatus(
    statusInput({ pod, observed, termination: { reason: 'Removed', message: 'gone', phase: null } }),
  );
  assert.deepEqual([deleted.phase, deleted.reason], ['Running', undefined]);
});

test('a host-network pod has the node’s addresses', () => {
  const pod: Pod = { spec: { containers: [{ name: 'a' }], hostNetwork: true } };
  const settings = nodeSettings({ nodeIPs: ['192.168.0.2', 'fd00::2'] });
  const status = podStatus(statusInput({ pod, settings, podIPs: [] }));
  assert.deepEqual([status.podIP, status.podIPs], ['192.168.0.2', [{ ip: '192.168.0.2' }, { ip: 'fd00::2' }]]);
});

test('long messages are cut between characters', () => {
  const pod: Pod = { spec: { containers: [{ name: 'a' }, { name: 'b' }] } };
  const message = 'é'.repeat(4000);
  const status = podStatus(
    statusInput({ pod, observed: observedPod([seen({ name: 'a', state: 'exited', message })]) }),
  );
  assert.equal(status.containerStatuses?.[0]?.state?.terminated?.message, 'é'.repeat(3072));
});

test('what ended before a container that is made now is no end for good, but where the pod is to end', () => {
  const pod: Pod = { spec: { restartPolicy: 'Never', containers: [{ name: 'a' }] } };
  const ended = seen({ id: '1', state: 'exited', exitCode: 1, finishedAt: AT - 1500 });
  const made = seen({ id: '2', state: 'created', startedAt: 0, restartCount: 1 });
  const phase = (containers: ObservedContainer[], changes: Partial<StatusInput> = {}): string | undefined =>
    podStatus(statusInput({ pod, observed: observedPod(containers), settings: nodeSettings(CURRENT), ...changes }))
      .phase;
  assert.equal(phase([ended]), 'Failed');
  assert.equal(phase([made, ended]), 'Running');
  // The newest one counts: what was made and never started before it says nothing.
  assert.equal(phase([{ ...ended, id: '3', restartCount: 2 }, made]), 'Failed');
  assert.equal(phase([made, ended], { podIsTerminal: true }), 'Failed');
  assert.equal(phase([made, ended], { termination: { reason: 'Evicted', message: '' } }), 'Failed');
  assert.equal(phase([made, ended], { settings: nodeSettings() }), 'Failed', 'as an agent of 0.1.0 decided');
});
