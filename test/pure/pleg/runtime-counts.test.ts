import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { groupByPod } from '../../../actors/runtime/pleg/group-by-pod.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';
import { RuntimeCounts } from '../../../actors/runtime/pleg/runtime-counts.ts';
import { Container, PodSandbox } from '../../../cri/generated/runtime/v1/api.ts';
import type { ContainerState, PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';

const labels = (uid: string) => ({ [LABEL.podUid]: uid });
const sandbox = (id: string, uid: string, state: PodSandboxState = 0) =>
  PodSandbox.fromPartial({ id, state, labels: labels(uid) });
const container = (id: string, uid: string, state: ContainerState) =>
  Container.fromPartial({ id, state, podSandboxId: `s-${uid}`, labels: labels(uid) });

test('lists are grouped by pod, and what is of no pod is left out', () => {
  const { pods, lines, counts } = groupByPod(
    [sandbox('s-a', 'a'), sandbox('s-b', 'b', 1), PodSandbox.fromPartial({ id: 'foreign' })],
    [container('c2', 'a', 2), container('c1', 'a', 1)],
  );
  assert.deepEqual([...pods.keys()], ['a', 'b']);
  assert.equal(lines.get('a'), 'c1:1 c2:2 s-a:s0');
  assert.deepEqual(counts.get('a'), { readySandboxes: 1, containers: [0, 1, 1, 0] });
  assert.deepEqual(counts.get('b'), { readySandboxes: 0, containers: [0, 0, 0, 0] });
});

test('a look at one pod changes the totals, so that they are right between two lists', async () => {
  const metrics = createMetrics();
  const totals = new RuntimeCounts(metrics);
  const seen = async () =>
    (await metrics.text())
      .split('\n')
      .filter((line) => /^kubelet_running_(pods|containers)/.test(line))
      .map((line) => line.replace(/^kubelet_running_(pods|containers)(\{container_state="(\w+)"\})?/, '$1$3').trim());
  totals.setAll(groupByPod([sandbox('s-a', 'a'), sandbox('s-b', 'b')], [container('c', 'a', 1)]).counts);
  const first = await seen();
  assert.ok(first.includes('pods 2') && first.includes('containersrunning 1'), first.join());
  totals.set(
    'a',
    groupByPod([sandbox('s-a', 'a')], [container('c', 'a', 2), container('d', 'a', 1)]).counts.get('a') ?? null,
  );
  totals.set('b', null);
  const then = await seen();
  assert.ok(then.includes('pods 1') && then.includes('containersrunning 1'), then.join());
  assert.ok(then.includes('containersexited 1') && then.includes('containerscreated 0'), then.join());
});
