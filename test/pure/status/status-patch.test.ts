import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PodStatus } from '../../../machines/protocol/api-types.ts';
import { mergePodStatus, needsReconcile } from '../../../machines/status/merge-pod-status.ts';
import { sameStored, isMinor, statusPatch } from '../../../machines/status/status-patch.ts';
import { strategicMergePatch } from '../../simulated/api/support/patches.ts';

const T = '2026-01-01T00:00:00Z';
const rows: [string, object, object, Record<string, unknown> | null][] = [
  ['nothing', { phase: 'Running' }, { phase: 'Running' }, null],
  ['empty is absent', { reason: '', podIPs: [], conditions: [] }, {}, null],
  ['a field', { phase: 'Pending' }, { phase: 'Running', startTime: T }, { phase: 'Running', startTime: T }],
  ['a field goes', { phase: 'Failed', reason: 'R' }, { phase: 'Failed' }, { reason: null }],
  [
    'a condition changes: only what differs',
    { conditions: [{ type: 'Ready', status: 'False', reason: 'R', lastTransitionTime: T }] },
    { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: T }] },
    { conditions: [{ type: 'Ready', status: 'True', reason: null }] },
  ],
  [
    'conditions come and go; their order does not count',
    {
      conditions: [
        { type: 'A', status: 'True' },
        { type: 'B', status: 'True' },
      ],
    },
    {
      conditions: [
        { type: 'C', status: 'True' },
        { type: 'A', status: 'True' },
      ],
    },
    {
      conditions: [
        { type: 'C', status: 'True' },
        { $patch: 'delete', type: 'B' },
      ],
    },
  ],
  [
    'addresses are replaced, since their order counts',
    { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] },
    { podIP: 'fd00::1', podIPs: [{ ip: 'fd00::1' }, { ip: '10.0.0.1' }] },
    { podIP: 'fd00::1', podIPs: [{ $patch: 'replace' }, { ip: 'fd00::1' }, { ip: '10.0.0.1' }] },
  ],
  ['addresses go', { podIP: '1.2.3.4', podIPs: [{ ip: '1.2.3.4' }] }, {}, { podIP: null, podIPs: null }],
  [
    'maps are merged',
    { allocatedResources: { cpu: '1', memory: '1Gi' } },
    { allocatedResources: { cpu: '2' } },
    { allocatedResources: { cpu: '2', memory: null } },
  ],
];
for (const [name, old, wanted, status] of rows) {
  test(`statusPatch: ${name}`, () => {
    assert.deepEqual(
      statusPatch('u', old as PodStatus, wanted as PodStatus),
      status && { metadata: { uid: 'u' }, status },
    );
  });
}

test('container statuses are replaced as a whole', () => {
  const a = { name: 'a', ready: false, restartCount: 0, image: 'i', imageID: '' };
  const b = { ...a, name: 'b' };
  const patch = statusPatch('u', { containerStatuses: [a, b] }, { containerStatuses: [a, { ...b, ready: true }] });
  assert.deepEqual(patch?.status, { containerStatuses: [a, { ...b, ready: true }] });
});

const text = fc.constantFrom('', 'R', 'S');
const conditionsArb = fc.uniqueArray(
  fc.record(
    {
      type: fc.constantFrom(
        'Ready',
        'ContainersReady',
        'Initialized',
        'PodScheduled',
        'DisruptionTarget',
        'example.com/x',
      ),
      status: fc.constantFrom('True', 'False'),
      lastTransitionTime: fc.constantFrom(T, '2026-01-02T00:00:00Z'),
      reason: text,
      observedGeneration: fc.constantFrom(1, 2),
    },
    { requiredKeys: ['type', 'status'], noNullPrototype: true },
  ),
  { selector: ({ type }) => type },
);
const stateArb = fc.oneof(
  fc.constant({}),
  fc.record({ waiting: fc.record({ reason: text }, { noNullPrototype: true }) }, { noNullPrototype: true }),
  fc.constant({ running: { startedAt: T } }),
  fc.record({ terminated: fc.record({ exitCode: fc.nat(1) }, { noNullPrototype: true }) }, { noNullPrototype: true }),
);
const containersArb = (names: string[]) =>
  fc.tuple(
    ...names.map((name) =>
      stateArb.map((state) => ({ name, state, ready: false, restartCount: 0, image: 'i', imageID: '' })),
    ),
  );
const ipsArb = fc.uniqueArray(fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::1'), { maxLength: 2 });
const statusArb: fc.Arbitrary<PodStatus> = fc
  .record(
    {
      phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
      reason: text,
      message: text,
      nominatedNodeName: text,
      qosClass: fc.constantFrom('Burstable', 'Guaranteed'),
      observedGeneration: fc.constantFrom(1, 2),
      startTime: fc.constantFrom(T, '2026-01-02T00:00:00Z'),
      conditions: conditionsArb,
      containerStatuses: containersArb(['a', 'b']),
      initContainerStatuses: containersArb(['i']),
      podIPs: ipsArb.map((ips) => ips.map((ip) => ({ ip }))),
      hostIPs: ipsArb.map((ips) => ips.map((ip) => ({ ip }))),
      allocatedResources: fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constantFrom('1', '2'), {
        noNullPrototype: true,
      }),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  .map((status) => ({ ...status }));
const inputArb = fc.record({
  api: statusArb,
  own: statusArb,
  policy: fc.constantFrom('Always', 'OnFailure', 'Never'),
  couldHaveRunningContainers: fc.boolean(),
  isStatic: fc.boolean(),
  isSyncing: fc.boolean(),
});
const asInput = ({
  policy,
  ...rest
}: {
  policy: string;
  api: PodStatus;
  own: PodStatus;
  couldHaveRunningContainers: boolean;
  isStatic: boolean;
  isSyncing: boolean;
}) => ({
  ...rest,
  pod: {
    metadata: { name: 'p', namespace: 'n', uid: 'u' },
    spec: { restartPolicy: policy, containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] },
  },
  at: Date.parse(T),
});
const byType = (status: PodStatus): PodStatus => ({
  ...status,
  conditions: (status.conditions ?? []).toSorted((a, b) => (a.type < b.type ? -1 : 1)),
});

test('property: the patch, applied as a strategic merge patch, makes the old status the wanted one', () => {
  fc.assert(
    fc.property(statusArb, statusArb, (old, wanted) => {
      const patch = statusPatch('u', old, wanted);
      const got = patch ? (strategicMergePatch({ status: old }, patch) as { status: PodStatus }).status : old;
      assert.ok(sameStored(byType(got), byType(wanted)), JSON.stringify({ got, wanted, patch }));
      assert.equal(statusPatch('u', got, wanted), null);
    }),
  );
});

test('property: a merged status needs no reconciling, and the order of messages ends in the same status', () => {
  fc.assert(
    fc.property(inputArb, (choice) => {
      const input = asInput(choice);
      const { status } = mergePodStatus(input);
      const patch = statusPatch('u', input.api, status);
      const stored = patch
        ? (strategicMergePatch({ status: input.api }, patch) as { status: PodStatus }).status
        : input.api;
      assert.equal(
        needsReconcile({ ...input, api: stored, at: input.at + 60_000 }),
        false,
        JSON.stringify({ status, patch }),
      );
    }),
  );
});

test('property: nothing terminal is ever taken back, but the phase of a static pod that lives again', () => {
  fc.assert(
    fc.property(inputArb, (choice) => {
      const input = asInput(choice);
      const { status } = mergePodStatus(input);
      const livesAgain =
        input.isStatic && input.isSyncing && (input.own.phase === 'Pending' || input.own.phase === 'Running');
      const ended = input.api.phase === 'Failed' || input.api.phase === 'Succeeded';
      if (ended) assert.equal(status.phase, livesAgain ? input.own.phase : input.api.phase);
      if (choice.policy !== 'Never') return;
      for (const { name, state } of input.api.containerStatuses ?? []) {
        const now = status.containerStatuses?.find((s) => s.name === name);
        if (state?.terminated && now) assert.ok(now.state?.terminated);
      }
    }),
  );
});

test('a patch that names only generations is minor', () => {
  const minor = (status: Record<string, unknown>) => isMinor({ metadata: { uid: 'u' }, status });
  assert.ok(minor({ observedGeneration: 2, conditions: [{ type: 'Ready', observedGeneration: 2 }] }));
  assert.ok(!minor({ observedGeneration: 2, phase: 'Failed' }));
  assert.ok(!minor({ conditions: [{ type: 'Ready', observedGeneration: 2, status: 'False' }] }));
  assert.ok(!minor({ conditions: [{ $patch: 'delete', type: 'x' }] }));
});
