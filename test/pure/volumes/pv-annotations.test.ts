/** What annotations of PVs say, and what becomes of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joined } from '../../../actors/resources/volumes/plugins/local.ts';
import { csiSource } from '../../../machines/csi/csi-source.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PersistentVolume } from '../../../machines/protocol/storage-types.ts';
import { traitsOf } from '../../../machines/protocol/volume-traits.ts';
import { extraGroups } from '../../../machines/sandbox-config/extra-groups.ts';
import { groupOf, mountOptionsOf } from '../../../machines/volumes/pv-annotations.ts';
import { pod, PodWorld } from '../pod/pod-world.ts';

const annotated = (options: string): PersistentVolume => ({
  metadata: { annotations: { 'volume.beta.kubernetes.io/mount-options': options } },
  spec: { mountOptions: ['hard'], csi: { driver: 'd', volumeHandle: 'h' } },
});

test('mount options of the annotation go before those of the spec, but not for CSI', () => {
  assert.deepEqual(mountOptionsOf(annotated('soft,nfsvers=4.1,')), ['soft', 'nfsvers=4.1']);
  assert.deepEqual(mountOptionsOf(annotated('')), [], 'an empty one counts, too');
  assert.deepEqual(mountOptionsOf({ spec: { mountOptions: ['hard'] } }), ['hard']);
  assert.deepEqual(mountOptionsOf(null), []);
  assert.deepEqual(joined(['ro', 'bind'], annotated('soft,bind')), ['bind', 'ro', 'soft']);
  const volume = { name: 'v' };
  assert.deepEqual(csiSource({ pv: annotated('soft'), volume, readOnly: false }, 'ns')?.mountOptions, ['hard']);
});

test('groups of volumes are those that the pod does not name itself; what is no number is none', () => {
  const groups = (...told: string[]) =>
    extraGroups(own, traitsOf(Object.fromEntries(told.map((group, i) => [i, { path: '/v', group }]))));
  const own: Pod = { spec: { containers: [], securityContext: { fsGroup: 1, supplementalGroups: [7, 8] } } };
  assert.deepEqual(groups('1234', '8', '1234', '', '-5', '+9', '1'), ['9', '-5', '1', '1234']);
  assert.deepEqual(groups('wheel', '0x10', '1_0', ' 7', '9223372036854775808'), []);
  assert.equal(groupOf({ metadata: { annotations: { 'pv.beta.kubernetes.io/gid': '1234' } } }), '1234');
  assert.equal(groupOf({}), '');
  assert.equal(traitsOf({ v: { path: '/v' } }), undefined);
});

/** Groups that the sandbox and the container of a pod are made with whose volume has group 1234. */
function groupsMade(securityContext?: NonNullable<Pod['spec']>['securityContext']) {
  const definition = pod({
    ...(securityContext && { securityContext }),
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    containers: [{ name: 'c', image: 'img:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
  });
  const world = new PodWorld(
    { ...definition, metadata: { ...definition.metadata, annotations: {} } },
    null,
    undefined,
    false,
    'api',
  );
  world.answers['host.SetUpVolumes'] = () => ({ result: { paths: { data: '/v' }, traits: { groups: ['1234'] } } });
  world.begin(null, false);
  world.run(2_000);
  const made: Record<string, unknown> = {};
  for (const effect of world.effects) {
    if (effect.type === 'cri.RunPodSandbox')
      made['sandbox'] = effect.params.config.linux.securityContext.supplementalGroups;
    if (effect.type === 'cri.CreateContainer')
      made['container'] = effect.params.config.linux.securityContext.supplementalGroups;
  }
  return made;
}

test('sandbox and containers belong to the groups of volumes, in the order of kubelet', () => {
  const all = groupsMade({ fsGroup: 9, supplementalGroups: [8] });
  assert.deepEqual(all, { sandbox: ['9', '1234', '8'], container: ['9', '8', '1234'] });
  assert.deepEqual(groupsMade(), { sandbox: [], container: ['1234'] }, 'a pod that does not say how it runs');
});
