import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialNode } from '../../../machines/node-object/initial-node.ts';
import { adoptNode } from '../../../machines/node-object/compare-node.ts';
import type { NodeFacts } from '../../../machines/node-object/set-node-status.ts';
import { reconcileNode } from '../../../machines/node-object/reconcile-node.ts';
import { setNodeStatus } from '../../../machines/node-object/set-node-status.ts';
import { configOf, factsOf } from './facts.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

test('the registered node is what kubelet v1.35.4 makes of the same machine', () => {
  const { node, events } = initialNode(configOf(), factsOf(), NOW);
  assert.deepEqual(node.metadata, {
    name: 'node1',
    labels: {
      'kubernetes.io/hostname': 'node1',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'beta.kubernetes.io/os': 'linux',
      'beta.kubernetes.io/arch': 'amd64',
      a: 'b',
    },
    annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
  });
  assert.deepEqual(node.spec, {});
  const { conditions, ...status } = node.status ?? {};
  // Quantities as the reference kubelet reported them with these settings on this machine.
  assert.deepEqual(status, {
    capacity: {
      cpu: '2',
      'ephemeral-storage': '264212084Ki',
      'hugepages-1Gi': '0',
      'hugepages-2Mi': '0',
      memory: '24684100Ki',
      pods: '110',
    },
    allocatable: {
      cpu: '1900m',
      'ephemeral-storage': '242424114388',
      'hugepages-1Gi': '0',
      'hugepages-2Mi': '0',
      memory: '24479300Ki',
      pods: '110',
    },
    addresses: [
      { type: 'InternalIP', address: '192.0.2.2' },
      { type: 'Hostname', address: 'node1' },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    features: { supplementalGroupsPolicy: true },
    runtimeHandlers: [{ name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
    nodeInfo: {
      machineID: 'm1',
      systemUUID: 'u1',
      bootID: 'b1',
      kernelVersion: '6.1',
      osImage: 'Debian GNU/Linux 12 (bookworm)',
      containerRuntimeVersion: 'containerd://1.6.20',
      kubeletVersion: 'v1.35.4-actorlet',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  });
  const at = '2026-01-02T03:04:05Z';
  assert.deepEqual(
    conditions?.map((c) => [c.type, c.status, c.reason, c.message, c.lastHeartbeatTime, c.lastTransitionTime]),
    [
      ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available', at, at],
      ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure', at, at],
      ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available', at, at],
      ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status', at, at],
    ],
  );
  assert.deepEqual(
    events.map((e) => `${e.type} ${e.reason} ${e.message}`),
    ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady'].map(
      (reason) => `Normal ${reason} Node node1 status is now: ${reason}`,
    ),
  );
});

test('taints, provider, labels and attach-detach come from the settings', () => {
  const config = configOf({
    labels: { 'kubernetes.io/arch': 'mine', zone: 'z' },
    taints: [{ key: 'dedicated', value: 'x', effect: 'NoExecute' }],
    externalCloudProvider: true,
    providerID: 'cloud:///1',
    enableControllerAttachDetach: false,
  });
  const addresses = { hostname: 'node1', externalCloudProvider: true, given: ['192.0.2.9'], found: null };
  const { node } = initialNode(config, factsOf({ addresses }), NOW);
  assert.deepEqual(node.spec, {
    taints: [
      { key: 'dedicated', value: 'x', effect: 'NoExecute' },
      { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
    ],
    providerID: 'cloud:///1',
  });
  assert.equal(node.metadata?.labels?.['kubernetes.io/arch'], 'mine');
  assert.deepEqual(node.metadata?.annotations, { 'alpha.kubernetes.io/provided-node-ip': '192.0.2.9' });
});

test('an existing object: default labels put right, others kept; huge pages and extended resources reconciled', () => {
  const initial = initialNode(configOf(), factsOf(), NOW).node;
  const existing = {
    metadata: {
      name: 'node1',
      labels: { 'kubernetes.io/hostname': 'old', 'node-role.kubernetes.io/worker': '', a: 'changed-by-hand' },
      annotations: { mine: '1' },
    },
    spec: { unschedulable: true },
    status: {
      capacity: { cpu: '64', 'example.com/gpu': '4', 'hugepages-64Ki': '1Gi', memory: '1Gi' },
      allocatable: { cpu: '64', 'example.com/gpu': '4', 'hugepages-64Ki': '1Gi', memory: '1Gi' },
    },
  };
  const before = structuredClone(existing);
  const node = reconcileNode(initial, existing, true);
  assert.deepEqual(existing, before);
  assert.equal(node.metadata?.labels?.['kubernetes.io/hostname'], 'node1');
  assert.equal(node.metadata?.labels?.['kubernetes.io/os'], 'linux');
  assert.equal(node.metadata?.labels?.['node-role.kubernetes.io/worker'], '');
  assert.equal(node.metadata?.labels?.['a'], 'changed-by-hand');
  assert.deepEqual(node.metadata?.annotations, {
    mine: '1',
    'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
  });
  assert.equal(node.status?.capacity?.['example.com/gpu'], '0');
  assert.equal(node.status?.allocatable?.['example.com/gpu'], '0');
  assert.equal('hugepages-64Ki' in (node.status?.capacity ?? {}), false);
  assert.equal('hugepages-64Ki' in (node.status?.allocatable ?? {}), false);
  assert.equal(node.status?.capacity?.['hugepages-2Mi'], '0');
  assert.equal(node.spec?.unschedulable, true);
  assert.equal(
    reconcileNode(initialNode(configOf({ enableControllerAttachDetach: false }), factsOf(), NOW).node, node, true)
      .metadata?.annotations?.['volumes.kubernetes.io/controller-managed-attach-detach'],
    undefined,
  );
});

test('extended resources are taken from a node only where its machine is a new one', () => {
  const amounts = { capacity: { 'example.com/gpu': '4' }, allocatable: { 'example.com/gpu': '4' } };
  const existing = { metadata: { name: 'node1' }, status: amounts };
  const adopted = (devices: NodeFacts['devices']) => {
    const facts = factsOf({ ...(devices && { devices }) });
    const { patch } = adoptNode(initialNode(configOf(), facts, NOW).node, existing, configOf(), facts, NOW);
    const { capacity, allocatable } = patch?.['status'] as Record<string, Record<string, string>>;
    return [capacity?.['example.com/gpu'], allocatable?.['example.com/gpu']];
  };
  const none = { capacity: {}, allocatable: {} };
  assert.deepEqual(adopted(undefined), [undefined, undefined]);
  assert.deepEqual(adopted(none), [undefined, undefined]);
  assert.deepEqual(adopted({ ...none, machineIsNew: true }), ['0', '0']);
});

test('a reboot is told once the boot id differs from the one in the object', () => {
  const { node } = initialNode(configOf(), factsOf(), NOW);
  const facts = factsOf();
  assert.deepEqual(setNodeStatus(node, configOf(), facts, NOW).events, []);
  const booted = { ...facts, machine: { ...facts.machine, bootID: 'b2' } };
  assert.deepEqual(setNodeStatus(node, configOf(), booted, NOW).events, [
    { type: 'Warning', reason: 'Rebooted', message: 'Node node1 has been rebooted, boot id: b2' },
  ]);
});
