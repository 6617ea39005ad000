import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeStartup } from '../../../actors/record/metrics/node-startup.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { PodStartLatency } from '../../../actors/record/metrics/pod-start-latency.ts';
import { processStart } from '../../../actors/record/metrics/process-metrics.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';

const CREATED = Date.parse('2026-01-01T00:00:00Z');

class Clock {
  at = CREATED;
  readonly metrics = createMetrics({ processMetrics: false });
  readonly starts = new PodStartLatency(this.metrics, () => this.at);
  later(ms: number): void {
    this.at += ms;
  }
  async value(name: string): Promise<number> {
    const line = (await this.metrics.text()).split('\n').find((l) => l.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1));
  }
}

const SLI = 'kubelet_pod_start_sli_duration_seconds';
const TOTAL = 'kubelet_pod_start_total_duration_seconds';
const FIRST = 'kubelet_first_network_pod_start_sli_duration_seconds';

function pod(
  uid: string,
  how: 'new' | 'waiting' | 'running' | 'ended',
  more: { hostNetwork?: boolean; mirror?: boolean } = {},
): Pod {
  const startedAt = new Date(CREATED).toISOString();
  const state = how === 'running' ? { running: { startedAt } } : { waiting: { reason: 'ContainerCreating' } };
  return {
    metadata: {
      uid,
      creationTimestamp: startedAt,
      ...(more.mirror === true && { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    },
    spec: { containers: [], ...(more.hostNetwork === true && { hostNetwork: true }) },
    status:
      how === 'new'
        ? { phase: 'Pending' }
        : {
            phase: how === 'ended' ? 'Failed' : 'Pending',
            startTime: startedAt,
            containerStatuses: [{ name: 'c', image: '', imageID: '', ready: false, restartCount: 0, state }],
          },
  };
}

test('from creation to the watch that shows it running, without the pulls', async () => {
  const clock = new Clock();
  const { starts } = clock;
  starts.observed(pod('a', 'new'));
  clock.later(1_000);
  starts.pullBegan('a');
  clock.later(2_000);
  starts.pullBegan('a');
  starts.pullEnded('a');
  clock.later(1_000);
  starts.pullEnded('a');
  starts.statusUpdated(pod('a', 'waiting'));
  starts.observed(pod('a', 'waiting'));
  clock.later(500);
  starts.statusUpdated(pod('a', 'running'));
  clock.later(500);
  starts.observed(pod('a', 'running'));
  clock.later(5_000);
  starts.observed(pod('a', 'running'));
  starts.statusUpdated(pod('a', 'running'));
  assert.equal(await clock.value(`${SLI}_count`), 1);
  assert.equal(await clock.value(`${SLI}_sum`), 2);
  assert.equal(await clock.value(`${TOTAL}_sum`), 5);
  assert.equal(await clock.value(FIRST), 2);
});

test('a watch that is quicker than the answer to the patch counts with its own time', async () => {
  const clock = new Clock();
  clock.starts.observed(pod('a', 'new', { hostNetwork: true }));
  clock.later(1_000);
  clock.starts.observed(pod('a', 'running', { hostNetwork: true }));
  clock.later(4_000);
  clock.starts.statusUpdated(pod('a', 'running', { hostNetwork: true }));
  assert.equal(await clock.value(`${SLI}_sum`), 1);
  assert.equal(await clock.value(FIRST), 0, 'a pod of the host network tells nothing of the network');
});

test('pods that ran before, mirror pods, pods that end first and a pull that never ended well', async () => {
  const clock = new Clock();
  const { starts } = clock;
  starts.observed(pod('old', 'running'));
  starts.observed(pod('mirror', 'new', { mirror: true }));
  starts.observed(pod('short', 'new'));
  starts.observed(pod('short', 'ended'));
  starts.observed(pod('gone', 'new'));
  starts.forget('gone');
  for (const uid of ['old', 'mirror', 'gone']) {
    starts.statusUpdated(pod(uid, 'running'));
    starts.observed(pod(uid, 'running', { mirror: uid === 'mirror' }));
  }
  assert.equal(await clock.value(`${SLI}_count`), 0);
  starts.observed(pod('b', 'new'));
  starts.pullBegan('b');
  clock.later(3_000);
  starts.statusUpdated(pod('b', 'running'));
  starts.observed(pod('b', 'running'));
  assert.equal(await clock.value(`${SLI}_sum`), 3);
});

test('the start of a node is measured once, and only where this agent made the Node', async () => {
  const clock = new Clock();
  clock.at = (processStart() + 1) * 1000;
  const startup = new NodeStartup(clock.metrics, () => clock.at);
  startup.registered();
  startup.becameReady();
  assert.equal(await clock.value('kubelet_node_startup_duration_seconds'), 0, 'nothing was tried');
  startup.attempted();
  clock.later(2_000);
  startup.attempted();
  startup.registered();
  clock.later(3_000);
  startup.becameReady();
  clock.later(3_000);
  startup.registered();
  startup.becameReady();
  const value = async (part: string) =>
    Math.round((await clock.value(`kubelet_node_startup_${part}_seconds`)) * 10) / 10;
  assert.equal(await value('pre_registration_duration'), 1);
  assert.equal(await value('registration_duration'), 2);
  assert.equal(await value('post_registration_duration'), 3);
  assert.ok((await value('pre_kubelet_duration')) > 0);
  assert.ok(Math.abs((await value('duration')) - (await value('pre_kubelet_duration')) - 6) < 0.2);
});
