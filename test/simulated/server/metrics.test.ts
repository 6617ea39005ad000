import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageSizeLabel } from '../../../actors/record/metrics/kubelet-metrics.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { Observation } from '../../../actors/record/metrics/observation.ts';

const create = () => createMetrics({ processMetrics: false });

/** Types and labels as kubelet v1.35.4 documents them; written out here so that a slip in the catalogue shows. */
const kubelet: [name: string, type: string, labels: string[]][] = [
  ['kubelet_node_name', 'gauge', ['node']],
  ['kubelet_pod_start_duration_seconds', 'histogram', []],
  ['kubelet_pod_worker_duration_seconds', 'histogram', ['operation_type']],
  ['kubelet_pod_worker_start_duration_seconds', 'histogram', []],
  ['kubelet_cgroup_manager_duration_seconds', 'histogram', ['operation_type']],
  ['kubelet_pleg_relist_duration_seconds', 'histogram', []],
  ['kubelet_pleg_relist_interval_seconds', 'histogram', []],
  ['kubelet_pleg_discard_events', 'counter', []],
  ['kubelet_pleg_last_seen_seconds', 'gauge', []],
  ['kubelet_evented_pleg_connection_error_count', 'counter', []],
  ['kubelet_evented_pleg_connection_success_count', 'counter', []],
  ['kubelet_evented_pleg_connection_latency_seconds', 'histogram', []],
  ['kubelet_running_pods', 'gauge', []],
  ['kubelet_running_containers', 'gauge', ['container_state']],
  ['kubelet_desired_pods', 'gauge', ['static']],
  ['kubelet_active_pods', 'gauge', ['static']],
  ['kubelet_mirror_pods', 'gauge', []],
  ['kubelet_working_pods', 'gauge', ['lifecycle', 'config', 'static']],
  ['kubelet_orphaned_runtime_pods_total', 'counter', []],
  ['kubelet_restarted_pods_total', 'counter', ['static']],
  ['kubelet_started_pods_total', 'counter', []],
  ['kubelet_started_pods_errors_total', 'counter', []],
  ['kubelet_started_containers_total', 'counter', ['container_type']],
  ['kubelet_started_containers_errors_total', 'counter', ['container_type', 'code']],
  ['kubelet_run_podsandbox_duration_seconds', 'histogram', ['runtime_handler']],
  ['kubelet_run_podsandbox_errors_total', 'counter', ['runtime_handler']],
  ['kubelet_runtime_operations_total', 'counter', ['operation_type']],
  ['kubelet_runtime_operations_duration_seconds', 'histogram', ['operation_type']],
  ['kubelet_runtime_operations_errors_total', 'counter', ['operation_type']],
  ['kubelet_image_pull_duration_seconds', 'histogram', ['image_size_in_bytes']],
  ['kubelet_lifecycle_handler_http_fallbacks_total', 'counter', []],
  ['prober_probe_total', 'counter', ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid']],
  ['prober_probe_duration_seconds', 'histogram', ['probe_type', 'container', 'pod', 'namespace']],
  ['kubernetes_feature_enabled', 'gauge', ['name', 'stage']],
];

describe('metrics', () => {
  it("have the kubelet's names, types and labels", async () => {
    const metrics = create();
    // One sample for each, through the same door as a worker's, and with exactly these labels.
    const op = { counter: 'inc', gauge: 'set', histogram: 'observe' } as const;
    metrics.applyObservations(
      kubelet.map(([name, type, labels]): Observation => {
        const values = Object.fromEntries(labels.map((label) => [label, 'x']));
        return { name, labels: values, value: 1, op: op[type as keyof typeof op] };
      }),
    );
    const text = (await metrics.text()) + (await metrics.probesText());
    assert.match(text, /^actorlet_observations_dropped_total 0$/m);
    for (const [name, type, labels] of kubelet) {
      assert.ok(text.includes(`# TYPE ${name} ${type}\n`), `${name} is a ${type}`);
      const series = labels.map((label) => `${label}="x"`).join(',');
      const sample = type === 'histogram' ? `${name}_count` : name;
      assert.ok(text.includes(`\n${sample}${series && `{${series}}`} 1\n`), `${name}: ${series}`);
    }
  });

  it("have the kubelet's buckets", async () => {
    const metrics = create();
    const bounds = async (name: string): Promise<string[]> => {
      const text = await metrics.registry.getSingleMetricAsString(name);
      return [...text.matchAll(/le="([^"]+)"/g)].map(([, bound]) => bound ?? '');
    };
    metrics.podStartDuration.observe(1);
    metrics.runtimeOperationDuration.observe({ operation_type: 'version' }, 1);
    metrics.plegRelistDuration.observe(1);
    assert.deepEqual(
      (await bounds('kubelet_pleg_relist_duration_seconds')).join(' '),
      '0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 +Inf',
    );
    assert.equal((await bounds('kubelet_pod_start_duration_seconds')).length, 26);
    const runtime = await bounds('kubelet_runtime_operations_duration_seconds');
    assert.deepEqual([runtime.length, runtime[0], runtime[1], runtime.at(-1)], [15, '0.005', '0.0125', '+Inf']);
  });

  it('take observations of workers as plain data, and forget series on demand', async () => {
    const metrics = create();
    const labels = { operation_type: 'run_podsandbox' };
    metrics.applyObservations(
      structuredClone([
        { name: 'kubelet_runtime_operations_total', labels, value: 2, op: 'inc' },
        { name: 'kubelet_runtime_operations_duration_seconds', labels, value: 0.2, op: 'observe' },
        { name: 'kubelet_running_containers', labels: { container_state: 'running' }, value: 7, op: 'set' },
        { name: 'kubelet_running_containers', labels: { container_state: 'exited' }, value: 1, op: 'set' },
        { name: 'kubelet_running_containers', labels: { container_state: 'exited' }, value: 0, op: 'remove' },
      ] satisfies Observation[]),
    );
    const text = await metrics.text();
    assert.match(text, /^kubelet_runtime_operations_total\{operation_type="run_podsandbox"\} 2$/m);
    assert.match(text, /^kubelet_runtime_operations_duration_seconds_sum\{operation_type="run_podsandbox"\} 0\.2$/m);
    assert.match(text, /^kubelet_running_containers\{container_state="running"\} 7$/m);
    assert.doesNotMatch(text, /container_state="exited"/);
  });

  it('count what fits no metric and go on', async () => {
    const metrics = create();
    metrics.applyObservations([
      { name: 'no_such_metric', labels: {}, value: 1, op: 'inc' },
      { name: 'kubelet_running_pods', labels: {}, value: 1, op: 'observe' },
      { name: 'kubelet_started_pods_total', labels: {}, value: -1, op: 'inc' },
      { name: 'kubelet_started_pods_total', labels: { foreign: 'x' }, value: 1, op: 'inc' },
      { name: 'kubelet_started_pods_total', labels: {}, value: 5, op: 'inc' },
    ]);
    const text = await metrics.text();
    assert.match(text, /^actorlet_observations_dropped_total 4$/m);
    assert.match(text, /^kubelet_started_pods_total 5$/m);
  });

  it('drop pod states that are not there any more', async () => {
    const metrics = create();
    metrics.setPodStates(new Map([['syncing.pulling', 2]]));
    metrics.setPodStates(new Map([['syncing.running', 2]]));
    const text = await metrics.registry.getSingleMetricAsString('actorlet_pod_state');
    assert.match(text, /\{state="syncing\.running"\} 2/);
    assert.doesNotMatch(text, /pulling/);
  });

  it('label image sizes as the kubelet does', () => {
    const labels = [0, 1, 10 * 2 ** 20, 10 * 2 ** 20 + 1, 2 ** 30, 2 ** 30 + 1, 101 * 2 ** 30].map(imageSizeLabel);
    assert.deepEqual(labels, ['N/A', '0-10MB', '0-10MB', '10MB-100MB', '500MB-1GB', '1GB-5GB', 'GT100GB']);
  });

  it('bring process_* metrics', async () => {
    assert.match(await createMetrics().text(), /^process_cpu_seconds_total /m);
  });
});
