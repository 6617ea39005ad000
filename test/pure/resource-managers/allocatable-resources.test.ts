import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocatableResources } from '../../../machines/pod-resources-api/pod-resources.ts';
import type { PodResourcesFacts } from '../../../machines/pod-resources-api/pod-resources.ts';

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
