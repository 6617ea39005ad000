import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { TextWriter } from '../../../actors/record/metrics/text-format.ts';
import { resourceMetrics } from '../../../actors/resources/stats/resource-metrics.ts';
import { collectStatsMetrics } from '../../../actors/resources/stats/stats-metrics.ts';
import type { ContainerStats, Summary } from '../../../actors/resources/stats/summary.ts';

const time = 1_700_000_000_123_456_789;
const log = pino({ level: 'silent' });
const used = (name: string): ContainerStats => ({
  name,
  startTime: 1_600_000_000_500_000_000,
  cpu: { time, usageCoreNanoSeconds: 1_500_000_000 },
  memory: { time, workingSetBytes: 4096 },
  swap: { time, swapAvailableBytes: 10, swapUsageBytes: 5 },
});
const summary: Summary = {
  node: {
    nodeName: 'one',
    startTime: time,
    cpu: { time, usageCoreNanoSeconds: 2e12 },
    memory: { time, workingSetBytes: 5 },
  },
  pods: [
    {
      podRef: { name: 'b', namespace: 'x', uid: '1' },
      startTime: time,
      containers: [used('side'), used('main')],
      cpu: { time },
    },
    {
      podRef: { name: 'a', namespace: 'x', uid: '2' },
      startTime: time,
      containers: [{ name: 'main', startTime: null }],
      memory: { time, workingSetBytes: 2e6 },
    },
  ],
};

describe('/metrics/resource', () => {
  it('has families by name, samples by labels, and the times of the readings', () => {
    const labels = (container: string) => `{container="${container}",namespace="x",pod="b"}`;
    assert.deepEqual(
      resourceMetrics(summary)
        .split('\n')
        .filter((line) => !line.startsWith('# HELP')),
      [
        '# TYPE container_cpu_usage_seconds_total counter',
        `container_cpu_usage_seconds_total${labels('main')} 1.5 1700000000123`,
        `container_cpu_usage_seconds_total${labels('side')} 1.5 1700000000123`,
        '# TYPE container_memory_working_set_bytes gauge',
        `container_memory_working_set_bytes${labels('main')} 4096 1700000000123`,
        `container_memory_working_set_bytes${labels('side')} 4096 1700000000123`,
        '# TYPE container_start_time_seconds gauge',
        `container_start_time_seconds${labels('main')} 1.6000000005e+09`,
        `container_start_time_seconds${labels('side')} 1.6000000005e+09`,
        '# TYPE container_swap_limit_bytes gauge',
        `container_swap_limit_bytes${labels('main')} 15 1700000000123`,
        `container_swap_limit_bytes${labels('side')} 15 1700000000123`,
        '# TYPE container_swap_usage_bytes gauge',
        `container_swap_usage_bytes${labels('main')} 5 1700000000123`,
        `container_swap_usage_bytes${labels('side')} 5 1700000000123`,
        '# TYPE node_cpu_usage_seconds_total counter',
        'node_cpu_usage_seconds_total 2000 1700000000123',
        '# TYPE node_memory_working_set_bytes gauge',
        'node_memory_working_set_bytes 5 1700000000123',
        '# TYPE pod_memory_working_set_bytes gauge',
        'pod_memory_working_set_bytes{namespace="x",pod="a"} 2e+06 1700000000123',
        '# TYPE resource_scrape_error gauge',
        'resource_scrape_error 0',
        '',
      ],
    );
    assert.match(resourceMetrics(summary), /^# HELP container_cpu_usage_seconds_total \[STABLE\] Cumulative cpu time /);
  });

  it('has an error and nothing else when there is no summary', () => {
    assert.equal(
      resourceMetrics(null),
      '# HELP resource_scrape_error [STABLE] 1 if there was an error while getting container metrics, 0 otherwise\n' +
        '# TYPE resource_scrape_error gauge\nresource_scrape_error 1\n',
    );
  });
});

describe('series of files', () => {
  const volume = (name: string, usedBytes: number, claim?: string) => ({
    ...{ time, name, usedBytes, availableBytes: 1, capacityBytes: 2, inodes: 3, inodesFree: 4, inodesUsed: 5 },
    ...(claim !== undefined && { pvcRef: { name: claim, namespace: 'x' } }),
  });

  it('tell logs of containers, and each claim once', async () => {
    const writer = new TextWriter();
    const stats = {
      logs: () =>
        Promise.resolve([
          { namespace: 'x', pod: 'b', uid: '1', container: 'main', usedBytes: 8192 },
          { namespace: 'x', pod: 'a', uid: '2', container: 'main', usedBytes: 0 },
        ]),
      volumesOfPods: () =>
        Promise.resolve(
          new Map([
            ['1', { ephemeral: [volume('tmp', 1)], others: [volume('data', 7, 'disk'), volume('info', 1)] }],
            ['2', { ephemeral: [], others: [volume('same', 7, 'disk'), volume('own', 9, 'a-disk')] }],
          ]),
        ),
    };
    await collectStatsMetrics(writer, { stats, log });
    const lines = writer.toString().split('\n');
    assert.deepEqual(lines.slice(0, 4), [
      "# HELP kubelet_container_log_filesystem_used_bytes [ALPHA] Bytes used by the container's logs on the filesystem.",
      '# TYPE kubelet_container_log_filesystem_used_bytes gauge',
      'kubelet_container_log_filesystem_used_bytes{container="main",namespace="x",pod="a",uid="2"} 0',
      'kubelet_container_log_filesystem_used_bytes{container="main",namespace="x",pod="b",uid="1"} 8192',
    ]);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('kubelet_volume_stats_used_bytes')),
      [
        'kubelet_volume_stats_used_bytes{namespace="x",persistentvolumeclaim="a-disk"} 9',
        'kubelet_volume_stats_used_bytes{namespace="x",persistentvolumeclaim="disk"} 7',
      ],
    );
    assert.equal(lines.filter((line) => line.startsWith('# TYPE kubelet_volume_stats_')).length, 6);
  });

  it('tell the health of claims whose drivers tell it', async () => {
    const writer = new TextWriter();
    const ill = (name: string, abnormal: boolean) => ({
      ...{ ...volume(name, 1, name), volumeHealthStats: { abnormal } },
    });
    const others = [ill('b', true), ill('a', false), volume('c', 1, 'c')];
    const volumesOfPods = () => Promise.resolve(new Map([['1', { ephemeral: [], others }]]));
    await collectStatsMetrics(writer, { stats: { logs: () => Promise.resolve([]), volumesOfPods }, log });
    const health = 'kubelet_volume_stats_health_status_abnormal';
    assert.deepEqual(
      writer
        .toString()
        .split('\n')
        .filter((line) => line.startsWith(health)),
      [`${health}{namespace="x",persistentvolumeclaim="a"} 0`, `${health}{namespace="x",persistentvolumeclaim="b"} 1`],
    );
  });

  it('are left out when there are none, or the runtime is away', async () => {
    const writer = new TextWriter();
    const stats = { logs: () => Promise.reject(new Error('away')), volumesOfPods: () => Promise.resolve(new Map()) };
    await collectStatsMetrics(writer, { stats, log });
    assert.equal(writer.toString(), '');
  });
});
