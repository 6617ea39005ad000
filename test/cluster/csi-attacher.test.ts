/** A volume that must be attached, from end to end: the attach-detach controller, Kubernetes' own external attacher, the driver and the node. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runs } from '../containerd/agent/support/test-pod.ts';
import type { CsiDriver } from '../tools/csi-driver/csi-driver.ts';
import type { DaemonProcess } from '../../bin/control-plane/daemon-process.ts';
import { lacksTool } from '../tools/reference-tool.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Node } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { startAttacher } from './support/csi-attacher.ts';
import { boundClaim, driverOf, nothingLeft, STORAGE } from './support/csi-world.ts';
import { apiPod } from './support/manifests.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';

const NODE = 'disks';
const NAME = 'disk.csi.example.com';
const skip = await lacksTool('csi-attacher');
const cluster = withCluster({ nodes: [{ name: NODE }] });
let driver: CsiDriver | undefined;
let attacher: DaemonProcess | undefined;
after(async () => {
  await attacher?.kill();
  driver?.stop();
});

interface Attachment {
  metadata: { name: string };
  spec: { attacher: string; nodeName: string; source: { persistentVolumeName?: string } };
  status?: { attached: boolean; attachmentMetadata?: Record<string, string> };
}

const container = runs('c', { volumeMounts: [{ name: 'data', mountPath: '/data' }] });
const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];

/** What the node's object says of volumes: those it uses, and those that the controller has attached. */
async function told(): Promise<{ inUse: string[]; attached: string[] }> {
  const { status } = await cluster.plane().api.get<Node>(`/api/v1/nodes/${NODE}`);
  const { volumesInUse = [], volumesAttached = [] } = status ?? {};
  return { inUse: volumesInUse, attached: volumesAttached.map(({ name }) => name) };
}

const explained = async (): Promise<string> =>
  [JSON.stringify(await told()), await attacher?.tail(), await cluster.node(NODE).lastWords()].join('\n');

test(
  'a volume is attached, used through restarts of the agent, and detached when the node has let go of it',
  { skip },
  async () => {
    const node = cluster.node(NODE);
    const plane = cluster.plane();
    driver = await driverOf(plane, node, NAME, { attachRequired: true, fsGroupPolicy: 'File' }, true);
    attacher = await startAttacher(plane, join(node.dir, NAME, 'csi.sock'));
    const { attachments, store, faults } = driver;
    const space = await cluster.space('disks');
    const volume = await boundClaim(plane, space, NAME, 'data');
    const disk = `${volume}-disk`;
    const unique = `kubernetes.io/csi/${NAME}^${disk}`;
    const attachment = async () =>
      (await plane.api.get<{ items: Attachment[] }>(`${STORAGE}/volumeattachments`)).items.find(
        ({ spec }) => spec.source.persistentVolumeName === volume,
      );

    await space.create(apiPod('writer', [container], { volumes }));
    const writer = await space.waitPod('writer', 'ready', isReadyPod);
    await node.sh(uidOf(writer), 'c', 'echo kept > /data/file');
    assert.equal(await readFile(join(store.dataOf(disk), 'file'), 'utf8'), 'kept\n');
    const { spec, status } = (await attachment()) ?? {};
    assert.deepEqual([spec?.attacher, spec?.nodeName, status?.attached], [NAME, NODE, true]);
    const staging = driver.calls.find(({ method }) => method === 'NodeStageVolume')?.request;
    assert.deepEqual(staging?.['publishContext'], { attachedBy: 'test' });
    assert.deepEqual(attachments.attached, [disk]);
    assert.deepEqual(await told(), { inUse: [unique], attached: [unique] });

    // Killed while a pod uses it: its successor never tells that nobody does, and nothing is attached or staged anew for it.
    await node.kill9();
    await node.startAgent();
    await node.waitSchedulable();
    await space.create(apiPod('reader', [container], { volumes }));
    const reader = await space.waitPod('reader', 'ready', isReadyPod);
    assert.equal(await node.sh(uidOf(reader), 'c', 'cat /data/file'), 'kept\n');
    assert.deepEqual(await told(), { inUse: [unique], attached: [unique] });
    assert.equal(driver.did.includes('ControllerUnpublishVolume'), false);

    // Killed while it gives the device back: the volume stays in use, and attached, until that is done.
    faults.set('NodeUnstageVolume', { hang: true });
    await space.remove('Pod', 'writer');
    await space.remove('Pod', 'reader');
    await space.waitGone(writer);
    await space.waitGone(reader);
    await waitFor('the device to be given back', () => driver?.did.find((method) => method === 'NodeUnstageVolume'));
    await node.kill9();
    assert.deepEqual((await told()).inUse, [unique]);
    await node.startAgent();
    const asked = driver.did.filter((method) => method === 'NodeUnstageVolume').length;
    await waitFor('the next agent to give it back', () =>
      (driver?.did.filter((method) => method === 'NodeUnstageVolume').length ?? 0) > asked ? true : undefined,
    );
    assert.deepEqual((await told()).inUse, [unique]);
    assert.deepEqual(attachments.attached, [disk]);
    assert.equal(driver.did.includes('ControllerUnpublishVolume'), false);
    await node.kill9();
    faults.set('NodeUnstageVolume', null);
    await node.startAgent();
    await nothingLeft(node, NAME);
    await waitFor(
      'the volume to be detached',
      async () => ((await attachment()) === undefined && attachments.attached.length === 0 ? true : undefined),
      explained,
    );
    await waitFor(
      'the node to tell of no volume',
      async () => {
        const { inUse, attached } = await told();
        return inUse.length + attached.length === 0 ? true : undefined;
      },
      explained,
    );
    const did = driver.did.filter((method) => /^Controller|Stage/.test(method));
    assert.equal(did[0], 'ControllerPublishVolume');
    assert.equal(did.at(-1), 'ControllerUnpublishVolume');
    assert.equal(did.lastIndexOf('NodeUnstageVolume') < did.indexOf('ControllerUnpublishVolume'), true);
    assert.equal(await readFile(join(store.dataOf(disk), 'file'), 'utf8'), 'kept\n');
  },
);
