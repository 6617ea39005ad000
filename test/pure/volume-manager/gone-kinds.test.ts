/**
 * Volumes of kinds that kubelet 1.35 has no plugin for any more, and of clouds whose CSI driver is not on the node, with the plugins of a
 * real node: each says so in kubelet's words (AddPodToVolume, FindPluginBySpec), and another pod's volume is mounted meanwhile.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { failureOf } from '../../../actors/host/volumes/managed-volume.ts';
import { machineClock } from '../../../actors/host/time/clock.ts';
import { nodeVolumes } from '../../../actors/node/node-volumes.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { attachedVolumes } from '../../../actors/resources/volumes/attached-volumes.ts';
import { VolumeManager } from '../../../actors/resources/volumes/volume-manager.ts';
import type { Pod, Volume } from '../../../machines/protocol/api-types.ts';
import type { PersistentVolume } from '../../../machines/protocol/storage-types.ts';
import { isManagedKind } from '../../../machines/protocol/managed-kinds.ts';
import { folder, memoryLog } from '../journal/journal-fixture.ts';

/** Sources as they stood in pods and in PVs. */
const GONE: Record<string, object> = {
  cephfs: { monitors: ['10.0.0.1:6789'] },
  flocker: { datasetName: 'data' },
  glusterfs: { endpoints: 'gluster', path: 'data' },
  photonPersistentDisk: { pdID: 'data' },
  quobyte: { registry: '10.0.0.1:7861', volume: 'data' },
  rbd: { monitors: ['10.0.0.1:6789'], image: 'data' },
  scaleIO: { gateway: 'https://10.0.0.1', system: 's', secretRef: { name: 'x' }, volumeName: 'data' },
  storageos: { volumeName: 'data' },
  flexVolume: { driver: 'example.com/gone' },
};
const MOVED: Record<string, { source: object; driver: string }> = {
  awsElasticBlockStore: { source: { volumeID: 'vol-1' }, driver: 'ebs.csi.aws.com' },
  azureDisk: {
    source: {
      diskName: 'd',
      diskURI: '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d',
    },
    driver: 'disk.csi.azure.com',
  },
  azureFile: { source: { secretName: 's', shareName: 'f' }, driver: 'file.csi.azure.com' },
  cinder: { source: { volumeID: 'c' }, driver: 'cinder.csi.openstack.org' },
  gcePersistentDisk: { source: { pdName: 'g' }, driver: 'pd.csi.storage.gke.io' },
  portworxVolume: { source: { volumeID: 'p' }, driver: 'pxd.portworx.com' },
  vsphereVolume: { source: { volumePath: '[ds] v/v.vmdk' }, driver: 'csi.vsphere.vmware.com' },
};
const sourceOf = (kind: string): object => GONE[kind] ?? MOVED[kind]?.source ?? {};

/** A pod for each kind that names it, and one whose claim leads to a PV of it: `cephfs` and `claim-cephfs`. */
function podOf(uid: string): Pod {
  const volume = uid.startsWith('claim-')
    ? { name: 'data', persistentVolumeClaim: { claimName: uid } }
    : { name: 'data', [uid]: sourceOf(uid) };
  return {
    metadata: { name: uid, namespace: 'ns', uid },
    spec: {
      containers: [{ name: 'c', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [volume as Volume],
    },
  };
}

function node(t: TestContext): VolumeManager {
  const rootDir = folder(t);
  mkdirSync(join(rootDir, 'here'));
  const { log } = memoryLog();
  const metrics = createMetrics({ processMetrics: false });
  const no = () => Promise.reject(new Error('nobody is asked'));
  const ground = {
    ...{ rootDir, log, metrics, settings: { nodeName: 'n' }, featureGates: { enabled: () => false } },
    config: { volumePluginDir: join(rootDir, 'flex'), enableControllerAttachDetach: true },
  };
  const csi = {
    // Nothing is to be attached, so that it comes to the driver's call.
    driver: () => Promise.resolve({ spec: { attachRequired: false } }),
    driversChange: () => undefined,
    ...{ attachment: no, secret: no, token: no, nodeMarks: no, patchMarks: no, changeDrivers: no },
  };
  const life = { has: () => undefined };
  const plugins = nodeVolumes(
    { ground, mounterPath: '', clock: machineClock, handlers: new Map(), life } as unknown as Parameters<
      typeof nodeVolumes
    >[0],
    { csi: () => csi, secret: no, warn: () => undefined, journal: undefined } as unknown as Parameters<
      typeof nodeVolumes
    >[1],
  );
  const own = {};
  const manager = new VolumeManager({
    ...{ rootDir, nodeName: 'n', plugins, clock: machineClock, log, metrics },
    objects: () => ({
      claim: (_ns, name) =>
        Promise.resolve({ metadata: { uid: name }, spec: { volumeName: `pv-${name}` }, status: { phase: 'Bound' } }),
      volume: (name) => {
        const kind = name.slice('pv-claim-'.length);
        const source = kind === 'ok' ? { hostPath: { path: join(rootDir, 'here') } } : { [kind]: sourceOf(kind) };
        const spec = { claimRef: { uid: name.slice(3), namespace: 'ns' }, accessModes: ['ReadWriteOnce'], ...source };
        return Promise.resolve({ metadata: { name }, spec } as PersistentVolume);
      },
    }),
    attached: attachedVolumes(
      () => own,
      () => Promise.resolve(own),
    ),
    ...{ nodeLabels: () => ({}), podOf, record: () => undefined, tell: () => undefined, changed: () => undefined },
    journal: { dir: join(rootDir, 'journal'), agent: 'v', maxBytes: 1 << 20, log },
  });
  t.after(() => manager.stop());
  return manager;
}

const eventOf = async (manager: VolumeManager, uid: string): Promise<string> =>
  manager.mount(uid, 'data').then(
    () => 'none',
    (reason: unknown) => failureOf([{ name: 'data', reason }]).message,
  );

test('a kind that is gone says so, named by a pod and behind a claim, and another pod has its volume', async (t) => {
  const manager = node(t);
  for (const kind of Object.keys(GONE)) {
    assert.ok(isManagedKind(kind), `${kind} comes to the volume manager`);
    for (const [uid, name] of [
      [kind, 'data'],
      [`claim-${kind}`, `pv-claim-${kind}`],
    ] as const)
      assert.equal(
        await eventOf(manager, uid),
        `Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: failed to get Plugin from volumeSpec for volume "${name}" err=no volume plugin matched`,
        uid,
      );
  }
  assert.match(await manager.mount('claim-ok', 'data'), /\/here$/);
  // They go as if they had never been.
  for (const kind of Object.keys(GONE)) await manager.unmount(kind);
});

test('a kind that a CSI driver has taken over names the driver that is not there, and another pod has its volume', async (t) => {
  const manager = node(t);
  for (const [kind, { driver }] of Object.entries(MOVED)) {
    assert.ok(isManagedKind(kind), `${kind} comes to the volume manager`);
    for (const uid of [kind, `claim-${kind}`])
      assert.match(
        await eventOf(manager, uid),
        new RegExp(
          `^MountVolume\\.(MountDevice|SetUp) failed for volume ".*" : .*driver name ${driver} not found in the list of registered CSI drivers$`,
        ),
        uid,
      );
  }
  assert.match(await manager.mount('claim-ok', 'data'), /\/here$/);
});
