/** Generic ephemeral volumes of a CSI driver: the claim is made by kube-controller-manager's own controller, the volume behind it by this test. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { runs } from '../containerd/agent/support/test-pod.ts';
import type { CsiDriver } from '../tools/csi-driver/csi-driver.ts';
import { waitFor } from '../tools/wait-for.ts';
import type { Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { driverOf, nothingLeft } from './support/csi-world.ts';
import { apiPod } from './support/manifests.ts';
import { isReadyPod, uidOf } from './support/seen-pods.ts';
import type { Space } from './support/space.ts';

const NODE = 'brief';
const NAME = 'brief.csi.example.com';
const PVS = '/api/v1/persistentvolumes';
let driver: CsiDriver | undefined;
after(() => driver?.stop());

const cluster = withCluster({
  nodes: [{ name: NODE }],
  furnish: async ({ plane, node }) => {
    driver = await driverOf(plane(), node(NODE), NAME, { attachRequired: false, fsGroupPolicy: 'File' });
  },
});

interface Claim {
  metadata: { uid: string; ownerReferences?: { kind: string; uid: string; controller?: boolean }[] };
}

/** A volume of the driver that nobody has. */
async function freeVolume(space: Space): Promise<string> {
  const name = `${space.name}-pv`;
  await cluster.plane().api.post(PVS, {
    ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
    spec: {
      ...{ capacity: { storage: '16Mi' }, accessModes: ['ReadWriteOnce'], storageClassName: '' },
      ...{ persistentVolumeReclaimPolicy: 'Retain', csi: { driver: NAME, volumeHandle: `${name}-disk` } },
    },
  });
  return name;
}

const claimSpec = (volumeName: string) => ({
  ...{ accessModes: ['ReadWriteOnce'], storageClassName: '', volumeName },
  resources: { requests: { storage: '16Mi' } },
});

/** A pod with such a volume, put on the node by hand: the scheduler would hold back one whose claim is another's. */
async function createPod(space: Space, name: string, volumeName: string): Promise<void> {
  const scratch = { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: claimSpec(volumeName) } } };
  const container = runs('c', { volumeMounts: [{ name: 'scratch', mountPath: '/data' }] });
  await space.create(apiPod(name, [container], { nodeName: NODE, volumes: [scratch] }));
}

async function gone(space: Space, pod: Pod, volume: string): Promise<void> {
  await space.remove('Pod', pod.metadata?.name ?? '');
  await space.waitGone(pod);
  await nothingLeft(cluster.node(NODE), NAME);
  await waitFor('the claim to go with its pod', async () => {
    const claim = await cluster.plane().api.find(space.path('PersistentVolumeClaim', `${pod.metadata?.name}-scratch`));
    return claim === undefined ? true : undefined;
  });
  await waitFor('the volume to be released', async () => {
    const { status } = await cluster.plane().api.get<{ status?: { phase?: string } }>(`${PVS}/${volume}`);
    return status?.phase === 'Released' ? true : undefined;
  });
}

describe('generic ephemeral volumes', { concurrency: true }, () => {
  test('the claim that the controller made is the pod’s, its volume is there, and both go with the pod', async () => {
    const space = await cluster.space('brief');
    const volume = await freeVolume(space);
    await createPod(space, 'p', volume);
    const pod = await space.waitPod('p', 'ready', isReadyPod);
    const { metadata } = await space.get<Claim>('PersistentVolumeClaim', 'p-scratch');
    const owners = metadata.ownerReferences?.map(({ kind, uid, controller }) => [kind, uid, controller]);
    assert.deepEqual(owners, [['Pod', uidOf(pod), true]]);
    await cluster.node(NODE).sh(uidOf(pod), 'c', 'echo brief > /data/file');
    assert.equal(await readFile(join(driver?.store.dataOf(`${volume}-disk`) ?? '', 'file'), 'utf8'), 'brief\n');
    await gone(space, pod, volume);
  });

  test("a claim of that name that is nobody's, or another pod's, is not taken; the pod starts once it has its own", async () => {
    const space = await cluster.space('foreign');
    const volume = await freeVolume(space);
    // It is bound: nothing but its owner keeps the pod from it.
    await space.create({ kind: 'PersistentVolumeClaim', metadata: { name: 'p-scratch' }, spec: claimSpec(volume) });
    await space.wait<{ status?: { phase?: string } }>(
      'PersistentVolumeClaim',
      'p-scratch',
      'bound',
      ({ status }) => status?.phase === 'Bound',
    );
    await createPod(space, 'p', volume);
    const told = await space.waitEvent('p', 'FailedMount', /was not created for pod/);
    assert.equal(
      told.message,
      `Unable to attach or mount volumes: unmounted volumes=[scratch], unattached volumes=[], failed to process volumes=[scratch]: PVC ${space.name}/p-scratch was not created for pod ${space.name}/p (pod is not owner)`,
    );
    assert.equal(
      driver?.calls.some(({ request }) => request['volumeId'] === `${volume}-disk`),
      false,
    );
    await space.remove('PersistentVolumeClaim', 'p-scratch');
    await waitFor('the foreign claim to be replaced', async () => {
      const claim = await cluster.plane().api.find<Claim>(space.path('PersistentVolumeClaim', 'p-scratch'));
      return claim?.metadata.ownerReferences?.[0]?.kind === 'Pod' ? true : undefined;
    });
    // It was the foreign claim's, and is nobody's now.
    await cluster.plane().api.patch(`${PVS}/${volume}`, { spec: { claimRef: null } });
    const pod = await space.waitPod('p', 'ready', isReadyPod);
    await gone(space, pod, volume);
  });
});
