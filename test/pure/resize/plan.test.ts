import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container } from '../../../machines/protocol/api-types.ts';
import { memoryFault } from '../../../machines/resize/memory-check.ts';
import type { Requirements } from '../../../machines/protocol/requirements.ts';
import { needsRestart, resizeSteps } from '../../../machines/resize/resize-plan.ts';
import { settings } from '../pod/pod-world.ts';
import { apiPod, sized } from './resize-pods.ts';

const MI = 2 ** 20;
const had = (cpu: string, memory: string): Requirements => sized('x', cpu, memory).resources ?? {};

function steps(containers: Container[], before: Requirements[], now: { cpu: number; memoryMi: number }): string[] {
  const targets = containers.map((container, i) => ({ container, id: `id-${container.name}`, actuated: before[i] }));
  const read = {
    cpuShares: Math.trunc(now.cpu * 1.024),
    cpuQuotaUs: now.cpu * 100,
    cpuPeriodUs: 100_000,
    memoryLimitBytes: now.memoryMi * MI,
  };
  return resizeSteps(apiPod(containers), targets, read, settings).map((step) =>
    step.do === 'cgroup' ? `pod ${Object.keys(step.limits).join('+')}` : `${step.name} ${step.resource}`,
  );
}

describe('the order of a resize (KEP-1287, kubelet doPodResizeAction)', () => {
  test('a pod that grows: its cgroup before its containers, memory before cpu, limits before requests', () => {
    assert.deepEqual(steps([sized('c', '2', '200Mi')], [had('1', '100Mi')], { cpu: 1000, memoryMi: 100 }), [
      'pod memoryLimitBytes',
      'c memory',
      'pod cpuPeriodUs+cpuQuotaUs',
      'pod cpuShares',
      'c cpu',
    ]);
  });

  test('a pod that shrinks: its containers before its cgroup, requests before limits', () => {
    assert.deepEqual(steps([sized('c', '1', '100Mi')], [had('2', '200Mi')], { cpu: 2000, memoryMi: 200 }), [
      'c memory',
      'pod memoryLimitBytes',
      'c cpu',
      'pod cpuShares',
      'pod cpuPeriodUs+cpuQuotaUs',
    ]);
  });

  test('containers that shrink go before those that grow; what stays is left alone', () => {
    const containers = [sized('grows', '2', '100Mi'), sized('stays', '1', '100Mi'), sized('shrinks', '1', '100Mi')];
    const before = [had('1', '100Mi'), had('1', '100Mi'), had('2', '100Mi')];
    assert.deepEqual(steps(containers, before, { cpu: 4000, memoryMi: 300 }), ['shrinks cpu', 'grows cpu']);
  });

  test('only a request changes: it counts', () => {
    const container: Container = {
      name: 'c',
      image: 'i',
      resources: { requests: { cpu: '200m', memory: '200Mi' }, limits: { cpu: '1', memory: '300Mi' } },
    };
    const before = { requests: { cpu: '100m', memory: '100Mi' }, limits: { cpu: '1', memory: '300Mi' } };
    // The pod has shares for 1000m before: its request shrinks to 200m, after the container's.
    assert.deepEqual(steps([container], [before], { cpu: 1000, memoryMi: 300 }), [
      'c memory',
      'c cpu',
      'pod cpuShares',
    ]);
  });

  test('each call leaves the other resource as it is', () => {
    const containers = [sized('c', '2', '200Mi')];
    const targets = [{ container: containers[0] ?? sized('c', '1', '1'), id: 'i', actuated: had('1', '100Mi') }];
    const read = { cpuShares: 1024, cpuQuotaUs: 100_000, cpuPeriodUs: 100_000, memoryLimitBytes: 100 * MI };
    const calls = resizeSteps(apiPod(containers), targets, read, settings).filter((step) => step.do === 'container');
    assert.deepEqual(
      calls.map((step) => step.actuated),
      [had('1', '200Mi'), had('2', '200Mi')],
    );
  });

  test('without a limit of the pod nothing is written of it', () => {
    const container: Container = { name: 'c', image: 'i', resources: { requests: { cpu: '2', memory: '10Mi' } } };
    const before = { requests: { cpu: '1', memory: '10Mi' } };
    assert.deepEqual(steps([container], [before], { cpu: 1000, memoryMi: 100 }), ['pod cpuShares', 'c cpu']);
  });
});

describe('resizePolicy', () => {
  const container = sized('c', '2', '100Mi', {
    resizePolicy: [
      { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      { resourceName: 'memory', restartPolicy: 'RestartContainer' },
    ],
  });

  test('only a resource that changes, and whose policy says so, wants a restart', () => {
    assert.equal(needsRestart(container, had('1', '100Mi')), false);
    assert.equal(needsRestart(container, had('2', '50Mi')), true);
    assert.equal(
      needsRestart({ ...container, resizePolicy: [] }, had('2', '50Mi')),
      false,
      'the default is NotRequired',
    );
  });
});

describe('memory limits are not set below what is in use (kubelet validateMemoryResizeAction)', () => {
  const check = (limit: string, usageMi: number | null, has = '200Mi', podLimitMi = 200) =>
    memoryFault(
      apiPod([sized('c', '1', limit)]),
      [{ container: sized('c', '1', limit), id: 'i', actuated: had('1', has) }],
      {
        memoryLimitBytes: podLimitMi * MI,
        usageBytes: usageMi === null ? null : usageMi * MI,
        containers: { c: usageMi === null ? null : usageMi * MI },
      },
      settings,
    );

  test('enough room, or more than before: no fault', () => {
    assert.equal(check('100Mi', 50), null);
    assert.equal(check('300Mi', 500), null, 'usage does not matter when limits grow');
  });

  test('pod and container are both named', () => {
    assert.equal(
      check('100Mi', 150),
      'cannot decrease memory limits: [attempting to set pod memory limit (104857600) below current usage (157286400), ' +
        'attempting to set container "c" memory limit (104857600) below current usage (157286400)]',
    );
  });

  test('usage that cannot be read is a fault, too', () => {
    assert.match(check('100Mi', null) ?? '', /missing pod memory usage, missing container "c" memory usage/);
  });
});
