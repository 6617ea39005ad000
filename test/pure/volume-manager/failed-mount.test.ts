/** What the pod's event says when volumes could not be set up: kubelet's WaitForAttachAndMount. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf } from '../../../actors/host/volumes/managed-volume.ts';

const coded = (code: string, text: string) => Object.assign(new Error(text), { code });
const all = 'Unable to attach or mount volumes: unmounted volumes=';

test('one that failed is told before those that only wait', () => {
  const slow = { name: 'a', reason: coded('VolumeTimeout', 'timed out waiting for the condition') };
  const bad = { name: 'b', reason: coded('ENOSPC', 'no space') };
  const { code, message } = failureOf([slow, bad]);
  assert.deepEqual([code, message], ['ENOSPC', 'MountVolume.SetUp failed for volume "b" : no space']);
});

test('those that could not be looked up, not be attached, or take too long are told together', () => {
  const volumes = [
    { name: 'z', reason: coded('VolumeUnprocessed', 'error processing PVC ns/z: PVC is not bound') },
    { name: 'c', reason: coded('VolumeTimeout', 'timed out waiting for the condition') },
    { name: 'b', reason: coded('VolumeUnattached', 'timed out waiting for the condition') },
    { name: 'a', reason: coded('VolumeUnprocessed', 'error processing PVC ns/a: PVC is being deleted') },
  ];
  assert.equal(
    failureOf(volumes).message,
    `${all}[a b c z], unattached volumes=[b], failed to process volumes=[a z]: error processing PVC ns/z: PVC is not bound; error processing PVC ns/a: PVC is being deleted`,
  );
  assert.equal(
    failureOf(volumes.slice(1, 3)).message,
    `${all}[b c], unattached volumes=[b], failed to process volumes=[]: timed out waiting for the condition`,
  );
});

test('where the node has no room for one of them, that is told before all else', () => {
  const volumes = [
    { name: 'c', reason: coded('ENOSPC', 'no space') },
    { name: 'b', reason: coded('VolumeAttachmentLimitExceeded', 'timed out waiting for the condition') },
    { name: 'a', reason: coded('VolumeUnattached', 'timed out waiting for the condition') },
  ];
  const { code, message } = failureOf(volumes);
  const text =
    'Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[a b c], unattached volumes=[a b], failed to process volumes=[]: context deadline exceeded';
  assert.deepEqual([code, message], ['VolumeAttachmentLimitExceeded', text]);
});
