import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { familiesOf } from '../../cluster/support/metric-families.ts';
import { differencesOf } from '../../cluster/support/metrics-document.ts';
import type { ServedFamilies } from '../../cluster/support/metrics-document.ts';
import { startSimNode } from './sim-node.ts';

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 1,
    initContainers: [{ name: 'first', image: 'busybox', command: ['true'] }],
    containers: [
      {
        name: 'main',
        image: 'busybox',
        command: ['sleep'],
        readinessProbe: { exec: { command: ['r'] }, periodSeconds: 1 },
        livenessProbe: { exec: { command: ['sick'] }, periodSeconds: 1, failureThreshold: 1000 },
      },
    ],
  },
});

/** Value of one series, -1 when it is not there. */
function valueOf(text: string, series: string): number {
  const line = text.split('\n').find((l) => l.startsWith(`${series} `));
  return line === undefined ? -1 : Number(line.slice(series.length + 1));
}

test('the metrics of a node with pods are those of the reference kubelet, by name and type and in their values', async (t) => {
  const sim = await startSimNode(t, {
    containers: [
      { match: { container: 'first' }, attempts: [{ exit: { code: 0 } }] },
      { match: { container: 'main' }, exec: [{ command: 'sick', results: [{ code: 1 }] }] },
    ],
  });
  await sim.put('a', pod('a'));
  await sim.put('b', pod('b'));
  const rows = () => sim.node.store.rows();
  await sim.until('both pods run', () => rows().filter((r) => r.state === 'syncing.running').length === 2);
  const uidOf = (name: string) => rows().find((r) => r.name === name)?.uid ?? '';
  const [a, b] = [uidOf('a-ref'), uidOf('b-ref')];
  const probe = (name: string, uid: string, type: string, result: string) =>
    `prober_probe_total{probe_type="${type}",container="main",pod="${name}",namespace="default",result="${result}",pod_uid="${uid}"}`;
  const probes = async () => sim.get('/metrics/probes');
  const counted = async () => {
    const text = await probes();
    const ready = valueOf(text, probe('a-ref', a, 'Readiness', 'successful'));
    return ready >= 2 && valueOf(text, probe('a-ref', a, 'Liveness', 'failed')) >= 2;
  };
  await sim.until('probes are counted', counted);
  assert.equal(valueOf(await probes(), probe('a-ref', a, 'Liveness', 'successful')), -1);

  await sim.until('two pods started are told', async () => {
    return valueOf(await sim.get('/metrics'), 'kubelet_pod_start_duration_seconds_count') === 2;
  });
  const text = await sim.get('/metrics');
  const value = (series: string) => valueOf(text, series);
  assert.equal(value('kubelet_started_containers_total{container_type="container"}'), 2);
  assert.equal(value('kubelet_started_containers_total{container_type="init_container"}'), 2);
  assert.equal(value('kubelet_started_pods_total'), 2);
  assert.equal(value('kubelet_containers_per_pod_count_count'), 2);
  assert.equal(value('kubelet_containers_per_pod_count_sum'), 2);
  assert.equal(value('kubelet_pod_worker_start_duration_seconds_count'), 2);
  assert.equal(value('kubelet_desired_pods{static="true"}'), 2);
  assert.equal(value('kubelet_desired_pods{static=""}'), 0);
  assert.equal(value('kubelet_active_pods{static="true"}'), 2);
  assert.equal(value('kubelet_working_pods{lifecycle="sync",config="desired",static="true"}'), 2);
  assert.equal(value('kubelet_working_pods{lifecycle="sync",config="runtime_only",static="unknown"}'), 0);
  assert.equal(value('kubelet_orphaned_runtime_pods_total'), 0);
  assert.equal(value('kubelet_restarted_pods_total{static="true"}'), 0);
  assert.equal(value('actorlet_pod_state{state="syncing.running"}'), 2);
  assert.ok(Math.abs(value('actorlet_shard_heartbeat_seconds{shard="0"}') - Date.now() / 1000) < 60);
  assert.equal(value('actorlet_observations_dropped_total'), 0);
  assert.equal(value('kubernetes_feature_enabled{name="AllAlpha",stage="ALPHA"}'), 0);
  assert.match(text, /^kubernetes_build_info\{.*git_version="v1\.35/m);
  assert.match(text, /^kubelet_cgroup_version [12]$/m);

  const file = new URL('../../cluster/support/reference-families.json', import.meta.url);
  const reference = JSON.parse(await readFile(file, 'utf8')) as ServedFamilies;
  const pages = { '/metrics': text, '/metrics/probes': await probes() } as const;
  for (const page of ['/metrics', '/metrics/probes'] as const) {
    const found = familiesOf(pages[page]);
    for (const family of reference.pages[page]) {
      const served = found.get(family.name);
      if (served !== undefined) assert.deepEqual(differencesOf(family, served), [], `${family.name} on ${page}`);
    }
    const shared = reference.pages[page].filter(({ name }) => found.has(name));
    // Without an API server there is no rest_client_*, no authentication and no start of a Node to measure.
    assert.ok(shared.length >= (page === '/metrics' ? 60 : 3), `${shared.length} families on ${page}`);
  }
  assert.ok(value('kubelet_pod_worker_duration_seconds_count{operation_type="create"}') >= 2);
  assert.ok(
    value(
      'kubelet_image_manager_ensure_image_requests_total{present_locally="unknown",pull_policy="always",pull_required="true"}',
    ) >= 2,
  );

  await sim.remove('b');
  await sim.until('the other pod is gone', () => rows().length === 1);
  await sim.until('its probe series are gone', async () => !(await probes()).includes(`pod_uid="${b}"`));
  assert.equal(valueOf(await sim.get('/metrics'), 'kubelet_desired_pods{static="true"}'), 1);
});
