/**
 * Volumes of a CSI driver whose ground goes away under a pod: the attachment by force, or the driver for good. This test stands for the external
 * attacher. `CLUSTER_AGENT=kubelet` shows the same of the reference.
 */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { runs } from '../containerd/agent/support/test-pod.ts';
import { CsiDriver } from '../tools/csi-driver/csi-driver.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Node, Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { boundClaim, driverOf as makeDriver, nothingLeft, STORAGE } from './support/csi-world.ts';
import { apiPod } from './support/manifests.ts';
import { agentUnderTest } from './support/node-config.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';
import type { Space } from './support/space.ts';

const NODE = 'lost';
const drivers: CsiDriver[] = [];
after(() => drivers.forEach((driver) => driver.stop()));

const cluster = withCluster({
  nodes: [{ name: NODE }],
  // What this test takes away is not put back while it looks.
  plane: { controllerManagerFlags: ['--attach-detach-reconcile-sync-period=1h'] },
});

interface Attachment {
  metadata: { name: string };
  spec: { source: { persistentVolumeName?: string } };
}

const container = runs('c', { volumeMounts: [{ name: 'data', mountPath: '/data' }] });
const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];

/** A driver whose volumes are attached, and a claim of it. */
async function world(name: string): Promise<{ driver: CsiDriver; space: Space; volume: string; unique: string }> {
  const node = cluster.node(NODE);
  const driver = await makeDriver(cluster.plane(), node, name, { attachRequired: true, fsGroupPolicy: 'File' });
  drivers.push(driver);
  const space = await cluster.space(name.slice(0, name.indexOf('.')));
  const volume = await boundClaim(cluster.plane(), space, name, 'data');
  return { driver, space, volume, unique: `kubernetes.io/csi/${name}^${volume}-disk` };
}

async function attachmentOf(volume: string): Promise<Attachment | undefined> {
  const all = await cluster.plane().api.list<Attachment>(`${STORAGE}/volumeattachments`);
  return all.find(({ spec }) => spec.source.persistentVolumeName === volume);
}

/** A pod that is Ready once its volume is told to be attached. */
async function readyPod(space: Space, volume: string): Promise<Pod> {
  await space.create(apiPod('p', [container], { volumes }));
  const { metadata } = await waitFor('an attachment', () => attachmentOf(volume));
  await cluster
    .plane()
    .api.patch(`${STORAGE}/volumeattachments/${metadata.name}/status`, { status: { attached: true } });
  return space.waitPod('p', 'ready', isReadyPod);
}

async function inUse(): Promise<readonly string[]> {
  const { status } = await cluster.plane().api.get<Node>(`/api/v1/nodes/${NODE}`);
  return status?.volumesInUse ?? [];
}

/** A volume that is mounted is in use, at any time. The reference says so again some while after a restart. */
async function usedStill(unique: string): Promise<void> {
  if (agentUnderTest() === 'kubelet')
    await waitFor('it to be in use', async () => (await inUse()).includes(unique) || undefined);
  assert.equal((await inUse()).includes(unique), true);
}

async function waitUnused(unique: string): Promise<void> {
  await waitFor('the node to use it no more', async () => ((await inUse()).includes(unique) ? undefined : true));
}

const hasFolder = async (uid: string): Promise<boolean> =>
  (await readdir(join(cluster.node(NODE).agentRoot, 'pods'))).includes(uid);

const mountsOf = async (uid: string): Promise<string[]> =>
  (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path.includes(`/pods/${uid}/volumes/kubernetes.io~csi/`));

// One after the other: the node's agent is killed.
describe('CSI volumes that lose their ground', () => {
  test('an attachment that is removed by force leaves the pod as it runs, also over a restart; its volume is taken down with it', async () => {
    const { driver, space, volume, unique } = await world('forced.csi.example.com');
    const { api } = cluster.plane();
    const pod = await readyPod(space, volume);
    const node = cluster.node(NODE);
    await node.sh(uidOf(pod), 'c', 'echo before > /data/file');
    const before = driver.did;
    const attachment = await attachmentOf(volume);
    await api.delete(`${STORAGE}/volumeattachments/${attachment?.metadata.name ?? ''}`);
    await api.patch(`/api/v1/nodes/${NODE}/status`, { status: { volumesAttached: [] } });
    await node.sh(uidOf(pod), 'c', 'echo after >> /data/file');
    await node.kill9();
    await node.startAgent();
    await node.waitSchedulable();
    // Another pod's whole life: the agent has looked at what it has meanwhile.
    await space.create(apiPod('other', [runs('c')], { nodeName: NODE }));
    const other = await space.waitPod('other', 'ready', isReadyPod);
    await space.remove('Pod', 'other');
    await space.waitGone(other);
    assert.equal(await node.sh(uidOf(pod), 'c', 'cat /data/file'), 'before\nafter\n');
    const now = await space.get<Pod>('Pod', 'p');
    assert.equal(isReadyPod(now), true);
    assert.equal(now.status?.containerStatuses?.[0]?.restartCount, 0);
    const done = driver.did.slice(before.length).filter((method) => method !== 'NodeGetVolumeStats');
    assert.deepEqual(done, [], 'nothing is done to a volume in use');
    await usedStill(unique);
    await space.remove('Pod', 'p');
    await space.waitGone(pod);
    await nothingLeft(node, 'forced.csi.example.com');
    const down = driver.did.slice(before.length).filter((method) => method !== 'NodeGetVolumeStats');
    assert.deepEqual(down, ['NodeUnpublishVolume', 'NodeUnstageVolume']);
    await waitUnused(unique);
    assert.equal(await hasFolder(uidOf(pod)), false);
  });

  test('a pod deleted by force whose driver is gone keeps its volume, in use, and holds up nobody; a driver that comes back elsewhere takes it down', async () => {
    const name = 'gone.csi.example.com';
    const { driver, space, volume, unique } = await world(name);
    const node = cluster.node(NODE);
    const pod = await readyPod(space, volume);
    const uid = uidOf(pod);
    driver.stop();
    await waitFor('the CSINode to lose it', async () => {
      const path = `${STORAGE}/csinodes/${NODE}`;
      const { spec } = await cluster.plane().api.get<{ spec: { drivers: { name: string }[] | null } }>(path);
      return spec.drivers?.some((each) => each.name === name) === true ? undefined : true;
    });
    await space.remove('Pod', 'p', { gracePeriodSeconds: 0 });
    await space.waitGone(pod);
    await node.waitNothingRuns(uid);
    const stays = async (): Promise<void> => {
      assert.equal((await mountsOf(uid)).length, 1);
      await usedStill(unique);
    };
    const another = async (of: string): Promise<void> => {
      await space.create(apiPod(of, [runs('c')], { nodeName: NODE }));
      const other = await space.waitPod(of, 'ready', isReadyPod);
      await space.remove('Pod', of);
      await space.waitGone(other);
    };
    await another('beside');
    await stays();
    await node.kill9();
    await node.startAgent();
    await node.waitSchedulable();
    await another('later');
    await stays();
    const back = new CsiDriver({
      ...driver.options,
      socket: join(node.dir, name, 'other.sock'),
      traits: driver.traits,
    });
    drivers.push(back);
    await back.start();
    await nothingLeft(node, name);
    assert.deepEqual(
      back.did.filter((method) => method !== 'NodeGetVolumeStats'),
      ['NodeUnpublishVolume', 'NodeUnstageVolume'],
    );
    await waitUnused(unique);
    await waitFor('the folder of the pod to go', async () => ((await hasFolder(uid)) ? undefined : true));
  });
});
