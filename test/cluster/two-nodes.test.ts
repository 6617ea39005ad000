import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment, Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { template, workload } from './support/manifests.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';
import { runs } from '../containerd/agent/support/test-pod.ts';

const NODES = ['one', 'two'];
const REPLICAS = 8;
// A node that does not renew its lease is given up soon, but not one that is only slow.
const config = { nodeLeaseDurationSeconds: 16, nodeStatusUpdateFrequency: '2s' };
const cluster = withCluster({
  nodes: NODES.map((name) => ({ name, netns: true, config })),
  plane: { controllerManagerFlags: ['--node-monitor-grace-period=20s', '--node-monitor-period=1s'] },
});

const tolerations = ['not-ready', 'unreachable'].map((taint) => ({
  key: `node.kubernetes.io/${taint}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 1,
}));

test('two agents on two nodes share the load, and pods move when one goes away', async () => {
  const space = await cluster.space('shared');
  const [one, two] = [cluster.node('one'), cluster.node('two')];
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: { app: 'web' } },
  };
  const podTemplate = template('web', [runs('c')], { tolerations, topologySpreadConstraints: [spread] });
  await space.create(workload('Deployment', 'web', podTemplate, { replicas: REPLICAS }));
  const pods = await space.waitPods('app=web', 'ready', (all) => all.length === REPLICAS && all.every(isReadyPod));
  const on = (name: string, all: readonly Pod[]) => all.filter((p) => p.spec?.nodeName === name);
  for (const name of NODES) {
    const node = cluster.node(name);
    const own = on(name, pods);
    assert.ok(own.length >= 3, `${name} has ${own.length}`);
    assert.ok(own.every((p) => p.status?.hostIP === node.address));
    const running = (await node.containers()).filter((c) => c.running).map((c) => c.podUid);
    assert.deepEqual(running.sort(), own.map(uidOf).sort(), `${name} runs its own pods only`);
  }
  const moved = on('two', pods);
  await two.kill9();
  await two.waitReady('Unknown');
  await space.wait<Deployment>(
    'Deployment',
    'web',
    'whole again on one node',
    (d) => d.status?.availableReplicas === REPLICAS,
  );
  const later = await space.waitPods('app=web', 'all on one', (all) => {
    const ready = all.filter(isReadyPod);
    return ready.length === REPLICAS && on('one', ready).length === REPLICAS;
  });
  assert.ok(
    later.filter((p) => p.spec?.nodeName === 'two').every((p) => p.metadata?.deletionTimestamp !== undefined),
    'what is left on the lost node is on its way out',
  );

  // back again, it ends what it was to end
  await two.startAgent();
  await two.waitSchedulable();
  for (const pod of moved) await space.waitGone(pod);
  await two.waitNothingRuns(...moved.map(uidOf));
  await space.kubectl('scale', 'deployment/web', `--replicas=${REPLICAS + 4}`);
  await space.waitPods('app=web', 'new ones on the node that came back', (all) => {
    return all.length === REPLICAS + 4 && all.every(isReadyPod) && on('two', all).length >= 3;
  });
  assert.deepEqual([...(await one.doubles()), ...(await two.doubles())], []);
});

test('a node that is deleted and whose agent starts again is a new node', async () => {
  const two = cluster.node('two');
  const { api } = cluster.plane();
  const before = await two.object();
  await two.kill9();
  await api.delete('/api/v1/nodes/two');
  await two.startAgent();
  const node = await two.waitReady('True');
  assert.notEqual(node.metadata?.uid, before?.metadata?.uid);
});
