/** What a volume of a pod is: texts of kubelet's desired_state_of_world_populator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { volumeSpecOf } from '../../../actors/resources/volumes/resolve-volume.ts';
import type { StorageObjects } from '../../../actors/resources/volumes/resolve-volume.ts';
import type { Pod, Volume } from '../../../machines/protocol/api-types.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../machines/protocol/storage-types.ts';

const pod: Pod = {
  metadata: { name: 'p', namespace: 'ns', uid: 'u-p' },
  spec: { containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] },
};
const byClaim: Volume = { name: 'v', persistentVolumeClaim: { claimName: 'c', readOnly: true } };
const CLAIM: PersistentVolumeClaim = {
  metadata: { name: 'c', namespace: 'ns', uid: 'u-c' },
  spec: { volumeName: 'pv' },
  status: { phase: 'Bound' },
};
const VOLUME: PersistentVolume = { metadata: { name: 'pv' }, spec: { claimRef: { uid: 'u-c' } } };

const objects = (claim: PersistentVolumeClaim | null, volume: PersistentVolume | null): StorageObjects => ({
  claim: (_ns, name) =>
    claim ? Promise.resolve(claim) : Promise.reject(new Error(`persistentvolumeclaims "${name}" not found`)),
  volume: (name) =>
    volume ? Promise.resolve(volume) : Promise.reject(new Error(`persistentvolumes "${name}" not found`)),
  patchClaim: () => Promise.reject(new Error('nothing grows here')),
});

async function failure(
  claim: PersistentVolumeClaim | null,
  volume: PersistentVolume | null,
  its = byClaim,
  of = pod,
): Promise<string> {
  const error = await volumeSpecOf(of, its, objects(claim, volume)).then(
    () => null,
    (reason: unknown) => reason as Error & { code: string },
  );
  assert.equal(error?.code, 'VolumeUnprocessed');
  return error.message;
}

test('a claim leads to its volume, read-only as the pod says', async () => {
  const { name, pv, claim, readOnly, mode } = await volumeSpecOf(pod, byClaim, objects(CLAIM, VOLUME));
  assert.deepEqual([name, pv, claim, readOnly, mode], ['pv', VOLUME, CLAIM, true, 'Filesystem']);
});

test('what keeps a claim from being looked up', async () => {
  const processing = 'error processing PVC ns/c: ';
  const cases: [PersistentVolumeClaim | null, PersistentVolume | null, string][] = [
    [null, null, 'failed to fetch PVC from API server: persistentvolumeclaims "c" not found'],
    [{ ...CLAIM, metadata: { ...CLAIM.metadata, deletionTimestamp: 'x' } }, VOLUME, 'PVC is being deleted'],
    [{ ...CLAIM, status: { phase: 'Pending' } }, VOLUME, 'PVC is not bound'],
    [{ ...CLAIM, status: { phase: 'Lost' } }, VOLUME, 'PVC is not bound'],
    [{ ...CLAIM, spec: {} }, VOLUME, 'PVC has empty pvc.Spec.VolumeName'],
    [CLAIM, null, 'failed to fetch PV pv from API server: persistentvolumes "pv" not found'],
    [
      CLAIM,
      { spec: {} },
      'found PV object pv but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim',
    ],
    [
      CLAIM,
      { spec: { claimRef: { uid: 'other' } } },
      'found PV object pv but its pv.Spec.ClaimRef.UID other does not point to claim.UID u-c',
    ],
  ];
  for (const [claim, volume, text] of cases) assert.equal(await failure(claim, volume), processing + text);
  const kept = {
    ...CLAIM,
    metadata: { ...CLAIM.metadata, deletionTimestamp: 'x', finalizers: ['kubernetes.io/pvc-protection'] },
  };
  await volumeSpecOf(pod, byClaim, objects(kept, VOLUME));
  await assert.rejects(
    volumeSpecOf(pod, byClaim, null),
    /^Error: error processing PVC ns\/c: not supported due to running kubelet in standalone mode$/,
  );
});

test('the claim of an ephemeral volume is called after pod and volume, and must be the pod’s own', async () => {
  const ephemeral: Volume = { name: 'v', ephemeral: { volumeClaimTemplate: { spec: {} } } };
  const asked: string[] = [];
  const owned = (uid: string, controller = true): PersistentVolumeClaim => ({
    ...CLAIM,
    metadata: {
      ...CLAIM.metadata,
      name: 'p-v',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid, controller }],
    },
  });
  const its = objects(owned('u-p'), VOLUME);
  await volumeSpecOf(pod, ephemeral, {
    ...its,
    claim: (ns, name) => (asked.push(`${ns}/${name}`), its.claim(ns, name)),
  });
  assert.deepEqual(asked, ['ns/p-v']);
  for (const other of [owned('another'), owned('u-p', false), CLAIM])
    assert.equal(await failure(other, VOLUME, ephemeral), 'PVC ns/p-v was not created for pod ns/p (pod is not owner)');
});

test('a file system is mounted, a device passed', async () => {
  const block = { ...VOLUME, spec: { ...VOLUME.spec, volumeMode: 'Block' } };
  const passes: Pod = {
    ...pod,
    spec: { containers: [{ name: 'c', volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] }] },
  };
  assert.equal(await failure(CLAIM, block), 'volume v has volumeMode Block, but is specified in volumeMounts');
  assert.equal(
    await failure(CLAIM, VOLUME, byClaim, passes),
    'volume v has volumeMode Filesystem, but is specified in volumeDevices',
  );
  assert.equal((await volumeSpecOf(passes, byClaim, objects(CLAIM, block))).mode, 'Block');
});

test('a volume of a cloud is that of its CSI driver, of a PV and inline', async () => {
  const ebs: PersistentVolume = {
    metadata: { name: 'pv', labels: { 'topology.kubernetes.io/zone': 'a' } },
    spec: { claimRef: { uid: 'u-c' }, awsElasticBlockStore: { volumeID: 'aws://a/vol-1', fsType: 'xfs' } },
  };
  const bound = await volumeSpecOf(pod, byClaim, objects(CLAIM, ebs));
  assert.deepEqual([bound.name, bound.readOnly, bound.mode, bound.migrated], ['pv', true, 'Filesystem', true]);
  assert.equal(bound.pv?.spec?.csi?.volumeHandle, 'vol-1');
  assert.deepEqual(bound.pv?.spec?.nodeAffinity?.required?.nodeSelectorTerms, [
    { matchExpressions: [{ key: 'topology.ebs.csi.aws.com/zone', operator: 'In', values: ['a'] }] },
  ]);
  const diskURI = '/subscriptions/s/disks/d';
  const inline = await volumeSpecOf(pod, { name: 'v', azureDisk: { diskName: 'd', diskURI, readOnly: true } }, null);
  assert.deepEqual([inline.name, inline.readOnly, inline.claim, inline.migrated], [diskURI, false, null, true]);
  assert.equal(inline.pv?.spec?.csi?.driver, 'disk.csi.azure.com');
});

test('one that cannot be that is told in kubelet’s words', async () => {
  const broken = {
    metadata: { name: 'pv' },
    spec: { claimRef: { uid: 'u-c' }, azureFile: { secretName: 's', shareName: 'x' } },
  };
  assert.equal(
    await failure(CLAIM, broken as PersistentVolume),
    'failed to translate in-tree pv to CSI: could not find a secret namespace in PersistentVolumeSource or ClaimRef',
  );
  const dedicated = { diskName: 'd', diskURI: 'https://x/vhds/d.vhd', kind: 'Dedicated' };
  assert.equal(
    await failure(CLAIM, VOLUME, { name: 'v', azureDisk: dedicated }),
    'failed to translate in-tree pv to CSI: kind(Dedicated) is not supported in csi migration',
  );
});
