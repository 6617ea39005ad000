import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withContainerFs } from '../../../machines/eviction/container-fs-thresholds.ts';
import { observe, signalText, thresholdsMet } from '../../../machines/eviction/observations.ts';
import type { Signal } from '../../../machines/eviction/signals.ts';
import { amountText, parseThresholds } from '../../../machines/eviction/thresholds.ts';
import type { Threshold, ThresholdConfig } from '../../../machines/eviction/thresholds.ts';

const NOTHING: ThresholdConfig = {
  enforceNodeAllocatable: [],
  evictionHard: {},
  evictionSoft: {},
  evictionSoftGracePeriod: {},
  evictionMinimumReclaim: {},
};
const parse = (config: Partial<ThresholdConfig>) => parseThresholds({ ...NOTHING, ...config });
/** As a 32-bit float of a percentage. */
const share = (percent: number) => ({ share: Math.fround(Math.fround(percent) / 100) });

describe('thresholds of a configuration (kubelet TestParseThresholdConfig)', () => {
  it('none', () => assert.deepEqual(parse({}), []));

  it('memory, with a copy for all pods together', () => {
    const minReclaim = { quantity: '0' };
    assert.deepEqual(
      parse({
        enforceNodeAllocatable: ['pods'],
        evictionHard: { 'memory.available': '150Mi' },
        evictionSoft: { 'memory.available': '300Mi' },
        evictionSoftGracePeriod: { 'memory.available': '30s' },
        evictionMinimumReclaim: { 'memory.available': '0' },
      }),
      [
        { signal: 'memory.available', value: { quantity: '150Mi' }, graceMs: 0, minReclaim },
        { signal: 'memory.available', value: { quantity: '300Mi' }, graceMs: 30_000, minReclaim },
        { signal: 'allocatableMemory.available', value: { quantity: '150Mi' }, graceMs: 0, minReclaim },
      ],
    );
  });

  it('percentages', () => {
    assert.deepEqual(
      parse({
        evictionHard: { 'imagefs.available': '15%', 'nodefs.available': '10.5%' },
        evictionSoft: { 'nodefs.available': '20.5%' },
        evictionSoftGracePeriod: { 'nodefs.available': '30s' },
        evictionMinimumReclaim: { 'imagefs.available': '10%', 'nodefs.available': '5%' },
      }),
      [
        { signal: 'imagefs.available', value: share(15), graceMs: 0, minReclaim: share(10) },
        { signal: 'nodefs.available', value: share(10.5), graceMs: 0, minReclaim: share(5) },
        { signal: 'nodefs.available', value: share(20.5), graceMs: 30_000, minReclaim: share(5) },
      ],
    );
  });

  it('0% and 100% are off', () => {
    const off = { 'memory.available': '0%', 'nodefs.available': '100%' };
    assert.deepEqual(parse({ evictionHard: off, evictionSoft: off }), []);
  });
});

describe('thresholds of containerfs (kubelet TestAddContainerFsThresholds)', () => {
  const node: Threshold = { signal: 'nodefs.available', value: { quantity: '100Mi' }, graceMs: 0 };
  const nodeSoft: Threshold = { signal: 'nodefs.available', value: { quantity: '200Mi' }, graceMs: 30_000 };
  const image: Threshold = {
    ...{ signal: 'imagefs.available', value: { quantity: '150Mi' }, graceMs: 0 },
    minReclaim: { quantity: '1Gi' },
  };
  const imageInodes: Threshold = { signal: 'imagefs.inodesFree', value: { quantity: '100Mi' }, graceMs: 0 };
  const all = [node, nodeSoft, image, imageInodes];
  const off = (signal: Signal): Threshold => ({ signal, value: { share: 0 }, graceMs: 0 });
  const added = (imageFs: boolean, splitFs: boolean) => withContainerFs(all, { imageFs, splitFs }).slice(all.length);

  it('are those of nodefs on one disk, and where images are apart from layers', () => {
    const expected = [
      { ...node, signal: 'containerfs.available' },
      { ...nodeSoft, signal: 'containerfs.available' },
      off('containerfs.inodesFree'),
      off('containerfs.inodesFree'),
    ];
    assert.deepEqual(added(false, false), expected);
    assert.deepEqual(added(true, true), expected);
  });

  it('are those of imagefs where layers are with the images', () => {
    assert.deepEqual(added(true, false), [
      { ...image, signal: 'containerfs.available' },
      off('containerfs.available'),
      { ...imageInodes, signal: 'containerfs.inodesFree' },
      off('containerfs.inodesFree'),
    ]);
  });

  it('replace what is configured for containerfs', () => {
    const own: Threshold = { signal: 'containerfs.available', value: { quantity: '9Gi' }, graceMs: 0 };
    const changed = withContainerFs([own, node], { imageFs: false, splitFs: false });
    assert.deepEqual(changed[0], { ...node, signal: 'containerfs.available' });
    assert.equal(changed.filter(({ value }) => 'quantity' in value && value.quantity === '9Gi').length, 0);
  });

  it('without a model are never met', () => {
    const seen = { 'containerfs.inodesFree': { available: 0, capacity: 100, at: 0 } };
    assert.deepEqual(thresholdsMet([off('containerfs.inodesFree')], seen, false), []);
  });
});

describe('what is met (kubelet TestThresholdsMet, TestPercentageThresholdsMet)', () => {
  const at = (available: number, capacity = 4000) => ({ 'memory.available': { available, capacity, at: 0 } });
  const met = (threshold: Omit<Threshold, 'signal' | 'graceMs'>, available: number, withReclaim: boolean) =>
    thresholdsMet([{ signal: 'memory.available', graceMs: 0, ...threshold }], at(available), withReclaim).length === 1;

  it('less than the quantity, and less than quantity and minimum together', () => {
    const threshold = { value: { quantity: '1k' }, minReclaim: { quantity: '500' } };
    assert.deepEqual(
      [999, 1000].map((available) => met(threshold, available, false)),
      [true, false],
    );
    assert.deepEqual(
      [1499, 1500].map((available) => met(threshold, available, true)),
      [true, false],
    );
  });

  it('a share of the capacity', () => {
    const threshold = { value: { share: Math.fround(0.25) }, minReclaim: { share: Math.fround(0.125) } };
    assert.deepEqual(
      [999, 1000].map((available) => met(threshold, available, false)),
      [true, false],
    );
    assert.deepEqual(
      [1499, 1500].map((available) => met(threshold, available, true)),
      [true, false],
    );
  });

  it('not what was not seen', () => {
    const threshold: Threshold = { signal: 'pid.available', value: { quantity: '1k' }, graceMs: 0 };
    assert.deepEqual(thresholdsMet([threshold], at(1), false), []);
  });
});

describe('what is seen of a node (kubelet TestMakeSignalObservations)', () => {
  const time = 5e15;
  it('all signals', () => {
    const fs = { time, availableBytes: 10, capacityBytes: 100, inodesFree: 20, inodes: 200 };
    const seen = observe({
      memory: { time, availableBytes: 30, workingSetBytes: 70 },
      systemContainers: [
        { name: 'kubelet', memory: { time, workingSetBytes: 1 } },
        { name: 'pods', memory: { time, availableBytes: 5, workingSetBytes: 45 } },
      ],
      fs,
      runtime: { imageFs: { ...fs, availableBytes: 11 }, containerFs: { ...fs, availableBytes: 12 } },
      rlimit: { time, maxpid: 1000, curproc: 400 },
    });
    const at = 5e9;
    assert.deepEqual(seen, {
      'memory.available': { available: 30, capacity: 100, at },
      'allocatableMemory.available': { available: 5, capacity: 50, at },
      'nodefs.available': { available: 10, capacity: 100, at },
      'nodefs.inodesFree': { available: 20, capacity: 200, at },
      'imagefs.available': { available: 11, capacity: 100, at },
      'imagefs.inodesFree': { available: 20, capacity: 200, at },
      'containerfs.available': { available: 12, capacity: 100, at },
      'containerfs.inodesFree': { available: 20, capacity: 200, at },
      'pid.available': { available: 600, capacity: 1000, at },
    });
  });

  it('nothing of what is not known', () => {
    const pods = { name: 'pods', memory: { time, workingSetBytes: 45 } };
    assert.deepEqual(observe({ memory: { time, workingSetBytes: 1 }, systemContainers: [pods], fs: { time } }), {});
  });
});

it('amounts are written as kubelet writes them', () => {
  assert.equal(amountText({ quantity: '0.5Gi' }, 0), '512Mi');
  assert.equal(amountText({ share: Math.fround(0.1) }, 2 ** 30), '107374184');
  assert.equal(signalText('memory.available', 1536 * 2 ** 20), '1536Mi');
  assert.equal(signalText('nodefs.inodesFree', 500_000), '500k');
});
