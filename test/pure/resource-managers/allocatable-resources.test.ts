import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_DEVICES } from '../../../machines/devices/device-state.ts';
import {
  allocatableResources,
  alphaPodResources,
  podResources,
} from '../../../machines/pod-resources-api/pod-resources.ts';
import type { PodResourcesFacts } from '../../../machines/pod-resources-api/pod-resources.ts';
import { uidTable } from '../../../machines/supervisor/uid-table.ts';

const table = (allocatable: number) => ({
  ...{ total: allocatable, systemReserved: 0, allocatable, reserved: 0, free: allocatable },
});

test('GetAllocatableResources names no huge pages of a size that the machine has none of', () => {
  const memoryMap = { memory: table(4_096), 'hugepages-2Mi': table(16_777_216), 'hugepages-1Gi': table(0) };
  const resources = { memory: { nodes: [{ id: 0, numberOfAssignments: 0, memoryMap, cells: [0] }] } };
  const facts = { devices: null, resources, ground: null, claims: null, extended: false };
  assert.deepEqual(
    allocatableResources(facts as unknown as PodResourcesFacts).memory.map(({ memoryType, size }) => [
      memoryType,
      size,
    ]),
    [
      ['memory', '4096'],
      ['hugepages-2Mi', '16777216'],
    ],
  );
});

test('a pod that has ended is listed with its containers, and has no devices any more', () => {
  const response = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };
  const grants = uidTable([['u', { c: { 'example.com/gpu': { ids: { '-1': ['a'] }, response } } }]]);
  const pod = { metadata: { uid: 'u', name: 'p', namespace: 'ns' }, spec: { containers: [{ name: 'c' }] } };
  const devices = (active: string[]) => {
    const facts: PodResourcesFacts = {
      ...{ devices: { ...NO_DEVICES, grants }, resources: null, ground: null, claims: null, extended: false },
      active: new Set(active),
    };
    return [podResources(pod, facts), alphaPodResources(pod, facts)].map(({ containers: [first] }) => [
      first?.name,
      first?.devices.map(({ deviceIds }) => deviceIds.join()).join(),
    ]);
  };
  assert.deepEqual(devices(['u']), [
    ['c', 'a'],
    ['c', 'a'],
  ]);
  assert.deepEqual(devices([]), [
    ['c', ''],
    ['c', ''],
  ]);
});
