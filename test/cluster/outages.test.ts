import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podOf, runs } from '../containerd/agent/support/test-pod.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Deployment, Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { apiPod, template, workload } from './support/manifests.ts';
import { isReadyPod, restarts, uidOf } from './support/seen-pods.ts';
import type { Space } from './support/space.ts';

const NODE = 'delta';
/** How long the API server is away: two minutes where all must hold, less for whoever works on it. */
const OUTAGE_SECONDS = Number(process.env['CLUSTER_OUTAGE_SECONDS'] ?? (process.env['CI'] === 'true' ? 120 : 30));
const REPLICAS = 16;
const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 4, maxUnavailable: 4 } };
const release = (value: string) => [runs('c', { env: [{ name: 'RELEASE', value }] })];

const cluster = withCluster({ nodes: [{ name: NODE }] });

/** Starts a rollout of the next release and waits until it is in its middle: some pods are new and ready, some old. */
async function middleOfRollout(space: Space, value: string): Promise<void> {
  const update = { spec: { template: template('web', release(value)) } };
  await space.patch('Deployment', 'web', update, 'strategic-merge');
  await space.wait<Deployment>('Deployment', 'web', `in the middle of release ${value}`, ({ metadata, status }) => {
    const updated = status?.updatedReplicas ?? 0;
    return status?.observedGeneration === metadata?.generation && updated >= 4 && updated < REPLICAS;
  });
}

async function rolledOut(space: Space, what: string): Promise<void> {
  const whole = ({ metadata, status }: Deployment) => {
    const { updatedReplicas, availableReplicas, replicas, observedGeneration } = status ?? {};
    const all = [updatedReplicas, availableReplicas, replicas].every((n) => n === REPLICAS);
    return all && observedGeneration === metadata?.generation;
  };
  // the controllers back off while the API server is away, and take a minute to come back
  await space.wait<Deployment>('Deployment', 'web', what, whole, 480_000);
}

/**
 * Pods that were restarted, but for those whose container containerd refused or broke while it was being started: a
 * killed agent's call ends with it, the name of that try is taken, and the next try counts as a restart, as with kubelet.
 */
function restarted(pods: readonly Pod[]): string[] {
  return pods
    .map((p) => JSON.stringify(p.status?.containerStatuses ?? []))
    .filter((text) => !/"restartCount":0/.test(text))
    .filter((text) => !/"restartCount":1/.test(text) || !/StartError|failed to create containerd task/.test(text));
}

/** Each pod of the API runs as the runtime has it, once, and nothing else runs. */
async function assertSameAsRuntime(space: Space): Promise<void> {
  await waitFor(`the runtime to hold what ${space.name} says`, async () => {
    const pods = await space.pods('app=web');
    const wanted = pods.map((p) => `${p.metadata?.name ?? ''} ${p.status?.containerStatuses?.[0]?.containerID ?? ''}`);
    const running = (await cluster.node(NODE).containers()).filter((c) => c.running && c.pod.startsWith('web-'));
    const has = running.map((c) => `${c.pod} containerd://${c.id}`);
    assert.deepEqual(wanted.sort(), has.sort());
    return true;
  });
}

test('the API server is away in the middle of a roll-out: nothing restarts, and all is told when it is back', async (t) => {
  const space = await cluster.space('outage');
  const node = cluster.node(NODE);
  const plane = cluster.plane();
  await space.create(workload('Deployment', 'web', template('web', release('1')), { replicas: REPLICAS, strategy }));
  await space.create(apiPod('falls', [runs('c')]));
  await rolledOut(space, 'up');
  const falls = await space.waitPod('falls', 'ready', isReadyPod);

  await middleOfRollout(space, '2');
  await plane.stopApiServer();
  // what was on its way out when the server went may end; nobody else
  const fallen = await node.containerId(uidOf(falls), 'c');
  await node.containerd.cri.stopContainer(fallen);
  const until = performance.now() + OUTAGE_SECONDS * 1000;
  const settled = await waitFor('the node to settle', async () => {
    const first = (await node.containers()).filter((c) => c.running);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const second = (await node.containers()).filter((c) => c.running);
    const same = first.length === second.length && first.every((c) => second.some((d) => d.id === c.id));
    return same && second.some((c) => c.podUid === uidOf(falls)) ? second : undefined;
  });
  await waitFor(
    'the outage to be over',
    async () => {
      const now = new Set((await node.containers()).filter((c) => c.running).map((c) => c.id));
      const lost = settled.filter((c) => !now.has(c.id));
      assert.deepEqual(lost, [], 'a container ended while the API server was away');
      return performance.now() > until ? true : undefined;
    },
    () => node.explain(),
    OUTAGE_SECONDS * 1000 + 240_000,
  );
  assert.ok(settled.length > REPLICAS / 2, `${settled.length} containers ran on`);

  await plane.startApiServer();
  const back = performance.now();
  await space.waitPod('falls', 'told as restarted', (p) => {
    const status = p.status?.containerStatuses?.[0];
    return status?.restartCount === 1 && status.ready && status.containerID !== `containerd://${fallen}`;
  });
  t.diagnostic(`statuses right ${Math.round(performance.now() - back)} ms after the API server was ready`);
  await node.waitReady('True');
  await rolledOut(space, 'rolled out after the outage');
  t.diagnostic(`roll-out over ${Math.round(performance.now() - back)} ms after the API server was ready`);
  assert.equal(restarts(await space.pods('app=web')), 0);
  await assertSameAsRuntime(space);
  await space.remove('Deployment', 'web');
  await space.waitPods('app=web', 'none', (pods) => pods.length === 0);
});

test('the agent is killed in the middle of a roll-out and started again: no double containers', async () => {
  const space = await cluster.space('killed');
  const node = cluster.node(NODE);
  await space.create(workload('Deployment', 'web', template('web', release('1')), { replicas: REPLICAS, strategy }));
  let doubled: string[] = [];
  let watching = true;
  const watch = (async () => {
    while (watching) {
      const found = await node.doubles();
      if (found.length > 0) doubled = found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  try {
    for (const containers of [3, 8]) {
      await waitFor(`${containers} containers`, async () => {
        const running = (await node.containers()).filter((c) => c.running && c.pod.startsWith('web-'));
        return running.length >= containers ? true : undefined;
      });
      await node.kill9();
      await node.startAgent();
    }
    await rolledOut(space, 'up although the agent was killed');
    for (const value of ['2', '3']) {
      await middleOfRollout(space, value);
      await node.kill9();
      const running = (await node.containers()).filter((c) => c.running);
      await node.startAgent();
      assert.ok(running.length > 0, 'containers run on without an agent');
      await rolledOut(space, `release ${value} out although the agent was killed`);
    }
  } finally {
    watching = false;
    await watch;
  }
  assert.deepEqual(doubled, []);
  assert.deepEqual(restarted(await space.pods('app=web')), []);
  await assertSameAsRuntime(space);
});

test('an agent that starts without an API server runs its static pods, keeps the others, and reports when it is back', async () => {
  const space = await cluster.space('alone');
  const node = cluster.node(NODE);
  const plane = cluster.plane();
  await space.create(apiPod('stays', [runs('c')]));
  const stays = await space.waitPod('stays', 'ready', isReadyPod);
  const container = await node.containerId(uidOf(stays), 'c');
  await node.kill9();
  await plane.stopApiServer();
  try {
    await node.writeManifest('alone.json', podOf('alone', [runs('c')]));
    await node.startAgent();
    await waitFor('the static pod to run', async () =>
      (await node.containers()).some((c) => c.running && c.pod === `alone-${NODE}`) ? true : undefined,
    );
    assert.equal(await node.containerId(uidOf(stays), 'c'), container);
  } finally {
    await plane.startApiServer();
  }
  await waitFor('the mirror pod to be ready', async () => {
    const mirror = await plane.api.find<Pod>(`/api/v1/namespaces/default/pods/alone-${NODE}`);
    return mirror !== undefined && isReadyPod(mirror) ? true : undefined;
  });
  const after = await space.waitPod('stays', 'ready still', isReadyPod);
  assert.equal(after.metadata?.uid, stays.metadata?.uid);
  assert.equal(await node.containerId(uidOf(stays), 'c'), container, 'nothing was removed because a list failed');
  await node.removeManifest('alone.json');
  await waitFor('the static pod to be gone', async () =>
    (await node.containers()).some((c) => c.pod === `alone-${NODE}`) ? undefined : true,
  );
});
