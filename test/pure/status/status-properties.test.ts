import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import type { ObservedContainer } from '../../../machines/protocol/observed.ts';
import { podStatus } from '../../../machines/status/pod-status.ts';
import type { StatusInput } from '../../../machines/status/status-input.ts';
import { ALL_BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { terminatedStatus } from '../../../machines/status/terminated-status.ts';
import { AT, observedPod, seen, statusInput } from './status-fixtures.ts';

const policy = fc.constantFrom('Always', 'OnFailure', 'Never');
const podArb: fc.Arbitrary<Pod> = fc.record({ policy, init: fc.boolean(), sidecar: fc.boolean() }).map((choice) => ({
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: {
    restartPolicy: choice.policy,
    initContainers: [
      ...(choice.init ? [{ name: 'i' }] : []),
      ...(choice.sidecar ? [{ name: 's', restartPolicy: 'Always' }] : []),
    ],
    containers: [{ name: 'b' }, { name: 'a' }],
  },
}));
const containerArb: fc.Arbitrary<ObservedContainer> = fc
  .record({
    name: fc.constantFrom('a', 'b', 'i', 's', 'stranger'),
    state: fc.constantFrom('created', 'running', 'exited', 'unknown'),
    exitCode: fc.constantFrom(0, 1, 137),
    createdAt: fc.integer({ min: AT - 100_000, max: AT }),
    restartCount: fc.nat(3),
  })
  .map(seen);
const decision = fc.record({
  ready: fc.boolean(),
  started: fc.boolean(),
  waiting: fc.option(fc.constant({ reason: 'CrashLoopBackOff', message: 'm' }), { nil: undefined }),
});
const stepArb = fc.record({
  observed: fc.array(containerArb, { maxLength: 6 }).map((containers) => observedPod(containers)),
  containers: fc.dictionary(fc.constantFrom('a', 'b', 'i', 's'), decision, { noNullPrototype: true }),
  podIsTerminal: fc.boolean(),
  termination: fc.option(
    fc.record({
      reason: fc.constant('Evicted'),
      message: fc.constant('m'),
      phase: fc.constantFrom('Failed' as const, null),
    }),
    { nil: undefined },
  ),
});
const storyArb = fc.tuple(podArb, fc.array(stepArb, { minLength: 1, maxLength: 8 }));

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

/** Statuses of a pod's life, each made from the one before. */
function live(pod: Pod, steps: Partial<StatusInput>[]): PodStatus[] {
  const out: PodStatus[] = [];
  steps.forEach((step, i) => {
    const previous = out.at(-1) ?? null;
    out.push(podStatus(freeze(statusInput({ pod, ...step, previous, at: AT + i * 1000 }))));
  });
  return out;
}

test('property: a terminal phase is never left, and its pod is never ready', () => {
  fc.assert(
    fc.property(storyArb, ([pod, steps]) => {
      let ended: string | undefined;
      for (const status of live(pod, steps)) {
        if (ended !== undefined) assert.equal(status.phase, ended);
        if (status.phase === 'Failed' || status.phase === 'Succeeded') {
          ended = status.phase;
          assert.equal(status.conditions?.find(({ type }) => type === 'Ready')?.status, 'False');
        }
      }
    }),
  );
});

test('property: the same input gives the same bytes', () => {
  fc.assert(
    fc.property(storyArb, ([pod, steps]) => {
      const first = live(pod, steps);
      assert.equal(JSON.stringify(live(pod, steps)), JSON.stringify(first));
    }),
  );
});

test('property: every container of the spec once, in order; one state each; ready only when running or completed', () => {
  fc.assert(
    fc.property(storyArb, ([pod, steps]) => {
      for (const status of live(pod, steps)) {
        const names = (list: PodStatus['containerStatuses']): string[] => (list ?? []).map(({ name }) => name);
        assert.deepEqual(names(status.containerStatuses), ['a', 'b']);
        assert.deepEqual(
          names(status.initContainerStatuses),
          (pod.spec?.initContainers ?? []).map(({ name }) => name),
        );
        for (const c of [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])]) {
          assert.equal(Object.keys(c.state ?? {}).length, 1);
          if (c.ready) assert.ok(c.state?.running ?? c.state?.terminated?.exitCode === 0);
          assert.ok(!c.started || c.state?.running);
        }
      }
    }),
  );
});

const NOW = { behaviour: [...ALL_BEHAVIOUR] };

test('property: after the end every container that was tried has an end, and nothing is lost', () => {
  fc.assert(
    fc.property(storyArb, ([pod, steps]) => {
      const last = live(pod, steps).at(-1) ?? {};
      const end = terminatedStatus(pod, freeze(last), NOW);
      assert.ok(end.phase === 'Failed' || end.phase === 'Succeeded');
      const all = [...(end.containerStatuses ?? []), ...(end.initContainerStatuses ?? [])];
      assert.ok(all.every(({ state }) => state?.running === undefined));
      assert.deepEqual(terminatedStatus(pod, end, NOW), end);
    }),
  );
});

test('what vanished is taken for failed; a static pod has the phase that follows from it at once', () => {
  const pod: Pod = { spec: { initContainers: [{ name: 'i' }, { name: 'j' }], containers: [{ name: 'a' }] } };
  const waiting = { waiting: { reason: 'PodInitializing' } };
  const one = (name: string, state: object): NonNullable<PodStatus['containerStatuses']>[number] => ({
    name,
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    state,
  });
  const status: PodStatus = {
    phase: 'Pending',
    initContainerStatuses: [one('i', { running: {} }), one('j', waiting)],
    containerStatuses: [one('a', waiting)],
  };
  const end = terminatedStatus(pod, status, NOW);
  assert.equal(end.phase, 'Failed');
  assert.deepEqual(end.initContainerStatuses?.[0]?.state, {
    terminated: {
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      message: 'The container could not be located when the pod was terminated',
    },
  });
  assert.deepEqual(end.initContainerStatuses?.[1]?.state, waiting);
  assert.deepEqual(end.containerStatuses?.[0]?.state, waiting);
  const isStatic: Pod = { ...pod, metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } };
  assert.equal(terminatedStatus(isStatic, status, NOW).phase, 'Pending');
  const never: Pod = { ...isStatic, spec: { restartPolicy: 'Never', containers: [{ name: 'a' }] } };
  const unseen: PodStatus = { phase: 'Pending', containerStatuses: [one('a', waiting)] };
  const first = terminatedStatus(never, unseen, NOW);
  assert.equal(first.phase, 'Failed');
  assert.equal(terminatedStatus(never, first, NOW).phase, 'Failed');
  assert.equal(terminatedStatus(never, unseen, { behaviour: [] }).phase, 'Pending', 'as older journals have it');
});
