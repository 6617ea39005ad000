/** A node changes hands with volumes of a CSI driver in use: from actorlet to the reference kubelet, and back. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { runs } from '../containerd/agent/support/test-pod.ts';
import type { CsiDriver } from '../tools/csi-driver/csi-driver.ts';
import { lacksTool } from '../tools/reference-tool.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { boundClaim, driverOf, nothingLeft } from './support/csi-world.ts';
import { apiPod } from './support/manifests.ts';
import { agentUnderTest } from './support/node-config.ts';
import type { AgentKind } from './support/node-config.ts';
import { rememberMachine } from './support/reference-remains.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';
import type { Space } from './support/space.ts';

const NODE = 'hands';
const NAME = 'hands.csi.example.com';
const skip = await lacksTool('kubelet');
const cluster = withCluster({ nodes: [{ name: NODE, config: { featureGates: { KubeletInUserNamespace: true } } }] });
let driver: CsiDriver | undefined;
after(() => driver?.stop());

/** The agent ends, and the other one takes the node over: the driver has registered with it, and the node is ready. */
async function handOver(to: AgentKind): Promise<void> {
  const node = cluster.node(NODE);
  const before = driver?.told.length ?? 0;
  await node.agent.terminate();
  await node.startAgent(to);
  await waitFor(`the driver to be registered with ${to}`, () =>
    driver?.told.slice(before).find((told) => told.pluginRegistered),
  );
  await node.waitSchedulable();
}

const claims = (...names: string[]) => names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
const container = runs('c', {
  volumeMounts: [{ name: 'files', mountPath: '/data' }],
  volumeDevices: [{ name: 'disk', devicePath: '/dev/xvda' }],
});

async function ready(space: Space, name: string): Promise<Pod> {
  await space.create(apiPod(name, [container], { volumes: claims('files', 'disk') }));
  return space.waitPod(name, 'ready', isReadyPod);
}

async function gone(space: Space, pod: Pod): Promise<void> {
  await space.remove('Pod', pod.metadata?.name ?? '');
  await space.waitGone(pod);
  await nothingLeft(cluster.node(NODE), NAME);
}

test('claims in use pass from actorlet to kubelet and from kubelet to actorlet', { skip }, async (t) => {
  const putBack = await rememberMachine();
  t.after(() => putBack());
  const node = cluster.node(NODE);
  const other: AgentKind = agentUnderTest() === 'actorlet' ? 'kubelet' : 'actorlet';
  const spec = { attachRequired: false, fsGroupPolicy: 'File', volumeLifecycleModes: ['Persistent'] };
  driver = await driverOf(cluster.plane(), node, NAME, spec);
  const space = await cluster.space('hands');
  const files = await boundClaim(cluster.plane(), space, NAME, 'files');
  await boundClaim(cluster.plane(), space, NAME, 'disk', { volumeMode: 'Block' });

  const first = await ready(space, 'first');
  const id = await node.containerId(uidOf(first), 'c');
  await node.sh(uidOf(first), 'c', 'echo one > /data/file; echo -n one > /dev/xvda; sync');
  const publishes = () => driver?.did.filter((method) => method === 'NodePublishVolume').length;
  assert.equal(publishes(), 2);
  await handOver(other);
  assert.equal(await node.containerId(uidOf(first), 'c'), id);
  await node.sh(uidOf(first), 'c', 'echo two >> /data/file');
  await gone(space, first);

  const second = await ready(space, 'second');
  const kept = await node.sh(uidOf(second), 'c', 'cat /data/file; head -c 3 /dev/xvda');
  assert.equal(kept, 'one\ntwo\none');
  const secondId = await node.containerId(uidOf(second), 'c');
  await handOver(agentUnderTest());
  assert.equal(await node.containerId(uidOf(second), 'c'), secondId);
  await node.sh(uidOf(second), 'c', 'echo three >> /data/file');
  await gone(space, second);
  assert.equal(await readFile(join(driver.store.dataOf(`${files}-disk`), 'file'), 'utf8'), 'one\ntwo\nthree\n');
});
