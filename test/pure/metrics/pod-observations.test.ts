import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { Observation } from '../../../actors/record/metrics/observation.ts';
import { effectObservations } from '../../../actors/pods/shard/effect-observations.ts';
import { podObservations } from '../../../actors/pods/shard/pod-observations.ts';
import { PodMetrics } from '../../../actors/node/pod-metrics.ts';
import { PodStore } from '../../../actors/pods/store/pod-store.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { podTable } from '../../../machines/supervisor/pod-table.ts';
import type { TrackedPod } from '../../../machines/supervisor/tracked-pod.ts';
import { PodWorld, pod } from '../pod/pod-world.ts';

/** Every reading of a pod's life, by `name{labels}`. */
class Measured extends PodWorld {
  declare readings: Observation[];
  override send(message: PodMessage): void {
    // The base class sends before the fields of this one exist.
    this.readings ??= [];
    const before = this.snapshot.context;
    super.send(message);
    this.readings.push(...podObservations(before, this.snapshot.context, message));
  }
  sum(name: string, labels: Record<string, string> = {}): number {
    const fits = (o: Observation) => Object.entries(labels).every(([k, v]) => o.labels[k] === v);
    return this.readings.filter((o) => o.name === name && o.op !== 'remove' && fits(o)).length;
  }
}

const probed = (spec: Parameters<typeof pod>[0]) => {
  const made = pod(spec);
  const annotations = { ...made.metadata?.annotations, 'kubernetes.io/config.seen': new Date(999_000).toISOString() };
  return { ...made, metadata: { ...made.metadata, annotations } };
};

test('starts by kind, failed starts by reason, and the time to Running', () => {
  const world = new Measured(
    probed({
      initContainers: [{ name: 'side', image: 'img:1', imagePullPolicy: 'IfNotPresent', restartPolicy: 'Always' }],
    }),
  );
  world.run(3_000);
  assert.equal(world.sum('kubelet_started_containers_total', { container_type: 'container' }), 1);
  assert.equal(world.sum('kubelet_started_containers_total', { container_type: 'init_container' }), 1);
  assert.equal(world.sum('kubelet_started_containers_errors_total'), 0);
  assert.equal(world.sum('kubelet_containers_per_pod_count'), 1);
  const start = world.readings.filter((o) => o.name === 'kubelet_pod_start_duration_seconds');
  assert.equal(start.length, 1);
  assert.ok((start[0]?.value ?? 0) >= 1, 'counted from the first sight');
  world.exit('c', 1);
  world.run(3_000);
  assert.equal(world.sum('kubelet_started_containers_total', { container_type: 'container' }), 2);
  assert.equal(world.readings.filter((o) => o.name === 'kubelet_pod_start_duration_seconds').length, 1);
});

test('each way to fail a start has its code', () => {
  const cases: [string, (world: Measured) => void][] = [
    ['ErrImagePull', (w) => (w.answers['image.Pull'] = () => ({ error: { code: 'Unknown', message: 'no' } }))],
    [
      'CreateContainerError',
      (w) => (w.answers['cri.CreateContainer'] = () => ({ error: { code: 'Unknown', message: 'no' } })),
    ],
    [
      'RunContainerError',
      (w) => (w.answers['cri.StartContainer'] = () => ({ error: { code: 'Unknown', message: 'no' } })),
    ],
  ];
  for (const [code, arrange] of cases) {
    const image = code === 'ErrImagePull' ? 'img:absent' : 'img:1';
    const world = new Measured(pod({ containers: [{ name: 'c', image, imagePullPolicy: 'IfNotPresent' }] }));
    arrange(world);
    world.run(5_000);
    assert.equal(world.sum('kubelet_started_containers_errors_total', { code, container_type: 'container' }), 1, code);
  }
  const bad = new Measured(pod({ containers: [{ name: 'c', image: 'UPPER:::', imagePullPolicy: 'IfNotPresent' }] }));
  bad.run(5_000);
  assert.equal(bad.sum('kubelet_started_containers_errors_total', { code: 'InvalidImageName' }), 1);
});

test('probe runs by result; an error of the prober counts for nothing', () => {
  const readinessProbe = { exec: { command: ['r'] }, periodSeconds: 10 };
  const world = new Measured(
    pod({ containers: [{ name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', readinessProbe }] }),
  );
  world.run(500);
  const of = (result: string) =>
    world.sum('prober_probe_total', { result, container: 'c', probe_type: 'Readiness', pod_uid: 'u1' });
  assert.equal(of('successful'), 1);
  world.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: '' } });
  world.run(10_000);
  assert.equal(of('failed'), 1);
  world.answers['cri.ExecSync'] = () => ({ error: { code: 'Unavailable', message: 'down' } });
  const before = world.count('cri.ExecSync');
  world.run(10_000);
  assert.equal(world.count('cri.ExecSync') - before, 3);
  assert.equal(of('unknown'), 0);
  // Time is told of what succeeded, not of failures (as kubelet does).
  assert.equal(world.sum('prober_probe_duration_seconds', { container: 'c' }), 1);
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  world.run(60_000);
  assert.ok(world.finished);
  assert.equal(world.readings.filter((o) => o.op === 'remove' && o.name === 'prober_probe_total').length, 3);
});

test('image volumes: those of a container that is made, and only what the runtime calls a failed mount fails', () => {
  const mounts = ['a', 'a', 'b', 'tmp'].map((name, i) => ({
    name,
    mountPath: `/m${i}`,
    ...(i === 1 && { subPath: 's' }),
  }));
  const artifact = { reference: 'registry.example/model:3', pullPolicy: 'IfNotPresent' };
  const spec = pod({
    volumes: [
      { name: 'a', image: artifact },
      { name: 'b', image: artifact },
      { name: 'unused', image: artifact },
      { name: 'tmp', emptyDir: {} },
    ],
    containers: [
      { name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', volumeMounts: mounts },
      { name: 'other', image: 'img:2', imagePullPolicy: 'IfNotPresent' },
    ],
  });
  const counts = (message: string | null) => {
    const world = new Measured(spec);
    if (message !== null)
      world.answers['cri.CreateContainer'] = (effect) =>
        effect.key.startsWith('container/c/') ? { error: { code: 'Unknown', message } } : undefined;
    world.run(3_000);
    const total = (name: string) =>
      world.readings.filter((o) => o.name === `kubelet_image_volume_${name}_total`).reduce((n, o) => n + o.value, 0);
    return [total('requested'), total('mounted_succeed'), total('mounted_errors')];
  };
  assert.deepEqual(counts(null), [2, 3, 0]);
  assert.deepEqual(counts('ImageVolumeMountFailed: no such layer'), [2, 0, 3]);
  assert.deepEqual(counts('no space left'), [2, 3, 0]);
});

test('pods with users of their own are counted with their sandboxes', () => {
  const counts = (hostUsers: boolean, error: { code: string } | null) => {
    const world = new PodWorld(pod({ hostUsers }));
    world.run(3_000);
    const run = world.effects.find((effect) => effect.type === 'cri.RunPodSandbox');
    assert.ok(run !== undefined);
    const made = effectObservations.effect(run, 1, error);
    return made.map(({ name }) => name).filter((name) => name.includes('user_namespaced'));
  };
  const started = 'kubelet_started_user_namespaced_pods_total';
  assert.deepEqual(counts(true, null), []);
  assert.deepEqual(counts(false, null), [started]);
  assert.deepEqual(counts(false, { code: 'Unknown' }), [started, 'kubelet_started_user_namespaced_pods_errors_total']);
});

test('of a pod with users of its own the first failed start is an error, too', () => {
  const errors = (hostUsers: boolean) => {
    const world = new Measured(pod({ hostUsers }));
    world.answers['cri.StartContainer'] = () => ({ error: { code: 'Unknown', message: 'no such program' } });
    world.run(60_000);
    assert.ok(world.sum('kubelet_started_containers_errors_total') > 1);
    return world.sum('kubelet_started_user_namespaced_pods_errors_total');
  };
  assert.deepEqual([errors(false), errors(true)], [1, 0]);
});

test('a hook that fell back to http, and cgroup work, are counted with their effects', () => {
  const params = { scheme: 'http' as const, host: 'h', port: 1, path: '/', headers: [], timeoutMs: 1 };
  const names = (key: string, error: { code: string } | null) =>
    effectObservations.effect({ type: 'net.HttpGet', key, params }, 0.1, error).map((o) => o.name);
  const fallbacks = 'kubelet_lifecycle_handler_http_fallbacks_total';
  assert.ok(names('container/c/3/http', null).includes(fallbacks));
  assert.ok(!names('container/c/3', null).includes(fallbacks));
  assert.ok(!names('container/c/3/http', { code: 'ECONNREFUSED' }).includes(fallbacks));
  const removed = effectObservations.effect(
    { type: 'host.RemovePodCgroup', key: 'k', params: { path: '/x' } },
    2,
    null,
  );
  assert.deepEqual(removed.find((o) => o.name === 'kubelet_cgroup_manager_duration_seconds')?.labels, {
    operation_type: 'destroy',
  });
});

test('pods in figures: desired, active, working, orphaned, restarted', async () => {
  const metrics = createMetrics({ processMetrics: false });
  const counts = new PodMetrics(metrics);
  const store = new PodStore();
  const tracked = (uid: string, more: Partial<TrackedPod> = {}): TrackedPod => {
    const made = pod({}, uid);
    store.set(made);
    return {
      uid,
      fullName: uid,
      pod: made,
      source: 'file',
      shard: 0,
      phase: 'started',
      terminating: false,
      comeback: null,
      ...more,
    };
  };
  const pods = {
    a: tracked('a'),
    done: tracked('done'),
    removed: tracked('removed', { terminating: true }),
    back: tracked('back', { terminating: true, comeback: pod({}, 'back') }),
    stray: tracked('stray', { source: 'orphan', terminating: true }),
    api: tracked('api', { source: 'api' }),
  };
  const state = (uid: string, s: string) =>
    store.report({ uid, status: {}, state: s, why: '', memory: { containers: {}, probes: {}, messages: {} } } as never);
  state('a', 'syncing.running');
  state('done', 'terminated.kept');
  state('removed', 'terminating.stoppingContainers');
  state('back', 'terminating.stoppingContainers');
  state('stray', 'terminating.stoppingContainers');
  const start: PodMessage = {
    type: 'pod.start',
    at: 0,
    pod: pods.stray.pod,
    source: 'orphan',
    observed: null,
    memory: null,
    runtimeReady: true,
    networkReady: true,
  };
  counts.posted('stray', start);
  counts.posted('stray', start);
  counts.posted('a', { ...start, source: 'file' });
  counts.finished(pods.back);
  counts.finished(pods.done);
  counts.scrape(
    { context: { shards: 1, sourcesReady: true, pods: podTable(Object.values(pods)) }, journalBytes: 10 },
    store,
  );
  const text = await metrics.text();
  for (const line of [
    'kubelet_desired_pods{static="true"} 3',
    'kubelet_desired_pods{static=""} 1',
    'kubelet_active_pods{static="true"} 2',
    'kubelet_working_pods{lifecycle="sync",config="desired",static="true"} 1',
    'kubelet_working_pods{lifecycle="sync",config="desired",static=""} 1',
    'kubelet_working_pods{lifecycle="terminated",config="desired",static="true"} 1',
    'kubelet_working_pods{lifecycle="terminating",config="orphan",static="true"} 2',
    'kubelet_working_pods{lifecycle="terminating",config="runtime_only",static="unknown"} 1',
    'kubelet_orphaned_runtime_pods_total 1',
    'kubelet_restarted_pods_total{static="true"} 1',
    'actorlet_journal_bytes_total 10',
  ])
    assert.ok(
      text.includes(`\n${line}\n`),
      `${line}\n${text
        .split('\n')
        .filter((l) => l.startsWith(line.split('{')[0] ?? ''))
        .join('\n')}`,
    );
});
