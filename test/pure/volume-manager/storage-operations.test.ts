/** How operations on volumes are counted, beside kubelet's operationexecutor. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedPlugin, countedPluginOf } from '../../../actors/resources/volumes/counted-plugin.ts';
import { StorageOperations } from '../../../actors/resources/volumes/storage-operations.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';

test('a volume of CSI is counted with its driver, as GetFullQualifiedPluginNameForVolume says it', () => {
  const csi = { driver: 'd.example.com', volumeHandle: 'h' };
  assert.equal(
    countedPlugin('kubernetes.io/csi', { pv: { spec: { csi } }, volume: { name: 'v' } }),
    'kubernetes.io/csi:d.example.com',
  );
  assert.equal(
    countedPlugin('kubernetes.io/csi', { pv: null, volume: { name: 'v', csi } }),
    'kubernetes.io/csi:d.example.com',
  );
  assert.equal(countedPlugin('kubernetes.io/nfs', { pv: { spec: {} }, volume: { name: 'v' } }), 'kubernetes.io/nfs');
  assert.equal(countedPluginOf('kubernetes.io/csi', 'kubernetes.io/csi/d^h^x'), 'kubernetes.io/csi:d');
  assert.equal(countedPluginOf('kubernetes.io/csi', ''), 'kubernetes.io/csi');
  assert.equal(countedPluginOf('kubernetes.io/iscsi', 'kubernetes.io/iscsi/p:i:lun-0'), 'kubernetes.io/iscsi');
});

test('operations have kubelet’s names: what is done for the device first is a part of the mount', async () => {
  const metrics = createMetrics();
  const operations = new StorageOperations(metrics);
  const told = async (): Promise<string[]> => {
    const { values } = await metrics.storageOperation.get();
    metrics.storageOperation.reset();
    return values
      .filter(({ metricName }) => metricName === 'storage_operation_duration_seconds_sum')
      .map(({ labels: { operation_name, status, migrated }, value }) =>
        [operation_name, status, migrated, value].join(' '),
      );
  };
  const volume = { id: 'd', plugin: 'p', migrated: true, isBlock: false };
  const block = { ...volume, id: 'b', isBlock: true };
  operations.verify(volume, 1);
  operations.verify(volume, 1);
  assert.deepEqual(await told(), ['verify_controller_attached_volume success true 1']);
  operations.over('device.attach', volume, 2, false);
  assert.deepEqual(await told(), []);
  operations.over('device.stage', volume, 4, true);
  assert.deepEqual(await told(), ['volume_mount fail-unknown true 6'], 'MountDevice failed');
  operations.over('device.stage', volume, 4, false);
  operations.over('volume.publish', volume, 8, false);
  assert.deepEqual(await told(), ['volume_mount success true 12']);
  operations.over('volume.publish', volume, 8, false);
  assert.deepEqual(await told(), ['volume_mount success true 8'], 'the next pod finds the device ready');
  operations.over('device.stage', block, 1, true);
  operations.over('device.expand', volume, 1, false);
  operations.over('volume.unpublish', volume, 1, false);
  operations.over('device.unstage', { ...volume, migrated: false }, 1, false);
  assert.deepEqual(await told(), [
    'map_volume fail-unknown true 1',
    'volume_fs_resize success false 1',
    'volume_unmount success true 1',
    'unmount_device success true 1',
  ]);
  operations.over('volume.unpublish', block, 1, false);
  operations.over('device.unstage', block, 1, false);
  operations.there(volume, 3);
  operations.there(block, 3);
  assert.deepEqual(await told(), ['unmap_volume success true 1', 'unmap_device success true 1']);
  const { values } = await metrics.volumeOperation.get();
  assert.equal(values.find(({ metricName }) => metricName === 'volume_operation_total_seconds_count')?.value, 1);
  operations.keep(() => false);
  operations.verify(volume, 1);
  operations.over('device.unstage', { ...volume, migrated: false }, 1, false);
  assert.deepEqual(await told(), [
    'verify_controller_attached_volume success true 1',
    'unmount_device success false 1',
  ]);
});
