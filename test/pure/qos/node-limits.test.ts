import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import {
  kubepodsLimits,
  reservedLimits,
  unboundedHugePages,
  unreserved,
  unreservedMemory,
} from '../../../machines/qos/node-limits.ts';
import { podCgroup, qosCgroups } from '../../../machines/qos/pod-cgroup.ts';
import { nodeSettings } from './node-settings.ts';

const CAPACITY = { cpu: '4', memory: '8Gi', pid: '32768', 'hugepages-2Mi': '64Mi', 'ephemeral-storage': '1Ti' };
const SIZES = ['1GB', '2MB'];
const RESERVED = { systemReserved: { cpu: '500m', memory: '1Gi', pid: '1000' }, kubeReserved: { memory: '512Mi' } };

test('all pods together: what the machine has, less what is reserved where that is enforced', () => {
  assert.deepEqual(kubepodsLimits(CAPACITY, { ...RESERVED, enforceNodeAllocatable: ['pods'] }, SIZES), {
    memoryLimitBytes: 8 * 2 ** 30 - 1.5 * 2 ** 30,
    cpuShares: 3584,
    pidsLimit: 31_768,
    hugepageLimits: { '1GB': 2 ** 62, '2MB': 2 ** 62 },
  });
  const { memoryLimitBytes, cpuShares } = kubepodsLimits(
    CAPACITY,
    { ...RESERVED, enforceNodeAllocatable: ['none'] },
    SIZES,
  );
  assert.deepEqual([memoryLimitBytes, cpuShares], [8 * 2 ** 30, 4096]);
  assert.equal(unreservedMemory(CAPACITY, RESERVED), 6.5 * 2 ** 30);
  const all = unreserved(CAPACITY, RESERVED);
  assert.deepEqual(all, { cpuMilli: 3_500, memoryBytes: 6.5 * 2 ** 30 }, 'huge pages are part of it');
});

test('what is reserved beyond the machine leaves nothing, and no limit below zero', () => {
  const greedy = { systemReserved: { cpu: '9', memory: '9Gi' }, kubeReserved: {}, enforceNodeAllocatable: ['pods'] };
  assert.deepEqual(kubepodsLimits({ cpu: '4', memory: '8Gi' }, greedy, []), {
    memoryLimitBytes: 0,
    cpuShares: 2,
    hugepageLimits: {},
  });
});

test('a reserved cgroup: what is reserved for it, or its cpu alone', () => {
  const reserved = { cpu: '200m', memory: '100Mi', pid: '500' };
  assert.deepEqual(reservedLimits(reserved, ['2MB'], { compressible: false }), {
    memoryLimitBytes: 100 << 20,
    cpuShares: 204,
    pidsLimit: 500,
    hugepageLimits: { '2MB': 0 },
  });
  assert.deepEqual(reservedLimits(reserved, ['2MB'], { compressible: true }), { cpuShares: 204 });
  assert.deepEqual(reservedLimits({ memory: '1Gi' }, [], { compressible: true }), {});
  assert.equal(reservedLimits({}, [], { compressible: false }), null);
  const kept = { compressible: false, kept: true };
  assert.deepEqual(reservedLimits({ memory: '1Gi' }, [], kept)?.unified, { 'memory.min': '1073741824' });
  assert.equal(reservedLimits({ cpu: '1' }, [], kept)?.unified, undefined);
  assert.deepEqual(unboundedHugePages(['2MB']), { hugepageLimits: { '2MB': 2 ** 62 } });
});

test('where pods are by class: of either driver, below a root, or nowhere', () => {
  const at = (cgroupRoot: string, cgroupDriver: 'systemd' | 'cgroupfs') =>
    qosCgroups({ cgroupRoot, cgroupDriver, cgroupsPerQOS: true });
  assert.deepEqual(at('/', 'systemd'), {
    kubepods: '/kubepods.slice',
    burstable: '/kubepods.slice/kubepods-burstable.slice',
    bestEffort: '/kubepods.slice/kubepods-besteffort.slice',
  });
  assert.equal(at('/a', 'systemd')?.burstable, '/a.slice/a-kubepods.slice/a-kubepods-burstable.slice');
  assert.equal(at('/a', 'cgroupfs')?.bestEffort, '/a/kubepods/besteffort');
  assert.equal(qosCgroups({ cgroupRoot: '/', cgroupDriver: 'systemd', cgroupsPerQOS: false }), null);
});

test('a pod’s cgroup: huge pages by its requests, and memory kept with MemoryQoS; neither in logs of before', () => {
  const resources = { memory: '64Mi', 'hugepages-2Mi': '4Mi' };
  const pod = {
    metadata: { name: 'a', uid: 'u' },
    spec: { containers: [{ name: 'c', resources: { requests: resources, limits: resources } }] },
  };
  const settings = nodeSettings({
    behaviour: [...ALL_BEHAVIOUR],
    hugePageSizes: SIZES,
    memoryQoS: { throttlingFactor: 0.9, pageBytes: 4096, unreservedBytes: 0 },
  });
  const cgroup = podCgroup(pod, settings);
  assert.deepEqual(cgroup.hugepageLimits, { '1GB': 0, '2MB': 4 << 20 });
  assert.deepEqual(cgroup.unified, { 'memory.min': String(64 << 20) });
  const before = podCgroup(pod, nodeSettings({ hugePageSizes: SIZES, behaviour: [] }));
  assert.deepEqual([before.hugepageLimits, before.unified], [undefined, undefined]);
});
