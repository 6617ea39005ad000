import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nodeObjectConfigOf } from '../../../actors/cluster/node-object/node-object-config.ts';
import { kubeletConfigurationSchema } from '../../../actors/configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../../../actors/configure/configuration/kubelet-flags.ts';
import { allocatableOf, machineCapacity } from '../../../machines/node-object/node-resources.ts';
import { isExtendedResource } from '../../../machines/values/extended-resource.ts';
import { parseBytes } from '../../../machines/values/quantity.ts';
import { configOf, factsOf } from './facts.ts';

const { machine } = factsOf();

test('pods: maxPods, or podsPerCore when that is less', () => {
  assert.equal(machineCapacity(machine, configOf())['pods'], '110');
  assert.equal(machineCapacity(machine, configOf({ podsPerCore: 10 }))['pods'], '20');
  assert.equal(machineCapacity(machine, configOf({ podsPerCore: 100 }))['pods'], '110');
});

test('huge pages are capacity by size and are taken out of the memory', () => {
  const facts = { ...machine, hugePages: [{ pageBytes: 2 << 20, pages: 8 }] };
  const capacity = machineCapacity(facts, configOf());
  assert.equal(capacity['hugepages-2Mi'], '16Mi');
  const config = configOf({ kubeReserved: {}, evictionHard: {} });
  assert.equal(allocatableOf(capacity, {}, config)['memory'], `${String(24684100 - 16 * 1024)}Ki`);
  assert.equal(allocatableOf(capacity, {}, config)['hugepages-2Mi'], '16Mi');
});

test('thresholds of 0% and 100% keep nothing free; storage needs localStorageCapacityIsolation', () => {
  const bare = configOf({ kubeReserved: {}, systemReserved: {} });
  for (const value of ['0%', '100%']) {
    const config = { ...bare, evictionHard: { 'nodefs.available': value, 'memory.available': value } };
    const capacity = machineCapacity(machine, config);
    assert.deepEqual(allocatableOf(capacity, {}, config), capacity);
  }
  const without = machineCapacity(machine, configOf({ localStorageCapacityIsolation: false }));
  assert.equal('ephemeral-storage' in without, false);
});

test('extended resources of others stay while capacity has them', () => {
  const capacity = { ...machineCapacity(machine, configOf()), 'example.com/gpu': '2' };
  const allocatable = allocatableOf(capacity, { 'example.com/gone': '1', 'example.com/gpu': '1' }, configOf());
  assert.equal(allocatable['example.com/gpu'], '2');
  assert.equal('example.com/gone' in allocatable, false);
  assert.deepEqual(
    ['example.com/gpu', 'cpu', 'hugepages-2Mi', 'attachable-volumes-x', 'scheduling.kubernetes.io/x'].map(
      isExtendedResource,
    ),
    [true, false, false, false, false],
  );
});

test('without a reservation memory is written as the capacity is, also when no 1024 divides it', () => {
  const none = { memory: '0' };
  const config = configOf({ kubeReserved: none, systemReserved: none, evictionHard: { 'memory.available': '0' } });
  const capacity = machineCapacity({ ...machine, memoryBytes: 79_606_436_000 }, config);
  assert.equal(capacity['memory'], '79606436000');
  assert.equal(allocatableOf(capacity, {}, config)['memory'], '79606436000');
});

test('allocatable is capacity less all reservations and never negative', () => {
  const amount = fc.integer({ min: 0, max: 2 ** 40 });
  fc.assert(
    fc.property(amount, amount, amount, amount, (memoryBytes, kube, system, eviction) => {
      const config = configOf({
        kubeReserved: { memory: String(kube) },
        systemReserved: { memory: String(system) },
        evictionHard: { 'memory.available': String(eviction) },
      });
      const capacity = machineCapacity({ ...machine, memoryBytes }, config);
      const { memory = '' } = allocatableOf(capacity, {}, config);
      assert.equal(parseBytes(memory), Math.max(0, memoryBytes - kube - system - eviction));
      assert.match(memory, /^\d+([KMGTP]i)?$/);
    }),
  );
});

test('--experimental-allocatable-ignore-eviction: what eviction keeps free is not taken off', () => {
  const given = kubeletConfigurationSchema.parse({ evictionHard: { 'memory.available': '100Mi' } });
  const flags = { nodeLabels: {}, cloudProvider: '' } as unknown as KubeletFlags;
  const memory = (experimentalAllocatableIgnoreEviction: boolean) => {
    const config = nodeObjectConfigOf('n', given, { ...flags, experimentalAllocatableIgnoreEviction });
    return parseBytes(allocatableOf({ memory: '1Gi' }, {}, config)['memory'] ?? '');
  };
  assert.deepEqual([memory(true), memory(false)], [2 ** 30, 2 ** 30 - 100 * 2 ** 20]);
});
