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
});
