/** What kubelet's own tests of preemption ask (preemption_test.go, 1.35.4). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AS_KUBELET, asksForNoMore, distance, lacking, podsToPreempt } from '../../../machines/admission/preemption.ts';
import type { Shortage } from '../../../machines/admission/rejection.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { podQosClass } from '../../../machines/qos/qos-class.ts';

const MIB = 2 ** 20;

function pod(name: string, cpu = '', memory = '', more: { limited?: true; priority?: number } = {}): Pod {
  const requests = { ...(cpu !== '' && { cpu }), ...(memory !== '' && { memory }) };
  const resources = { requests, ...(more.limited && { limits: requests }) };
  return {
    metadata: { name, uid: name, namespace: 'default' },
    spec: {
      ...(more.priority !== undefined && { priority: more.priority }),
      containers: [{ name: `${name}-container`, resources }],
    },
  };
}

const pods = {
  bestEffort: pod('bestEffort'),
  clusterCritical: pod('cluster-critical', '100m', '100Mi', { priority: 2_000_000_000 }),
  nodeCritical: pod('node-critical', '100m', '100Mi', { priority: 2_000_000_100 }),
  burstable: pod('burstable', '100m', '100Mi'),
  guaranteed: pod('guaranteed', '100m', '100Mi', { limited: true }),
  highBurstable: pod('high-request-burstable', '300m', '300Mi'),
  highGuaranteed: pod('high-request-guaranteed', '300m', '300Mi', { limited: true }),
} as const;
type Name = keyof typeof pods;

/** Milli cores, MiB, pods. */
function short(cpu: number, memory: number, count: number): Shortage[] {
  const all = [
    { resource: 'cpu', amount: cpu },
    { resource: 'memory', amount: memory * MIB },
    { resource: 'pods', amount: count },
  ];
  return all.filter(({ amount }) => amount > 0);
}

const CHOICES: [what: string, preemptor: Name, input: Name[], needs: [number, number, number], out: Name[] | null][] = [
  ['no requirements', 'clusterCritical', [], [0, 0, 0], []],
  ['no pods', 'clusterCritical', [], [0, 0, 1], null],
  ['equal pods and resources requirements', 'clusterCritical', ['burstable'], [100, 100, 1], ['burstable']],
  ['higher requirements than pod requests', 'clusterCritical', ['burstable'], [200, 200, 2], null],
  [
    'choose between bestEffort and burstable',
    'clusterCritical',
    ['burstable', 'bestEffort'],
    [0, 0, 1],
    ['bestEffort'],
  ],
  ['choose between burstable and guaranteed', 'clusterCritical', ['burstable', 'guaranteed'], [0, 0, 1], ['burstable']],
  [
    'choose lower request burstable if it meets requirements',
    'clusterCritical',
    ['bestEffort', 'highBurstable', 'burstable'],
    [100, 100, 0],
    ['burstable'],
  ],
  [
    'choose higher request burstable if lower does not meet requirements',
    'clusterCritical',
    ['bestEffort', 'burstable', 'highBurstable'],
    [150, 150, 0],
    ['highBurstable'],
  ],
  [
    'multiple pods required',
    'clusterCritical',
    ['bestEffort', 'burstable', 'highBurstable', 'guaranteed', 'highGuaranteed'],
    [350, 350, 0],
    ['burstable', 'highBurstable'],
  ],
  [
    'evict guaranteed when we have to, and dont evict the extra burstable',
    'clusterCritical',
    ['bestEffort', 'burstable', 'highBurstable', 'guaranteed', 'highGuaranteed'],
    [0, 550, 0],
    ['highBurstable', 'highGuaranteed'],
  ],
  [
    'evict cluster critical pod for node critical pod',
    'nodeCritical',
    ['clusterCritical'],
    [100, 0, 0],
    ['clusterCritical'],
  ],
  ['can not evict node critical pod for cluster critical pod', 'clusterCritical', ['nodeCritical'], [100, 0, 0], null],
  // TestHandleAdmissionFailure
  ['critical pods cannot be preempted', 'clusterCritical', ['clusterCritical'], [0, 0, 1], null],
  ['best effort pods are not preempted for memory', 'clusterCritical', ['bestEffort'], [0, 1, 0], null],
  [
    'multiple pods evicted',
    'clusterCritical',
    ['clusterCritical', 'bestEffort', 'burstable', 'highBurstable', 'guaranteed', 'highGuaranteed'],
    [0, 550, 0],
    ['highBurstable', 'highGuaranteed'],
  ],
];

for (const [what, preemptor, input, needs, out] of CHOICES)
  test(`kubelet, pods to preempt: ${what}`, () => {
    const chosen = podsToPreempt(
      pods[preemptor],
      input.map((name) => pods[name]),
      short(...needs),
    );
    if (out === null) assert.ok('problem' in chosen, JSON.stringify(chosen));
    else {
      assert.ok('victims' in chosen, JSON.stringify(chosen));
      const names = (list: readonly Pod[]) => list.map(({ metadata }) => metadata?.name).sort();
      assert.deepEqual(names(chosen.victims), names(out.map((name) => pods[name])));
    }
  });

test('why nobody can make room, in the words of kubelet', () => {
  assert.deepEqual(podsToPreempt(pods.clusterCritical, [pods.burstable], short(200, 0, 2)), {
    problem: 'no set of running pods found to reclaim resources: [(res: cpu, q: 100), (res: pods, q: 1), ]',
  });
});

test('kubelet, distance of requirements', () => {
  assert.equal(distance([], pods.burstable), 0);
  assert.equal(distance(short(100, 100, 1), pods.bestEffort), 2);
  assert.equal(distance(short(100, 100, 1), pods.burstable), 0);
  assert.equal(distance(short(50, 50, 0), pods.burstable), 0);
});

test('kubelet, requirements less a pod', () => {
  assert.deepEqual(lacking([], [pods.burstable]), []);
  assert.deepEqual(lacking(short(100, 100, 1), [pods.bestEffort]), short(100, 100, 0));
  assert.deepEqual(lacking(short(100, 100, 1), [pods.burstable]), []);
  assert.deepEqual(lacking(short(50, 50, 0), [pods.burstable]), []);
  assert.deepEqual(lacking(short(200, 200, 1), [pods.burstable]), short(100, 100, 0));
});

test('kubelet, the smaller request', () => {
  const low = pod('low-memory', '100m', '50Mi');
  const high = pod('high-memory', '100m', '200Mi');
  const cpu = pod('high-cpu', '200m', '50Mi');
  assert.equal(asksForNoMore(low, pod('no-requests')), false);
  assert.equal(asksForNoMore(low, high), true);
  assert.equal(asksForNoMore(high, cpu), false);
  assert.equal(asksForNoMore(low, low), true);
});

test('whoever goes may go, they are enough, and of each class the last one chosen was needed', () => {
  const some = fc.record({
    cpu: fc.nat(400),
    memory: fc.nat(400),
    limited: fc.boolean(),
    priority: fc.constantFrom(undefined, 0, 1_000, 2_000_000_000, 2_000_001_000),
  });
  const needs = fc.tuple(fc.nat(900), fc.nat(900), fc.nat(4));
  fc.assert(
    fc.property(fc.array(some, { maxLength: 12 }), needs, (raw, [cpu, memory, count]) => {
      const all = raw.map((each, i) =>
        pod(`p${i}`, each.cpu > 0 ? `${each.cpu}m` : '', each.memory > 0 ? `${each.memory}Mi` : '', {
          ...(each.limited && { limited: true as const }),
          ...(each.priority !== undefined && { priority: each.priority }),
        }),
      );
      const shortages = short(cpu, memory, count);
      const chosen = podsToPreempt(pods.clusterCritical, all, shortages);
      const mayGo = all.filter(({ spec }) => (spec?.priority ?? 0) < 2_000_000_000);
      if ('problem' in chosen) {
        assert.ok(lacking(shortages, mayGo).length > 0);
        return;
      }
      const { victims } = chosen;
      assert.equal(new Set(victims).size, victims.length);
      for (const victim of victims) assert.ok(mayGo.includes(victim));
      assert.deepEqual(lacking(shortages, victims), []);
      const classes = (list: readonly Pod[]) => [...Map.groupBy(list, podQosClass).values()];
      const least = classes(victims)[0]?.at(-1);
      if (least !== undefined)
        assert.ok(
          lacking(
            shortages,
            victims.filter((each) => each !== least),
          ).length > 0,
          'one more than is needed',
        );
    }),
  );
});

test('requests count as kubelet counts them here: overhead only beside one, and of a pod with resources of its own only these', () => {
  const needs = [{ resource: 'memory', amount: 64 * MIB }];
  const overhead = { cpu: '100m', memory: '64Mi' };
  const idle: Pod = { ...pods.bestEffort, spec: { ...pods.bestEffort.spec, containers: [{ name: 'c' }], overhead } };
  const problem = 'no set of running pods found to reclaim resources: [(res: memory, q: 67108864), ]';
  assert.deepEqual(podsToPreempt(pods.clusterCritical, [idle], needs, AS_KUBELET), { problem });
  assert.deepEqual(podsToPreempt(pods.clusterCritical, [idle], needs), { victims: [idle] });
  const asks: Pod = {
    ...pods.burstable,
    spec: { ...idle.spec, containers: pod('b', '', '1Mi').spec?.containers ?? [] },
  };
  assert.deepEqual(podsToPreempt(pods.clusterCritical, [asks], needs, AS_KUBELET), { victims: [asks] });
  const whole = pod('whole', '', '64Mi');
  const own: Pod = {
    ...whole,
    spec: { containers: whole.spec?.containers ?? [], resources: { requests: { cpu: '1' } } },
  };
  assert.deepEqual(podsToPreempt(pods.clusterCritical, [own], needs, AS_KUBELET), { problem });
});

test('the last pod takes the place of one that was chosen, which decides among equals', () => {
  const chosen = (counting?: typeof AS_KUBELET) => {
    const [a, b, c] = [pod('a', '1', '1Gi'), pod('b', '1', '2Gi'), pod('c', '1', '2Gi')];
    const found = podsToPreempt(pods.clusterCritical, [a, b, c], short(0, 0, 2), counting);
    return 'victims' in found ? found.victims.map(({ metadata }) => metadata?.name) : [];
  };
  assert.deepEqual(chosen(AS_KUBELET), ['a', 'b']);
  assert.deepEqual(chosen(), ['a', 'c']);
});
