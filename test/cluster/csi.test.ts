/** Pods with volumes of a CSI driver on a real node of a real control plane; this test stands for the external attacher. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { runs } from '../containerd/agent/support/test-pod.ts';
import type { CsiDriver } from '../tools/csi-driver/csi-driver.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { boundClaim, driverOf as makeDriver, nothingLeft, STORAGE } from './support/csi-world.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { apiPod } from './support/manifests.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';
import type { Space } from './support/space.ts';

const NODE = 'csi';
const drivers: CsiDriver[] = [];
after(() => drivers.forEach((driver) => driver.stop()));

interface Attachment {
  metadata: { name: string; finalizers?: string[] };
  spec: { attacher: string; nodeName: string; source: { persistentVolumeName?: string } };
  status?: { attached: boolean };
}

const cluster = withCluster({ nodes: [{ name: NODE }] });

const driverOf = async (name: string, spec: object): Promise<CsiDriver> => {
  const driver = await makeDriver(cluster.plane(), cluster.node(NODE), name, spec);
  drivers.push(driver);
  return driver;
};

const claims = (...names: string[]) => names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
const mounted = (name: string) => ({ volumeMounts: [{ name, mountPath: '/data' }] });

async function gone(space: Space, pod: Pod): Promise<void> {
  await space.remove('Pod', pod.metadata?.name ?? '');
  await space.waitGone(pod);
  assert.equal((await readdir(join(cluster.node(NODE).agentRoot, 'pods'))).includes(uidOf(pod)), false);
}

// One after the other: the node's agent is killed.
describe('CSI volumes', () => {
  test('a claim is attached, staged and published; its bytes are there for the next pod, and then nothing of it is left', async () => {
    const name = 'attached.csi.example.com';
    const driver = await driverOf(name, { attachRequired: true, podInfoOnMount: true });
    const space = await cluster.space('attached');
    const { api } = cluster.plane();
    const volume = await boundClaim(cluster.plane(), space, name, 'data');
    const attachment = async () =>
      (await api.get<{ items: Attachment[] }>(`${STORAGE}/volumeattachments`)).items.find(
        ({ spec }) => spec.source.persistentVolumeName === volume,
      );
    await space.create(apiPod('writer', [runs('c', mounted('data'))], { volumes: claims('data') }));
    const wanted = await waitFor('an attachment', attachment);
    assert.equal(wanted.spec.attacher, name);
    assert.deepEqual(driver.did, [], 'nothing is staged before it is attached');
    await api.patch(`${STORAGE}/volumeattachments/${wanted.metadata.name}/status`, {
      status: { attached: true, attachmentMetadata: { lun: '1' } },
    });
    const writer = await space.waitPod('writer', 'ready', isReadyPod);
    await cluster.node(NODE).sh(uidOf(writer), 'c', 'echo kept > /data/file');
    const staging = driver.calls.find(({ method }) => method === 'NodeStageVolume')?.request;
    assert.deepEqual(staging?.['publishContext'], { lun: '1' });
    const publishing = driver.calls.find(({ method }) => method === 'NodePublishVolume')?.request;
    const context = publishing?.['volumeContext'] as Record<string, string>;
    assert.equal(context['csi.storage.k8s.io/pod.name'], 'writer');
    assert.equal(await readFile(join(driver.store.dataOf(`${volume}-disk`), 'file'), 'utf8'), 'kept\n');
    // Killed and started again, the agent finds what it has.
    await cluster.node(NODE).kill9();
    await cluster.node(NODE).startAgent();
    await space.create(apiPod('reader', [runs('c', mounted('data'))], { volumes: claims('data') }));
    const reader = await space.waitPod('reader', 'ready', isReadyPod);
    assert.equal(await cluster.node(NODE).sh(uidOf(reader), 'c', 'cat /data/file'), 'kept\n');
    await gone(space, writer);
    await gone(space, reader);
    await nothingLeft(cluster.node(NODE), name);
    const did = driver.did;
    assert.equal(did.filter((method) => method === 'NodeUnpublishVolume').length >= 2, true);
    assert.equal(did.at(-1), 'NodeUnstageVolume');
    await waitFor('it to be detached', async () => ((await attachment()) === undefined ? true : undefined));
  });

  test('a device, an inline volume, and a driver that fails first, without an attachment', async () => {
    const name = 'plain.csi.example.com';
    const volumeLifecycleModes = ['Persistent', 'Ephemeral'];
    const driver = await driverOf(name, { attachRequired: false, fsGroupPolicy: 'File', volumeLifecycleModes });
    const space = await cluster.space('plain');
    await boundClaim(cluster.plane(), space, name, 'disk', { volumeMode: 'Block' });
    driver.faults.set('NodePublishVolume', { code: 13, text: 'not yet', times: 1 });
    const volumes = [...claims('disk'), { name: 'scratch', csi: { driver: name } }];
    const container = runs('c', {
      volumeMounts: [{ name: 'scratch', mountPath: '/data' }],
      volumeDevices: [{ name: 'disk', devicePath: '/dev/xvda' }],
    });
    await space.create(apiPod('p', [container], { volumes, securityContext: { fsGroup: 4321 } }));

    const pod = await space.waitPod('p', 'ready', isReadyPod);
    assert.ok((await space.events('p')).some(({ message }) => message?.endsWith('code = Internal desc = not yet')));
    const seen = await cluster
      .node(NODE)
      .sh(uidOf(pod), 'c', 'echo -n block > /dev/xvda; head -c 5 /dev/xvda; stat -c " %g" /data');
    assert.equal(seen, 'block 4321\n');
    await gone(space, pod);
    await nothingLeft(cluster.node(NODE), name);
  });

  test('an agent that is killed between unpublish and unstage has a successor that unstages', async () => {
    const name = 'hole.csi.example.com';
    const driver = await driverOf(name, { attachRequired: false, fsGroupPolicy: 'File' });
    const space = await cluster.space('hole');
    await boundClaim(cluster.plane(), space, name, 'data');
    await space.create(apiPod('p', [runs('c', mounted('data'))], { volumes: claims('data') }));
    const pod = await space.waitPod('p', 'ready', isReadyPod);
    driver.faults.set('NodeUnstageVolume', { hang: true });
    await space.remove('Pod', 'p');
    await waitFor('the call', () => driver.did.find((method) => method === 'NodeUnstageVolume'));
    await space.waitGone(pod);
    await cluster.node(NODE).kill9();
    driver.faults.set('NodeUnstageVolume', null);
    await cluster.node(NODE).startAgent();
    await nothingLeft(cluster.node(NODE), name);
    assert.equal(driver.did.filter((method) => method === 'NodeUnpublishVolume').length, 1);
  });

  test('a volume that has grown is made larger on the node; its size and inodes are told', async () => {
    const name = 'grown.csi.example.com';
    const driver = await driverOf(name, { attachRequired: false, fsGroupPolicy: 'File' });
    const space = await cluster.space('grown');
    const { api } = cluster.plane();
    const volume = await boundClaim(cluster.plane(), space, name, 'data');
    await api.patch(`/api/v1/persistentvolumes/${volume}`, { spec: { capacity: { storage: '32Mi' } } });
    await space.create(apiPod('p', [runs('c', mounted('data'))], { volumes: claims('data') }));
    const pod = await space.waitPod('p', 'ready', isReadyPod);
    const growing = await waitFor('its growth', () => driver.calls.find(({ method }) => method === 'NodeExpandVolume'));
    assert.equal((growing.request['capacityRange'] as { requiredBytes: string }).requiredBytes, String(32 << 20));
    await space.wait<{ status?: { capacity?: { storage?: string } } }>(
      'PersistentVolumeClaim',
      'data',
      'told to be larger',
      ({ status }) => status?.capacity?.storage === '32Mi',
    );
    interface Told {
      pods: {
        podRef: { uid: string };
        volume?: { name: string; capacityBytes: number; pvcRef?: { name: string } }[];
      }[];
    }
    const told = await waitFor('its size in the stats', async () => {
      const { pods } = await api.get<Told>(`/api/v1/nodes/${NODE}/proxy/stats/summary`);
      const its = pods.find(({ podRef }) => podRef.uid === uidOf(pod))?.volume?.find((each) => each.name === 'data');
      return its?.capacityBytes === 32 << 20 ? its : undefined;
    });
    assert.equal(told.pvcRef?.name, 'data');
    await gone(space, pod);
    await nothingLeft(cluster.node(NODE), name);
  });

  test('a driver that hangs holds up its own volume only; a pod that is deleted meanwhile leaves nothing', async () => {
    const name = 'hung.csi.example.com';
    const driver = await driverOf(name, { attachRequired: false, fsGroupPolicy: 'File' });
    const space = await cluster.space('hung');
    for (const claim of ['stuck', 'well']) await boundClaim(cluster.plane(), space, name, claim);
    driver.faults.set('NodeStageVolume', { hang: true, after: true, times: 1, code: 10, text: 'still at it' });
    await space.create(apiPod('stuck', [runs('c', mounted('stuck'))], { volumes: claims('stuck') }));
    await waitFor('the call', () => driver.did[0]);
    await space.create(apiPod('well', [runs('c', mounted('well'))], { volumes: claims('well') }));
    const well = await space.waitPod('well', 'ready', isReadyPod);
    const stuck = await space.get<Pod>('Pod', 'stuck');
    assert.equal(isReadyPod(stuck), false);
    await space.remove('Pod', 'stuck');
    driver.release();
    await space.waitGone(stuck);
    await gone(space, well);
    await nothingLeft(cluster.node(NODE), name);
    assert.equal(driver.did.filter((method) => method === 'NodeUnstageVolume').length, 2);
  });
});
