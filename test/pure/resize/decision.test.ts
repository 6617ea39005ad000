import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import type { Admission } from '../../../machines/admission/rejection.ts';
import { allocationOf, withAllocation } from '../../../machines/resize/allocation.ts';
import { inOrderOfTurn } from '../../../machines/resize/pending-queue.ts';
import { pendingNote, withPending } from '../../../machines/resize/resize-conditions.ts';
import { decideResize } from '../../../machines/resize/resize-decision.ts';
import { resizeMessage } from '../../../machines/resize/resize-events.ts';
import { apiPod, sized } from './resize-pods.ts';

const GI = 2 ** 30;
const allocation = allocationOf(apiPod([sized('c', '1', '1Gi')]));
const givenTo = (pod: Pod): Pod => withAllocation(pod, allocation);
const most = { cpuMilli: 4000, memoryBytes: 8 * GI };
const yes = (): Admission => ({ admit: true });

describe('may a pod get what it asks for? (KEP-1287, kubelet canResizePod)', () => {
  test('the same by value: nothing to do, and nobody is asked', () => {
    const admit = (): Admission => assert.fail('asked');
    const desired = apiPod([sized('c', '1000m', '1Gi')]);
    assert.deepEqual(decideResize({ desired, given: givenTo(desired), most, admit }), { kind: 'none' });
  });

  test('it fits: allocated', () => {
    const desired = apiPod([sized('c', '2', '2Gi')]);
    assert.deepEqual(decideResize({ desired, given: givenTo(desired), most, admit: yes }), { kind: 'allocate' });
  });

  test('more than the whole node has: Infeasible, told with an event; memory is named before cpu', () => {
    const ask = (cpu: string, memory: string) => {
      const desired = apiPod([sized('c', cpu, memory)]);
      return decideResize({ desired, given: givenTo(desired), most, admit: yes });
    };
    assert.deepEqual(ask('5', '1Gi'), {
      kind: 'pending',
      reason: 'Infeasible',
      message: "Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000",
      detail: 'insufficient_node_allocatable',
      told: true,
    });
    const both = ask('5', '9Gi');
    assert.match(both.kind === 'pending' ? both.message : '', /capacity: memory, requested: 9663676416, capacity/);
  });

  test('others hold it now: Deferred, with the words of admission', () => {
    const admit = (): Admission => ({ admit: false, reason: 'OutOfcpu', message: 'no cpu left' });
    const desired = apiPod([sized('c', '3', '1Gi')]);
    assert.deepEqual(decideResize({ desired, given: givenTo(desired), most, admit }), {
      kind: 'pending',
      reason: 'Deferred',
      message: 'no cpu left',
      told: true,
    });
  });

  test('a static pod is never resized, and no event is made of it', () => {
    const desired = apiPod([sized('c', '2', '1Gi')]);
    desired.metadata = { ...desired.metadata, annotations: { 'kubernetes.io/config.source': 'file' } };
    const verdict = decideResize({ desired, given: givenTo(desired), most, admit: yes });
    assert.deepEqual(verdict, {
      kind: 'pending',
      reason: 'Infeasible',
      message: 'In-place resize of static-pods is not supported',
      detail: 'static_pod',
      told: false,
    });
  });
});

describe('containers that may swap keep their memory (kubelet disallowResizeForSwappableContainers)', () => {
  const burstable = (memory: string, over: Partial<Container> = {}): Container => ({
    ...{ name: 'c', image: 'i', resources: { requests: { cpu: '1', memory }, limits: { cpu: '2', memory: '4Gi' } } },
    ...over,
  });
  const decided = (before: Container, after: Container, spec: object = {}, limitedSwap = true) => {
    const desired = apiPod([after]);
    desired.spec = { containers: [], ...desired.spec, ...spec };
    const given = withAllocation(desired, allocationOf(apiPod([before])));
    const verdict = decideResize({
      desired,
      given,
      most,
      admit: yes,
      ...(limitedSwap && { limitedSwap: true as const }),
    });
    return verdict.kind === 'pending' ? verdict.detail : verdict.kind;
  };

  test('Infeasible, without an event, when the memory that is asked for changes', () => {
    const desired = apiPod([burstable('2Gi')]);
    const given = withAllocation(desired, allocationOf(apiPod([burstable('1Gi')])));
    assert.deepEqual(decideResize({ desired, given, most, limitedSwap: true, admit: yes }), {
      ...{ kind: 'pending', reason: 'Infeasible', detail: 'swap_limitation', told: false },
      message: 'In-place resize of containers with swap is not supported.',
    });
    assert.equal(decided(burstable('1Gi'), burstable('4Gi')), 'swap_limitation', 'it could swap before');
  });

  test('allocated where it does not swap, is restarted for it, or only its CPU changes', () => {
    assert.equal(decided(burstable('1Gi'), burstable('2Gi'), {}, false), 'allocate', 'no swap on this node');
    assert.equal(decided(burstable('1Gi'), burstable('2Gi'), { priority: 2_000_000_000 }), 'allocate', 'critical');
    assert.equal(decided(sized('c', '1', '1Gi'), sized('c', '1', '2Gi')), 'allocate', 'Guaranteed');
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
    assert.equal(decided(burstable('1Gi', { resizePolicy }), burstable('2Gi', { resizePolicy })), 'allocate');
    const cpu = { resources: { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } } };
    assert.equal(decided(burstable('1Gi'), burstable('1Gi', cpu)), 'allocate');
  });
});

describe('who waits is tried in turn (kubelet sortPendingResizes)', () => {
  const wish = (uid: string, cpu: string, over: { priority?: number; burstable?: true; since?: number } = {}) => {
    const pod = apiPod(
      [over.burstable ? { name: 'c', image: 'i', resources: { requests: { cpu } } } : sized('c', cpu, '1Gi')],
      2,
      uid,
    );
    pod.spec = { ...pod.spec, containers: pod.spec?.containers ?? [], priority: over.priority };
    return { pod, given: givenTo(pod), since: over.since ?? null };
  };
  const order = (...wishes: ReturnType<typeof wish>[]) => inOrderOfTurn(wishes).map(({ pod }) => pod.metadata?.uid);

  test('asking for no more comes first, then priority, then Guaranteed, then the longest wait', () => {
    assert.deepEqual(order(wish('more', '2', { priority: 9 }), wish('less', '500m')), ['less', 'more']);
    assert.deepEqual(order(wish('low', '2'), wish('high', '3', { priority: 5 })), ['high', 'low']);
    assert.deepEqual(order(wish('burstable', '2', { burstable: true }), wish('guaranteed', '3')), [
      'guaranteed',
      'burstable',
    ]);
    assert.deepEqual(order(wish('new', '2'), wish('late', '2', { since: 9 }), wish('early', '2', { since: 5 })), [
      'early',
      'late',
      'new',
    ]);
  });
});

describe('conditions and events', () => {
  test("a condition's time moves with its reason only", () => {
    const first = pendingNote(undefined, { reason: 'Deferred', message: 'a', generation: 2 }, 1000);
    const second = pendingNote(first, { reason: 'Deferred', message: 'b', generation: 3 }, 2000);
    assert.deepEqual(second, { reason: 'Deferred', message: 'b', generation: 3, since: 1000 });
    assert.equal(pendingNote(second, { reason: 'Infeasible', message: 'c', generation: 3 }, 3000).since, 3000);
  });

  test("the agent's PodResizePending takes the place of the API's; without one it goes", () => {
    const pod = apiPod([sized('c', '1', '1Gi')]);
    pod.status = {
      conditions: [
        { type: 'PodResizePending', status: 'True' },
        { type: 'gate', status: 'True' },
      ],
    };
    assert.deepEqual(withPending(pod, undefined).status?.conditions, [{ type: 'gate', status: 'True' }]);
    const noted = withPending(pod, { reason: 'Deferred', message: 'm', generation: 2, since: 0 });
    assert.deepEqual(noted.status?.conditions?.[1], {
      type: 'PodResizePending',
      status: 'True',
      observedGeneration: 2,
      lastProbeTime: '1970-01-01T00:00:00Z',
      lastTransitionTime: '1970-01-01T00:00:00Z',
      reason: 'Deferred',
      message: 'm',
    });
  });

  test("an event's text is kubelet's, with the resources as Go writes them", () => {
    const pod = apiPod([sized('c', '1', '1Gi')], 4);
    assert.equal(
      resizeMessage('ResizeStarted', pod, 4),
      'Pod resize started: {"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}}],"generation":4}',
    );
    assert.match(
      resizeMessage('ResizeDeferred', pod, 4, 'no cpu'),
      /^Pod resize Deferred: .*"generation":4,"error":"no cpu"\}$/,
    );
  });
});
