/** Gate PodAndContainerStatsFromCRI: `/metrics/cadvisor` is what the runtime tells. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { createRuntimeMetrics } from '../../../actors/serve/cadvisor/create-runtime-metrics.ts';
import type { RuntimeMetricsOptions } from '../../../actors/serve/cadvisor/create-runtime-metrics.ts';
import { MetricType } from '../../../cri/generated/runtime/v1/api.ts';

const { COUNTER, GAUGE } = MetricType;
const metric = (name: string, metricType: MetricType, labelValues: string[], n: number, timestamp = '0') => ({
  ...{ name, metricType, labelValues, timestamp },
  value: { value: String(n) },
});

/** A page on a runtime with two families, that counts its calls; `down`: it answers nothing. */
function page() {
  const calls: string[] = [];
  const state = { down: false };
  const answer = <T>(name: string, value: T) => {
    calls.push(name);
    return state.down ? Promise.reject(new Error('down')) : Promise.resolve(value);
  };
  const descriptors = [
    { name: 'container_b_total', help: 'How often b.', labelKeys: ['pod', 'container'] },
    { name: 'container_a', help: 'The a.', labelKeys: ['pod'] },
    { name: 'container_none', help: 'Nobody has it.', labelKeys: [] },
  ];
  const podMetrics = [
    {
      podSandboxId: 's1',
      metrics: [metric('container_a', GAUGE, ['web"1'], 5), metric('container_unknown', GAUGE, [], 1)],
      containerMetrics: [
        {
          containerId: 'c1',
          metrics: [
            metric('container_b_total', COUNTER, ['web"1', 'main'], 3_000_000, '1700000000123456789'),
            metric('container_b_total', COUNTER, ['a label too few'], 1),
          ],
        },
      ],
    },
    { podSandboxId: 's2', metrics: [metric('container_a', GAUGE, ['idle'], 0)], containerMetrics: [] },
  ];
  const runtime = {
    listMetricDescriptors: () => answer('descriptors', { descriptors }),
    listPodSandboxMetrics: () => answer('metrics', { podMetrics }),
  };
  const made = createRuntimeMetrics({
    cri: { runtime } as unknown as RuntimeMetricsOptions['cri'],
    log: pino({ level: 'silent' }),
    now: () => 1_700_000_000_000,
  });
  return { calls, state, made };
}

test('families and samples are those of the runtime, beside those of the machine', async () => {
  const { made, calls } = page();
  const text = await made.text();
  const [own = '', machine = ''] = text.split(/(?=# HELP machine_cpu_cores )/);
  assert.equal(
    own,
    [
      '# HELP container_a The a.',
      '# TYPE container_a gauge',
      'container_a{pod="web\\"1"} 5',
      'container_a{pod="idle"} 0',
      '# HELP container_b_total How often b.',
      '# TYPE container_b_total counter',
      'container_b_total{pod="web\\"1",container="main"} 3e+06 1700000000123',
      '',
    ].join('\n'),
  );
  assert.match(machine, /^# HELP machine_cpu_cores /);
  await Promise.all([made.text(), made.text()]);
  assert.deepEqual(calls, ['descriptors', 'metrics', 'metrics'], 'families are asked for once');
});

test('a runtime that does not answer: the machine alone; its families are asked for again', async () => {
  const { made, state, calls } = page();
  state.down = true;
  assert.match(await made.text(), /^# HELP machine_cpu_cores /);
  state.down = false;
  assert.match(await made.text(), /^# HELP container_a /);
  assert.deepEqual(calls, ['descriptors', 'descriptors', 'metrics']);
});
