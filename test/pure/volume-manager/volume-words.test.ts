import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceMachine } from '../../../machines/volume-manager/device-machine.ts';
import { mountMachine } from '../../../machines/volume-manager/mount-machine.ts';
import { DEVICE_WORDS, MOUNT_WORDS, volumeWaits, waitText } from '../../../machines/volume-manager/volume-words.ts';
import { withVolumeWait } from '../../../actors/pods/store/volume-wait.ts';
import type { PodRow } from '../../../actors/pods/store/pod-row.ts';
import { VolumeWorld, known } from './world.ts';

test('each state of both machines has its words, and no other', () => {
  assert.deepEqual(Object.keys(MOUNT_WORDS).sort(), Object.keys(mountMachine.states).sort());
  assert.deepEqual(Object.keys(DEVICE_WORDS).sort(), Object.keys(deviceMachine.states).sort());
});

test('a pod that waits says for which volume, for what, since when, and why the last try failed', () => {
  const device = 'kubernetes.io/csi/d^v';
  const world = new VolumeWorld((_uid, volume) => known(volume, { device, attachable: true, stages: true }));
  const row: PodRow = {
    ...{ namespace: 'ns', name: 'a', uid: 'a', phase: 'Pending', state: 'syncing.mountingVolumes', restarts: 0 },
    ...{ ip: '', startedAt: '', why: 'setting up the volumes' },
  };
  const why = () => withVolumeWait(row, world.state).why;
  world.at = Date.parse('2026-11-23T09:00:00Z');
  world.take({ type: 'volume.wanted', uid: 'a', pod: 'ns/a', volume: 'data' });
  assert.equal(
    why(),
    'setting up the volumes; volume data: its claim, the volume behind it and its plugin are looked up, since 2026-11-23T09:00:00Z',
  );
  world.end(world.only().key);
  world.end(world.only().key, 'fails');
  assert.match(
    why(),
    /; volume data: its device kubernetes\.io\/csi\/d\^v is not attached \(no device\.attach\); next try at 2026-11-23T09:00:00Z, since 2026-11-23T09:00:00Z$/,
  );
  assert.equal(withVolumeWait({ ...row, state: 'syncing.running' }, world.state).why, row.why);
  assert.deepEqual(volumeWaits(world.state, 'another'), []);
  for (world.wait(); world.calls.size > 0; ) world.end(world.only().key);
  assert.deepEqual(volumeWaits(world.state, 'a').map(waitText), []);
});
