import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { CgroupLimits } from '../../../machines/cgroups/cgroup-limits.ts';
import { cpuSetBits } from '../../../machines/cgroups/cpu-set.ts';
import { expandSlice, parentSlice, podUidOfCgroup, sliceOfPath } from '../../../machines/cgroups/slice-names.ts';
import { unifiedWrites } from '../../../machines/cgroups/unified-files.ts';
import { limitProperties, roundedLimits, sliceProperties } from '../../../machines/cgroups/unit-properties.ts';
import type { UnitProperty } from '../../../machines/cgroups/unit-properties.ts';

interface Vectors {
  limits: {
    limits: CgroupLimits;
    properties: { name: string; type: string; value: string }[];
    files: Record<string, string>;
  }[];
  slices: { slice: string; path: string; valid: boolean }[];
}

/** What github.com/opencontainers/cgroups v0.0.3, that of kubelet 1.35, makes of limits with systemd 252; recorded by a Go test in a copy of that module, as its functions are not exported. */
const vectors = JSON.parse(readFileSync(new URL('./libcontainer-vectors.json', import.meta.url), 'utf8')) as Vectors;
const CONTROLLERS = ['cpu', 'cpuset', 'memory', 'pids', 'hugetlb'];

/** A value as Go's D-Bus library prints it. */
function printed([name, type, value]: UnitProperty): Vectors['limits'][number]['properties'][number] {
  if (type === 't') return { name, type, value: `@t ${value}` };
  assert.equal(type, 'ay');
  return { name, type, value: `@ay [${(value as number[]).map((byte) => `0x${byte.toString(16)}`).join(', ')}]` };
}

test('limits become libcontainer’s properties of units, and its files', () => {
  assert.ok(vectors.limits.length >= 20);
  for (const { limits, properties, files } of vectors.limits) {
    const what = JSON.stringify(limits);
    assert.deepEqual(limitProperties(limits, 2).map(printed), properties, what);
    const writes = unifiedWrites(roundedLimits(limits), CONTROLLERS);
    const written = Object.fromEntries(writes.map(({ file, value }) => [file, value]));
    assert.deepEqual(written, files, what);
  }
});

test('v1 has properties of its own for memory and shares, and no files of v2', () => {
  assert.deepEqual(limitProperties({ cpuShares: 512, memoryLimitBytes: 4096, unified: { 'memory.min': '1' } }, 1), [
    ['MemoryLimit', 't', 4096n],
    ['CPUShares', 't', 512n],
  ]);
  const accounting = (version: 1 | 2) =>
    sliceProperties('a-b.slice', 'a.slice', version).filter(([name]) => name.includes('IO'));
  assert.deepEqual([accounting(1), accounting(2)], [[['BlockIOAccounting', 'b', true]], [['IOAccounting', 'b', true]]]);
});

test('without the hugetlb controller nothing is written of huge pages', () => {
  assert.deepEqual(unifiedWrites({ hugepageLimits: { '2MB': 0 } }, ['memory']), []);
});

test('unbounded huge pages are kubelet’s 2^62 to the digit', () => {
  const [write] = unifiedWrites({ hugepageLimits: { '2MB': 2 ** 62 } }, CONTROLLERS);
  assert.deepEqual(write, { file: 'hugetlb.2MB.max', value: '4611686018427387904' });
});

test('slices expand as libcontainer’s do', () => {
  for (const { slice, path, valid } of vectors.slices) {
    if (!valid) {
      assert.throws(() => expandSlice(slice), RangeError, slice);
      continue;
    }
    assert.equal(expandSlice(slice), path);
    assert.equal(sliceOfPath(path), slice);
    if (slice !== '-.slice') assert.equal(expandSlice(parentSlice(slice)), path.slice(0, path.lastIndexOf('/')) || '/');
  }
});

test('lists of processors as bits: empty and wrong ones are refused', () => {
  assert.deepEqual(cpuSetBits('0-3,8'), [0x0f, 0x01]);
  assert.deepEqual(cpuSetBits('17'), [0, 0, 0x02]);
  for (const list of ['', ',', '3-1', 'a', '1-', '-1']) assert.throws(() => cpuSetBits(list), RangeError, list);
});

test('the UID in the name of a cgroup of a pod, of either driver', () => {
  const uid = '0f3c1c7e-1111-2222-3333-444455556666';
  const slice = uid.replaceAll('-', '_');
  assert.equal(podUidOfCgroup(`/kubepods/burstable/pod${uid}`), uid);
  assert.equal(podUidOfCgroup(`pod${uid}`), uid);
  assert.equal(podUidOfCgroup(`/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod${slice}.slice`), uid);
  assert.equal(podUidOfCgroup(`/kubepods.slice/kubepods-pod${slice}.slice`), uid);
  assert.equal(podUidOfCgroup(`/a.slice/a-kubepods.slice/a-kubepods-pod${slice}.slice`), uid);
  for (const other of ['/kubepods/burstable', '/kubepods/pod', '/kubepods.slice', '/podman.slice', '/'])
    assert.equal(podUidOfCgroup(other), undefined, other);
  assert.equal(podUidOfCgroup('/kubepods.slice/kubepods-burstable.slice'), undefined);
});
