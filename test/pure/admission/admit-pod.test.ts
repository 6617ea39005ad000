import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { admitPod } from '../../../machines/admission/admit-pod.ts';
import type { AdmissionInput } from '../../../machines/admission/admit-pod.ts';
import { usageOf } from '../../../machines/admission/node-usage.ts';
import { rejectionLabel } from '../../../machines/admission/rejection.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { container, input, node, pod } from './admission-input.ts';

interface Case {
  name: string;
  pod: Pod;
  with?: Partial<AdmissionInput>;
  /** Absent: admitted. */
  refused?: [reason: string, message: string];
}

const OTHERS = usageOf([
  pod('a', { containers: [container('main', { cpu: '1500m', memory: '1Gi', 'example.com/gpu': '1' })] }),
  pod('b', { containers: [container('main', { cpu: '500m' }, { ports: [{ containerPort: 80, hostPort: 80 }] })] }),
]);
const AFFINITY = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
const short = (resource: string, requested: number, used: number, capacity: number): string =>
  `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
const asking = (requests: Record<string, string>): Pod => pod('c', { containers: [container('main', requests)] });
const noExecute = { spec: { taints: [{ key: 'out', effect: 'NoExecute' }] } };
const fromFile = { annotations: { 'kubernetes.io/config.source': 'file' } };

const whole = pod('c', { containers: [container('main', { cpu: '1' })], resources: { requests: { cpu: '5' } } });

const CASES: Case[] = [
  {
    name: 'resources of a pod as a whole without their gate: its containers count',
    pod: whole,
    with: { noPodLevelResources: true },
    refused: ['PodLevelResourcesNotSupported', 'PodLevelResources feature gate is disabled'],
  },
  { name: 'the same with it', pod: whole, refused: ['OutOfcpu', short('cpu', 5000, 0, 4000)] },
  {
    name: 'resources of a pod as a whole that kubelet does not know',
    pod: pod('c', { containers: [container('main')], resources: { requests: { 'example.com/gpu': '1' } } }),
    with: { noPodLevelResources: true },
  },
  { name: 'a pod that asks for nothing', pod: pod('c') },
  { name: 'what just fits', pod: asking({ cpu: '2', memory: '7Gi' }), with: { usage: OTHERS } },
  {
    name: 'too much cpu',
    pod: asking({ cpu: '2001m', memory: '9Gi' }),
    with: { usage: OTHERS },
    refused: ['OutOfcpu', short('cpu', 2001, 2000, 4000)],
  },
  {
    name: 'too much memory',
    pod: asking({ memory: '7.5Gi' }),
    with: { usage: OTHERS },
    refused: ['OutOfmemory', short('memory', 8053063680, 1073741824, 8589934592)],
  },
  {
    name: 'too much ephemeral storage',
    pod: asking({ 'ephemeral-storage': '11Gi' }),
    refused: ['OutOfephemeral-storage', short('ephemeral-storage', 11811160064, 0, 10737418240)],
  },
  {
    name: 'too many of an extended resource',
    pod: asking({ 'example.com/gpu': '2' }),
    with: { usage: OTHERS },
    refused: ['OutOfexample.com/gpu', short('example.com/gpu', 2, 1, 2)],
  },
  { name: 'an extended resource of the cluster, not of nodes', pod: asking({ 'example.com/licence': '7' }) },
  {
    name: 'huge pages of a size that the node lacks',
    pod: asking({ 'hugepages-1Gi': '1Gi' }),
    refused: ['OutOfhugepages-1Gi', short('hugepages-1Gi', 1073741824, 0, 0)],
  },
  {
    name: 'the sixth pod on a node for five',
    pod: pod('c'),
    with: { usage: usageOf(['1', '2', '3', '4', '5'].map((name) => pod(name))) },
    refused: ['OutOfpods', short('pods', 1, 5, 5)],
  },
  {
    name: 'the fifth pod, counted already',
    pod: pod('5'),
    with: { usage: usageOf(['1', '2', '3', '4', '5'].map((name) => pod(name))) },
  },
  {
    name: 'an init container that asks more than all others',
    pod: pod('c', { initContainers: [container('init', { cpu: '5' })] }),
    refused: ['OutOfcpu', short('cpu', 5000, 0, 4000)],
  },
  {
    name: 'sidecar, container and overhead together',
    pod: pod('c', {
      initContainers: [container('side', { cpu: '2' }, { restartPolicy: 'Always' })],
      containers: [container('main', { cpu: '1500m' })],
      overhead: { cpu: '501m' },
    }),
    refused: ['OutOfcpu', short('cpu', 4001, 0, 4000)],
  },
  {
    name: "a pod's own request instead of its containers'",
    pod: pod('c', { containers: [container('main', { cpu: '1' })], resources: { requests: { cpu: '5' } } }),
    refused: ['OutOfcpu', short('cpu', 5000, 0, 4000)],
  },
  {
    name: 'a label that the node has',
    pod: pod('c', { nodeSelector: { disk: 'ssd' } }),
    with: { node: node({ labels: { disk: 'ssd' } }) },
  },
  {
    name: 'a label that it has not',
    pod: pod('c', { nodeSelector: { disk: 'ssd' } }),
    refused: ['NodeAffinity', AFFINITY],
  },
  {
    name: 'the name of another node',
    pod: pod('c', { nodeName: 'node-2' }),
    refused: ['NodeName', "Predicate NodeName failed: node(s) didn't match the requested node name"],
  },
  {
    name: 'a port of the node that is taken',
    pod: pod('c', {
      containers: [container('main', {}, { ports: [{ containerPort: 8080, hostPort: 80, hostIP: '10.0.0.1' }] })],
    }),
    with: { usage: OTHERS },
    refused: ['NodePorts', "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"],
  },
  {
    name: 'a taint that it does not bear',
    pod: pod('c'),
    with: { node: node(noExecute) },
    refused: ['TaintToleration', "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"],
  },
  {
    name: 'a taint that it bears',
    pod: pod('c', { tolerations: [{ operator: 'Exists' }] }),
    with: { node: node(noExecute) },
  },
  {
    name: 'a taint that it bears by comparison, where that is on',
    pod: pod('c', { tolerations: [{ key: 'load', operator: 'Lt', value: '9' }] }),
    with: {
      node: node({ spec: { taints: [{ key: 'load', value: '7', effect: 'NoExecute' }] } }),
      taintComparison: true,
    },
  },
  {
    name: 'a device of a class that a driver would give, where drivers give none',
    pod: asking({ 'deviceclass.resource.kubernetes.io/gpu': '1' }),
    refused: ['OutOfdeviceclass.resource.kubernetes.io/gpu', short('deviceclass.resource.kubernetes.io/gpu', 1, 0, 0)],
  },
  {
    name: 'the same where drivers give them',
    pod: asking({ 'deviceclass.resource.kubernetes.io/gpu': '1' }),
    with: { driversGiveResources: true },
  },
  {
    name: 'a resource whose device plugin has none left, where drivers may give it',
    pod: asking({ 'example.com/gpu': '1' }),
    with: {
      node: node({ status: { allocatable: { cpu: '4', pods: '9', 'example.com/gpu': '0' } } }),
      driversGiveResources: true,
    },
  },
  {
    name: 'more of a resource than its device plugin has, where drivers may give it',
    pod: asking({ 'example.com/gpu': '2' }),
    with: {
      node: node({ status: { allocatable: { cpu: '4', pods: '9', 'example.com/gpu': '1' } } }),
      driversGiveResources: true,
    },
    refused: ['OutOfexample.com/gpu', short('example.com/gpu', 2, 0, 1)],
  },
  { name: 'a static pod on a tainted node', pod: pod('c', {}, fromFile), with: { node: node(noExecute) } },
  {
    name: 'a taint that only keeps new pods away',
    pod: pod('c'),
    with: { node: node({ spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }) },
  },
  {
    name: 'an OS label of another OS',
    pod: pod('c', {}, { labels: { 'kubernetes.io/os': 'windows' } }),
    refused: [
      'PodOSSelectorNodeLabelDoesNotMatch',
      "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    ],
  },
  {
    name: 'another OS',
    pod: pod('c', { os: { name: 'windows' } }),
    refused: ['PodOSNotSupported', "Failed to admit pod as the OS field doesn't match node OS"],
  },
  {
    name: 'this OS',
    pod: pod('c', { os: { name: 'linux' }, nodeSelector: { 'kubernetes.io/os': 'linux' } }),
    with: { node: node({ labels: { 'kubernetes.io/os': 'plan9' } }) },
  },
  {
    name: 'strict supplemental groups where the runtime has them not',
    pod: pod('c', { securityContext: { supplementalGroupsPolicy: 'Strict' } }),
    refused: ['SupplementalGroupsPolicyNotSupported', 'SupplementalGroupsPolicy=Strict is not supported in this node'],
  },
  {
    name: 'strict supplemental groups where it has them',
    pod: pod('c', { securityContext: { supplementalGroupsPolicy: 'Strict' } }),
    with: { node: node({ status: { features: { supplementalGroupsPolicy: true } } }) },
  },
  {
    name: 'a sysctl that is not safe, before all else',
    pod: pod('c', { os: { name: 'windows' }, securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }),
    refused: ['SysctlForbidden', 'forbidden sysctl: "kernel.msgmax" not allowlisted'],
  },
  {
    name: 'AppArmor on a node without',
    pod: pod('c', { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }),
    refused: ['AppArmor', 'Cannot enforce AppArmor: AppArmor is not enabled on the host'],
  },
  {
    name: 'AppArmor on a node without, but running already',
    pod: {
      ...pod('c', { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }),
      status: { phase: 'Running' },
    },
  },
];

describe('admitPod', () => {
  for (const each of CASES) {
    test(`${each.refused ? 'refuses' : 'admits'} ${each.name}`, () => {
      const answer = admitPod(input(each.pod, each.with));
      assert.deepEqual(answer.admit ? undefined : [answer.reason, answer.message], each.refused);
    });
  }

  test('resources are told before all other misfits, and only the first', () => {
    const wrong = pod('c', {
      nodeName: 'x',
      nodeSelector: { a: 'b' },
      containers: [container('main', { cpu: '9', memory: '90Gi' })],
    });
    const answer = admitPod(input(wrong));
    assert.equal(answer.admit, false);
    assert.equal(answer.reason, 'OutOfcpu');
    assert.equal(answer.retryWithFreshNode, undefined);
  });

  test('where only labels are in the way it asks to look at the node again', () => {
    const answer = admitPod(input(pod('c', { nodeSelector: { a: 'b' } })));
    assert.ok(!answer.admit && answer.retryWithFreshNode);
    const both = admitPod(input(pod('c', { nodeSelector: { a: 'b' }, nodeName: 'x' })));
    assert.ok(!both.admit && !both.retryWithFreshNode);
  });

  test('for a critical pod it says what must be freed, unless something else is in the way', () => {
    const critical = { priority: 2_000_000_000, containers: [container('main', { cpu: '3', memory: '8Gi' })] };
    const answer = admitPod(input(pod('c', critical), { usage: OTHERS }));
    assert.ok(!answer.admit);
    assert.equal(answer.reason, 'OutOfcpu');
    assert.deepEqual(answer.preempt, [
      { resource: 'cpu', amount: 1000 },
      { resource: 'memory', amount: 1073741824 },
    ]);
    const other = admitPod(input(pod('c', { ...critical, nodeSelector: { a: 'b' } }), { usage: OTHERS }));
    assert.ok(!other.admit);
    assert.equal(other.reason, 'NodeAffinity');
    assert.equal(other.preempt, undefined);
    const common = admitPod(input(pod('c', { ...critical, priority: 5 }), { usage: OTHERS }));
    assert.ok(!common.admit && !common.preempt);
  });

  test('without a node object the settings of the agent count', () => {
    const standalone = { node: null, maxPods: 1 };
    const selecting = pod('c', { nodeSelector: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': 'node-1' } });
    assert.equal(admitPod(input(selecting, standalone)).admit, true);
    const much = admitPod(input(asking({ memory: '7169Mi' }), standalone));
    assert.ok(!much.admit);
    assert.equal(much.message, short('memory', 7517241344, 0, 7516192768));
    const second = admitPod(input(pod('c'), { ...standalone, usage: usageOf([pod('a')]) }));
    assert.ok(!second.admit);
    assert.equal(second.reason, 'OutOfpods');
  });

  test('a node that has no status yet is taken for what the agent knows', () => {
    const bare = node();
    delete bare.status;
    assert.equal(admitPod(input(asking({ cpu: '4' }), { node: bare })).admit, true);
    assert.equal(admitPod(input(asking({ cpu: '5' }), { node: bare })).admit, false);
  });
});

test('rejectionLabel keeps the metric small', () => {
  assert.equal(rejectionLabel('OutOfcpu'), 'OutOfcpu');
  assert.equal(rejectionLabel('OutOfexample.com/gpu'), 'OutOfExtendedResources');
  assert.equal(rejectionLabel('SysctlForbidden'), 'SysctlForbidden');
  assert.equal(rejectionLabel('NodeAffinity'), 'Other');
});
