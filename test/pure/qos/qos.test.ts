import { CURRENT } from '../../../machines/protocol/behaviour.ts';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import { milliToQuota, milliToShares, quotaToMilli, sharesToMilli } from '../../../machines/qos/cpu-shares.ts';
import { isCriticalPod, isNodeCriticalPod, isStaticPod } from '../../../machines/qos/critical-pod.ts';
import { oomScoreAdj } from '../../../machines/qos/oom-score.ts';
import { cgroupParent, cgroupPath, podCgroup } from '../../../machines/qos/pod-cgroup.ts';
import { podQosClass } from '../../../machines/qos/qos-class.ts';
import { nodeSettings } from './node-settings.ts';

interface Vectors {
  capacity: number;
  pods: {
    pod: Pod;
    qos: string;
    shares: number;
    quota: number | null;
    quotaOff: number | null;
    period: number | null;
    memory: number | null;
    oom: Record<string, number>;
  }[];
  paths: { parts: string[]; systemd: string; cgroupfs: string }[];
}
const vectors = JSON.parse(readFileSync(new URL('./kubelet-qos-vectors.json', import.meta.url), 'utf8')) as Vectors;

test('QoS class, cgroup limits and OOM scores are the kubelet’s', () => {
  assert.ok(vectors.pods.length >= 18);
  for (const { pod, qos, shares, quota, quotaOff, period, memory, oom } of vectors.pods) {
    const what = JSON.stringify(pod);
    assert.equal(podQosClass(pod), qos, what);
    const cgroup = podCgroup(pod, nodeSettings());
    assert.deepEqual(
      {
        shares: cgroup.cpuShares,
        quota: cgroup.cpuQuotaUs ?? null,
        period: cgroup.cpuPeriodUs ?? null,
        memory: cgroup.memoryLimitBytes ?? null,
      },
      { shares, quota, period, memory },
      what,
    );
    assert.equal(podCgroup(pod, nodeSettings({ cpuCFSQuota: false })).cpuQuotaUs ?? null, quotaOff, what);
    const containers: Container[] = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
    for (const c of containers)
      assert.equal(oomScoreAdj(pod, c, vectors.capacity), oom[c.name], `${c.name} of ${what}`);
  }
});

test('cgroup paths are the kubelet’s', () => {
  for (const { parts, systemd, cgroupfs } of vectors.paths) {
    assert.equal(cgroupPath(parts, 'systemd'), systemd);
    assert.equal(cgroupPath(parts, 'cgroupfs'), cgroupfs);
  }
});

test('the sandbox’s cgroup parent follows QoS, driver and root', () => {
  const uid = '1234-abcd';
  const bestEffort: Pod = { metadata: { uid }, spec: { containers: [{ name: 'a' }] } };
  const guaranteed: Pod = { ...bestEffort, status: { qosClass: 'Guaranteed' } };
  assert.equal(cgroupParent(bestEffort, nodeSettings()), '/kubepods/besteffort/pod1234-abcd');
  assert.equal(cgroupParent(guaranteed, nodeSettings()), '/kubepods/pod1234-abcd');
  assert.equal(cgroupParent(guaranteed, nodeSettings({ cgroupRoot: '/a/b' })), '/a/b/kubepods/pod1234-abcd');
  assert.equal(
    cgroupParent(bestEffort, nodeSettings({ cgroupDriver: 'systemd' })),
    '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod1234_abcd.slice',
  );
  const withoutQos = { cgroupsPerQOS: false, cgroupRoot: '/x' };
  assert.equal(cgroupParent(bestEffort, nodeSettings({ ...withoutQos, ...CURRENT })), '', 'the runtime chooses');
  assert.equal(cgroupParent(bestEffort, nodeSettings({ ...withoutQos, behaviour: [] })), '/x', 'logs of before');
});

test('a pids limit is set only when the node has one', () => {
  const pod: Pod = { metadata: { uid: 'u' }, spec: { containers: [{ name: 'a' }] } };
  assert.equal(podCgroup(pod, nodeSettings()).pidsLimit, undefined);
  assert.equal(podCgroup(pod, nodeSettings({ podPidsLimit: 100 })).pidsLimit, 100);
});

test('shares and quotas keep within the kernel’s bounds', () => {
  assert.deepEqual([0, 1, 100, 1000, 10_000_000].map(milliToShares), [2, 2, 102, 1024, 262_144]);
  assert.deepEqual(
    [0, 1, 100, 1500].map((m) => milliToQuota(m, 100_000)),
    [0, 1000, 10_000, 150_000],
  );
  assert.equal(milliToQuota(100, 50_000), 5000);
  assert.deepEqual([0, 1, 2, 102, 1024].map(sharesToMilli), [0, 0, 2, 100, 1000]);
  assert.deepEqual([quotaToMilli(-1, 100_000), quotaToMilli(150_000, 100_000), quotaToMilli(0, 0)], [0, 1500, 0]);
});

test('critical pods: static, mirror, or by priority', () => {
  const annotated = (annotations: Record<string, string>, spec: Partial<Pod['spec']> = {}): Pod => ({
    metadata: { annotations },
    spec: { containers: [], ...spec },
  });
  const file = annotated({ 'kubernetes.io/config.source': 'file' });
  const api = annotated({ 'kubernetes.io/config.source': 'api' });
  assert.deepEqual([isStaticPod(file), isStaticPod(api), isStaticPod({})], [true, false, false]);
  assert.deepEqual([isCriticalPod(file), isCriticalPod(api)], [true, false]);
  assert.equal(isCriticalPod(annotated({ 'kubernetes.io/config.mirror': 'x' })), true);
  assert.equal(isCriticalPod(annotated({}, { priority: 2_000_000_000 })), true);
  assert.equal(isCriticalPod(annotated({}, { priority: 1_999_999_999 })), false);
  assert.equal(isNodeCriticalPod(annotated({}, { priorityClassName: 'system-node-critical' })), false);
});
