/** Volumes of clouds on a node whose CSI drivers have taken them over: controller, scheduler, attacher and API server are Kubernetes' own, the drivers the project's. */
import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runs } from '../containerd/agent/support/test-pod.ts';
import type { CsiDriver } from '../tools/csi-driver/csi-driver.ts';
import type { DaemonProcess } from '../../bin/control-plane/daemon-process.ts';
import { lacksTool } from '../tools/reference-tool.ts';
import { waitFor } from '../tools/wait-for.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { startAttacher } from './support/csi-attacher.ts';
import { boundTo, driverOf, nothingLeft, STORAGE } from './support/csi-world.ts';
import { apiPod } from './support/manifests.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';

const NODE = 'clouds';
const EBS = 'ebs.csi.aws.com';
const AZURE = 'disk.csi.azure.com';
const DISK_URI = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d';
const skip = await lacksTool('csi-attacher');
const cluster = withCluster({ nodes: [{ name: NODE }] });
const drivers: CsiDriver[] = [];
let attacher: DaemonProcess | undefined;
after(async () => {
  await attacher?.kill();
  drivers.forEach((driver) => driver.stop());
});

const container = runs('c', {
  volumeMounts: ['bound', 'inline', 'plain'].map((name) => ({ name, mountPath: `/${name}`, subPath: 'part' })),
});

test(
  'claims and inline volumes of clouds are attached, staged and published by CSI drivers, and taken away',
  { skip },
  async () => {
    const node = cluster.node(NODE);
    const plane = cluster.plane();
    const ebs = await driverOf(plane, node, EBS, { attachRequired: true, fsGroupPolicy: 'File' }, true);
    drivers.push(ebs);
    const azure = await driverOf(plane, node, AZURE, { attachRequired: false, fsGroupPolicy: 'File' });
    drivers.push(azure);
    attacher = await startAttacher(plane, join(node.dir, EBS, 'csi.sock'));
    const space = await cluster.space('clouds');
    await boundTo(plane, space, 'bound', { awsElasticBlockStore: { volumeID: 'aws://z/vol-1', fsType: 'xfs' } });
    const volumes = [
      { name: 'bound', persistentVolumeClaim: { claimName: 'bound' } },
      { name: 'inline', awsElasticBlockStore: { volumeID: 'vol-2', partition: 3 } },
      { name: 'plain', azureDisk: { diskName: 'd', diskURI: DISK_URI, kind: 'Managed' } },
    ];
    await space.create(apiPod('p', [container], { volumes }));
    const pod = await space.waitPod('p', 'ready', isReadyPod);
    const uid = uidOf(pod);
    await node.sh(uid, 'c', 'for v in bound inline plain; do echo $v > /$v/file; done');
    const staged = ebs.calls.filter(({ method }) => method === 'NodeStageVolume').map(({ request }) => request);
    const byId = (id: string) => staged.find(({ volumeId }) => volumeId === id);
    assert.deepEqual(byId('vol-1')?.['volumeContext'], { partition: '0' });
    assert.deepEqual(byId('vol-2')?.['volumeContext'], { partition: '3' });
    assert.equal((byId('vol-1')?.['volumeCapability'] as { mount: { fsType: string } }).mount.fsType, 'xfs');
    assert.deepEqual(ebs.attachments.attached, ['vol-1', 'vol-2']);
    const names = await readdir(join(node.agentRoot, 'pods', uid, 'volumes/kubernetes.io~csi'));
    const expected = [`${space.name}-bound`, `${EBS}-vol-2`, DISK_URI.replaceAll('/', '~')];
    assert.deepEqual(names.sort(), expected.sort());

    // A new agent knows them by their folders, and takes none of them from the pod. (No scheduler puts two pods of an inline disk on one node.)
    await node.kill9();
    await node.startAgent();
    await node.waitSchedulable();
    await space.create(apiPod('beside', [container], { volumes, nodeName: NODE }));
    const beside = await space.waitPod('beside', 'ready', isReadyPod);
    assert.equal(
      await node.sh(uidOf(beside), 'c', 'cat /bound/file /inline/file /plain/file'),
      'bound\ninline\nplain\n',
    );
    assert.equal(await node.sh(uid, 'c', 'cat /bound/file /inline/file /plain/file'), 'bound\ninline\nplain\n');
    assert.equal([...ebs.did, ...azure.did].includes('NodeUnpublishVolume'), false);

    for (const name of ['p', 'beside']) await space.remove('Pod', name);
    for (const each of [pod, beside]) await space.waitGone(each);
    for (const name of [EBS, AZURE]) await nothingLeft(node, name);
    await waitFor(
      'the volumes to be detached',
      async () => {
        const { items } = await plane.api.get<{ items: unknown[] }>(`${STORAGE}/volumeattachments`);
        return items.length + ebs.attachments.attached.length === 0 ? true : undefined;
      },
      async () => `${await attacher?.tail()}\n${await node.lastWords()}`,
    );
    for (const [driver, id, text] of [
      [ebs, 'vol-1', 'bound\n'],
      [ebs, 'vol-2', 'inline\n'],
      [azure, DISK_URI, 'plain\n'],
    ] as const)
      assert.equal(await readFile(join(driver.store.dataOf(id), 'part/file'), 'utf8'), text);
  },
);
