/** What a driver is asked, and how its answers are judged: as kubelet's pkg/volume/csi has it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentName, ephemeralHandle, stagingPath } from '../../../actors/resources/csi/csi-names.ts';
import { attachmentState } from '../../../machines/csi/attachment.ts';
import { expansionFailure, isFinal } from '../../../machines/csi/call-outcome.ts';
import { fsGroupPolicy, givesToGroup, mustAttach, refusesMode } from '../../../machines/csi/driver-rules.ts';
import { accessMode, tokenAttributes, volumeCapability } from '../../../machines/csi/node-requests.ts';
import { contextOption } from '../../../machines/volumes/selinux-label.ts';
import type { CsiDriver } from '../../../machines/csi/storage-objects.ts';
import { readVolumeData, volumeDataText } from '../../../machines/csi/volume-data.ts';
import { usageOf } from '../../../machines/csi/volume-usage.ts';

const driver = (spec: object): CsiDriver => ({ spec }) as CsiDriver;

test('names are hashes of handle, driver and node, and of pod and volume', () => {
  // printf '%s' disk-1csi.example.comnode1 | sha256sum
  assert.equal(
    attachmentName('disk-1', 'csi.example.com', 'node1'),
    'csi-625323c562baabfe13c819d11de9e4e052d979642b9d59994eff801ac2b8d5a1',
  );
  assert.equal(
    ephemeralHandle('uid', 'scratch'),
    'csi-6d06c0145d28c8978bc37cc633f4bf7e31eedfc72dead36b761e26d174ec1ad6',
  );
  assert.equal(
    stagingPath('/k', 'csi.example.com', 'disk-1'),
    '/k/plugins/kubernetes.io/csi/csi.example.com/fec50738aa755e2c8649e35886a978c82d36d85c87a17d1be2fbfe3ceda0613b/globalmount',
  );
  assert.throws(() => stagingPath('/k', '../../etc', 'x'));
});

test('access modes, with and without SINGLE_NODE_MULTI_WRITER', () => {
  const modes = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod', 'toString'];
  assert.deepEqual(
    modes.map((mode) => [accessMode(mode, false), accessMode(mode, true)]),
    [
      [1, 7],
      [3, 3],
      [5, 5],
      [1, 6],
      [0, 0],
    ],
  );
});

test('a capability is of a device, or of a file system with its options and group', () => {
  const use = { accessMode: 'ReadWriteOnce', fsType: 'xfs', mountOptions: ['ro'], fsGroup: 7 };
  assert.deepEqual(volumeCapability({ ...use, block: true }, false), { block: {}, accessMode: { mode: 1 } });
  assert.deepEqual(volumeCapability({ ...use, block: false }, true), {
    mount: { fsType: 'xfs', mountFlags: ['ro'], volumeMountGroup: '7' },
    accessMode: { mode: 7 },
  });
  assert.equal(contextOption('system_u:object_r:t:s0:c1,c2'), 'context="system_u:object_r:t:s0:c1,c2"');
});

test('what may still be under way after a failure', () => {
  const uncertain = ['Canceled', 'DeadlineExceeded', 'Unavailable', 'ResourceExhausted', 'Aborted'];
  assert.deepEqual(uncertain.filter(isFinal), []);
  assert.ok(['Internal', 'NotFound', 'Unknown', 'InvalidArgument', 'FailedPrecondition'].every(isFinal));
  assert.equal(expansionFailure('OutOfRange', 'x'), 'Expander.NodeExpand failed to expand the volume x');
  assert.equal(expansionFailure('Internal', 'x'), 'Expander.NodeExpand failed to expand the volume : x');
});

test('a driver without an object must be attached and takes claims only', () => {
  assert.equal(mustAttach(null), true);
  assert.equal(mustAttach(driver({})), true);
  assert.equal(mustAttach(driver({ attachRequired: false })), false);
  assert.equal(refusesMode('d', null, 'Persistent'), null);
  assert.match(refusesMode('d', null, 'Ephemeral') ?? '', /\(no CSIDriver object\)$/);
  assert.equal(
    refusesMode('d', driver({ volumeLifecycleModes: ['Persistent'] }), 'Ephemeral'),
    'volume mode "Ephemeral" not supported by driver d (only supports ["Persistent"])',
  );
});

test('who gives a volume to fsGroup', () => {
  assert.equal(fsGroupPolicy(null), 'ReadWriteOnceWithFSType');
  assert.throws(() => fsGroupPolicy(driver({})), /expected valid fsGroupPolicy/);
  const all = {
    policy: 'ReadWriteOnceWithFSType',
    fsGroup: 1,
    readOnly: false,
    fsType: 'ext4',
    accessModes: null,
  } as const;
  assert.equal(givesToGroup(all), true);
  assert.equal(givesToGroup({ ...all, fsType: '' }), false);
  assert.equal(givesToGroup({ ...all, fsGroup: undefined }), false);
  assert.equal(givesToGroup({ ...all, readOnly: true }), false);
  assert.equal(givesToGroup({ ...all, policy: 'None' }), false);
  assert.equal(givesToGroup({ ...all, accessModes: ['ReadWriteMany'] }), false);
  assert.equal(givesToGroup({ ...all, accessModes: undefined }), false);
  assert.equal(givesToGroup({ ...all, accessModes: ['ReadOnlyMany', 'ReadWriteOncePod'] }), true);
  assert.equal(givesToGroup({ ...all, policy: 'File', fsType: '', accessModes: ['ReadWriteMany'] }), true);
});

test('an attachment that goes fails before one that is there counts', () => {
  const status = { attached: true };
  const spec = { attacher: 'd', nodeName: 'n', source: {} };
  assert.deepEqual(attachmentState({ spec, status }), { state: 'attached' });
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  assert.equal(attachmentState({ spec, status, metadata }).state, 'failed');
  assert.equal(attachmentState({ spec, status: { attached: false } }).state, 'waiting');
  assert.equal(attachmentState({ spec }).state, 'waiting');
});

test('a data file is Go’s; what is none is nothing', () => {
  const data = { volumeHandle: 'a<b>&c', driverName: 'd' };
  const text = volumeDataText(data);
  assert.equal(text, '{"driverName":"d","volumeHandle":"a\\u003cb\\u003e\\u0026c"}\n');
  assert.deepEqual(readVolumeData(text), data);
  for (const bad of ['', '[]x', 'null', '3', `{"driverName":"${'x'.repeat(70_000)}"}`])
    assert.equal(readVolumeData(bad), null);
  assert.deepEqual(readVolumeData('{"driverName":3,"__proto__":{"volumeHandle":"x"}}'), {});
});

test('tokens by audience, usage by unit', () => {
  const token = { token: 't', expirationTimestamp: '2030-01-01T00:00:00Z' };
  assert.deepEqual(tokenAttributes({ b: token, '': token }), {
    'csi.storage.k8s.io/serviceAccount.tokens': `{"":${JSON.stringify(token)},"b":${JSON.stringify(token)}}`,
  });
  assert.deepEqual(usageOf([{ unit: 1, total: '10', used: '4', available: '6' }]), {
    ...{ capacityBytes: 10, usedBytes: 4, availableBytes: 6, inodes: 0, inodesUsed: 0, inodesFree: 0 },
  });
});
