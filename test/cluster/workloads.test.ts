import assert from 'node:assert/strict';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { PATIENT, runs, shell } from '../containerd/agent/support/test-pod.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { DaemonSet, Deployment, Event, Job, Node, Pod, StatefulSet } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { apiPod, template, workload } from './support/manifests.ts';
import { agentUnderTest } from './support/node-config.ts';
import { isReadyPod, restarts, uidOf } from './support/seen-pods.ts';

const NODE = 'alpha';

// The DaemonSet is there before any node: its pod must arrive with the registration.
const cluster = withCluster({
  nodes: [{ name: NODE }],
  prepare: async ({ plane }) => {
    const daemonSet = workload('DaemonSet', 'on-each', template('on-each'));
    const body = { apiVersion: 'apps/v1', ...daemonSet };
    await plane().api.post('/apis/apps/v1/namespaces/default/daemonsets', body);
  },
});

test('a DaemonSet pod arrives on registration of a node', async () => {
  const { api } = cluster.plane();
  const pod = await waitFor('the DaemonSet pod to be ready', async () => {
    const pods = await api.list<Pod>('/api/v1/namespaces/default/pods?labelSelector=app%3Don-each');
    return pods.find((p) => p.spec?.nodeName === NODE && isReadyPod(p));
  });
  assert.equal(pod.status?.hostIP, cluster.node(NODE).address);
  await waitFor('the DaemonSet to count it', async () => {
    const set = await api.get<DaemonSet>('/apis/apps/v1/namespaces/default/daemonsets/on-each');
    return set.status?.numberReady === 1 ? true : undefined;
  });
});

// These mostly wait, each in a namespace of its own.
describe('workloads', { concurrency: true }, () => {
  test('a Deployment of 20 rolls out, is updated and scaled to 0', async () => {
    const space = await cluster.space('deployment');
    const node = cluster.node(NODE);
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 5, maxUnavailable: 5 } };
    await space.create(workload('Deployment', 'web', template('web'), { replicas: 20, strategy }));
    await space.wait<Deployment>('Deployment', 'web', '20 available', (d) => d.status?.availableReplicas === 20);
    const first = await space.pods('app=web');
    assert.equal(new Set(first.map((p) => p.status?.podIP)).size, 20, 'each pod has an address of its own');
    assert.equal(restarts(first), 0);

    const env = [{ name: 'RELEASE', value: '2' }];
    const update = { spec: { template: template('web', [runs('c', { env })]) } };
    await space.patch('Deployment', 'web', update, 'strategic-merge');
    await space.wait<Deployment>('Deployment', 'web', 'updated', ({ metadata, status }) => {
      const whole = status?.updatedReplicas === 20 && status.availableReplicas === 20 && status.replicas === 20;
      return whole && status.observedGeneration === metadata?.generation;
    });
    await space.waitPods('app=web', '20 new ones only', (pods) => pods.length === 20 && pods.every(isReadyPod));
    const second = await space.pods('app=web');
    const old = new Set(first.map(uidOf));
    assert.ok(
      second.every((p) => !old.has(uidOf(p))),
      'all pods are new',
    );
    assert.equal(await node.sh(uidOf(second[0] ?? {}), 'c', 'echo $RELEASE'), '2\n');
    assert.equal(restarts(second), 0);

    await space.kubectl('scale', 'deployment/web', '--replicas=0');
    await space.waitPods('app=web', 'none', (pods) => pods.length === 0);
    await node.waitNothingRuns(...first.map(uidOf), ...second.map(uidOf));
  });

  test('a Job completes with its failures retried', async () => {
    const space = await cluster.space('job');
    const count = join(cluster.node(NODE).dir, 'job-count');
    await mkdir(count);
    const script = 'n=$(ls /count | wc -l); touch /count/$n; [ $n -ge 2 ]';
    const volumeMounts = [{ name: 'count', mountPath: '/count' }];
    const volumes = [{ name: 'count', hostPath: { path: count, type: 'Directory' } }];
    const podTemplate = template('job', [shell('c', script, { volumeMounts })], { restartPolicy: 'Never', volumes });
    await space.create({ kind: 'Job', metadata: { name: 'retry' }, spec: { backoffLimit: 4, template: podTemplate } });
    const job = await space.wait<Job>('Job', 'retry', 'complete', (j) =>
      (j.status?.conditions ?? []).some((c) => c.type === 'Complete' && c.status === 'True'),
    );
    assert.equal(job.status?.succeeded, 1);
    assert.equal(job.status?.failed, 2);
    const pods = await space.pods('job-name=retry');
    assert.deepEqual(pods.map((p) => p.status?.phase).sort(), ['Failed', 'Failed', 'Succeeded']);
    for (const pod of pods) {
      const { state } = pod.status?.containerStatuses?.[0] ?? {};
      const failed = pod.status?.phase === 'Failed';
      assert.equal(state?.terminated?.exitCode, failed ? 1 : 0);
      assert.equal(state?.terminated?.reason, failed ? 'Error' : 'Completed');
    }
    assert.equal((await readdir(count)).length, 3, 'the container ran three times');
  });

  test('a Job restarts its container in place', async () => {
    const space = await cluster.space('job-in-place');
    const script = 'n=$(ls /data | wc -l); touch /data/$n; [ $n -ge 2 ]';
    const volumeMounts = [{ name: 'data', mountPath: '/data' }];
    const more = { restartPolicy: 'OnFailure', volumes: [{ name: 'data', emptyDir: {} }] };
    const podTemplate = template('job', [shell('c', script, { volumeMounts })], more);
    await space.create({ kind: 'Job', metadata: { name: 'place' }, spec: { backoffLimit: 5, template: podTemplate } });
    const job = await space.wait<Job>('Job', 'place', 'complete', (j) => j.status?.succeeded === 1);
    assert.equal(job.status?.failed ?? 0, 0);
    const [pod] = await space.pods('job-name=place');
    assert.equal(pod?.status?.containerStatuses?.[0]?.restartCount, 2);
  });

  test('a StatefulSet restarts in order', async () => {
    const space = await cluster.space('stateful');
    const readinessProbe = { exec: { command: ['true'] }, periodSeconds: 1, ...PATIENT };
    const spec = { replicas: 3, serviceName: 'db' };
    const steps: string[] = [];
    const containers = [runs('c', { readinessProbe })];
    const ready = new Set<string>();
    const alive = new Set<string>();
    let mostAway = 0;
    const watching = cluster.plane().api.watch<Pod>(space.path('Pod'), ({ type, object }) => {
      const name = object.metadata?.name ?? '';
      if (type === 'DELETED') alive.delete(name);
      else alive.add(name);
      const wasReady = ready.has(name);
      if (type !== 'DELETED' && isReadyPod(object)) ready.add(name);
      else ready.delete(name);
      if (wasReady && !ready.has(name)) steps.push(`${name} down`);
      if (!wasReady && ready.has(name)) steps.push(`${name} up`);
      if (restarting) mostAway = Math.max(mostAway, 3 - ready.size);
    });
    let restarting = false;
    try {
      await space.create(workload('StatefulSet', 'db', template('db', containers), spec));
      await space.wait<StatefulSet>('StatefulSet', 'db', '3 ready', (s) => s.status?.readyReplicas === 3);
      await waitFor('the watch to show three', () => (ready.size === 3 ? true : undefined));
      assert.deepEqual(steps, ['db-0 up', 'db-1 up', 'db-2 up']);
      restarting = true;
      steps.length = 0;
      await space.kubectl('rollout', 'restart', 'statefulset/db');
      await space.wait<StatefulSet>('StatefulSet', 'db', 'all new', ({ metadata, status }) => {
        const seen = status?.observedGeneration === metadata?.generation;
        return seen && status?.updatedReplicas === 3 && status.readyReplicas === 3 && ready.size === 3;
      });
      const [two, one, zero] = ['db-2', 'db-1', 'db-0'].map((name) => [`${name} down`, `${name} up`]) as string[][];
      assert.deepEqual(steps, [...(two ?? []), ...(one ?? []), ...(zero ?? [])]);
      assert.equal(mostAway, 1, 'never two away at a time');
      assert.deepEqual(await cluster.node(NODE).doubles(), []);
    } finally {
      watching.stop();
    }
  });

  test('kubectl delete with grace lets a container end in its own time, and no longer', async () => {
    const space = await cluster.space('grace');
    const out = join(cluster.node(NODE).dir, 'grace');
    await mkdir(out);
    const volumes = [{ name: 'out', hostPath: { path: out } }];
    const volumeMounts = [{ name: 'out', mountPath: '/out' }];
    const ends = 'trap "sleep 2; echo done > /out/polite; exit 3" TERM; touch /tmp/up; while :; do sleep 0.1; done';
    const stays = 'trap "echo asked > /out/deaf" TERM; touch /tmp/up; while :; do sleep 0.1; done';
    const readinessProbe = { exec: { command: ['cat', '/tmp/up'] }, periodSeconds: 1, ...PATIENT };
    const spec = { volumes, terminationGracePeriodSeconds: 60 };
    await space.create(apiPod('polite', [shell('c', ends, { volumeMounts, readinessProbe })], spec));
    await space.create(apiPod('deaf', [shell('c', stays, { volumeMounts, readinessProbe })], spec));
    const [polite, deaf] = await Promise.all(
      ['polite', 'deaf'].map((name) => space.waitPod(name, 'ready', isReadyPod)),
    );
    assert.ok(polite !== undefined && deaf !== undefined);
    // kubectl waits for the end by itself
    await Promise.all([
      space.kubectl('delete', 'pod', 'polite', '--grace-period=30'),
      space.kubectl('delete', 'pod', 'deaf', '--grace-period=6'),
    ]);
    assert.equal(await readFile(join(out, 'polite'), 'utf8'), 'done\n');
    assert.equal(await readFile(join(out, 'deaf'), 'utf8'), 'asked\n', 'asked before it was killed');
    await cluster.node(NODE).waitNothingRuns(uidOf(polite), uidOf(deaf));
    const killing = (await space.events('polite')).filter((e) => e.reason === 'Killing');
    assert.deepEqual(
      killing.map((e: Event) => e.message),
      ['Stopping container c'],
    );
  });

  const stays = 'trap "" TERM; while :; do sleep 0.1; done';
  const longGrace = { terminationGracePeriodSeconds: 600 };

  test('kubectl delete --now and --force leave nothing running', async () => {
    const space = await cluster.space('force');
    const names = ['now', 'forced'];
    for (const name of names) await space.create(apiPod(name, [shell('c', stays)], longGrace));
    const pods = await Promise.all(names.map((name) => space.waitPod(name, 'ready', isReadyPod)));
    await Promise.all([
      space.kubectl('delete', 'pod', 'now', '--now'),
      space.kubectl('delete', 'pod', 'forced', '--force', '--grace-period=0'),
    ]);
    assert.deepEqual(await space.pods(), []);
    await cluster.node(NODE).waitNothingRuns(...pods.map(uidOf));
  });

  const skip = agentUnderTest() === 'kubelet' && 'kubelet v1.35.4 loses a shorter grace at times on a busy machine';
  test('a second, shorter delete cuts the grace of the first', { skip }, async () => {
    const space = await cluster.space('shorter');
    await space.create(apiPod('shortened', [shell('c', stays)], longGrace));
    const pod = await space.waitPod('shortened', 'ready', isReadyPod);
    await space.kubectl('delete', 'pod', 'shortened', '--wait=false');
    await space.waitEvent('shortened', 'Killing');
    await space.kubectl('delete', 'pod', 'shortened', '--grace-period=1');
    await cluster.node(NODE).waitNothingRuns(uidOf(pod));
  });
});

test('a node is drained, and takes pods again when it is uncordoned', async () => {
  const space = await cluster.space('drain');
  const { api, kubectl } = cluster.plane();
  await space.create(workload('Deployment', 'moves', template('moves'), { replicas: 3 }));
  const before = await space.waitPods('app=moves', 'ready', (pods) => pods.length === 3 && pods.every(isReadyPod));
  const flags = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=240s'];
  await kubectl.run(['drain', NODE, ...flags]);
  await cluster.node(NODE).waitNothingRuns(...before.map(uidOf));
  const node = await api.get<Node>(`/api/v1/nodes/${NODE}`);
  assert.equal(node.spec?.unschedulable, true);
  const waiting = await space.waitPods('app=moves', 'unscheduled', (pods) => {
    const reasons = pods.map((p) => p.status?.conditions?.find((c) => c.type === 'PodScheduled')?.reason);
    return pods.length === 3 && reasons.every((reason) => reason === 'Unschedulable');
  });
  assert.ok(waiting.every((p) => p.spec?.nodeName === undefined));
  const stayed = await api.list<Pod>('/api/v1/namespaces/default/pods?labelSelector=app%3Don-each');
  assert.deepEqual(stayed.map(isReadyPod), [true], 'the DaemonSet pod stays');
  await kubectl.run(['uncordon', NODE]);
  await space.waitPods('app=moves', 'ready again', (pods) => pods.length === 3 && pods.every(isReadyPod));
});
