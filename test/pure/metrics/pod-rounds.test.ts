import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MountedVolumes } from '../../../actors/pods/shard/mounted-volumes.ts';
import { PodRounds } from '../../../actors/pods/shard/pod-rounds.ts';
import type { Effect, VolumeSetup } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';

const effect = (type: Effect['type'], key: string) => ({ type, key, params: {} }) as unknown as Effect;
const message = (type: PodMessage['type'], key = '') => ({ type, key, at: 0 }) as unknown as PodMessage;

test('a round lasts until all that it began has ended, and has the name of its cause', () => {
  const rounds = new PodRounds();
  let now = 0;
  const step = (sent: PodMessage, effects: Effect[], state = 'syncing.running') => {
    const began = now;
    now += 1_000;
    return rounds
      .step('a', { message: sent, effects, state, began, now })
      .map(({ labels, value }) => [labels['operation_type'], value]);
  };
  assert.deepEqual(step(message('pod.start'), [effect('status.Publish', 's')]), [], 'nothing was begun yet');
  assert.deepEqual(step(message('pod.sync'), []), []);
  assert.deepEqual(
    step(message('runtime.state'), [effect('host.EnsurePodCgroup', '1'), effect('image.Pull', '2')]),
    [],
  );
  assert.deepEqual(step(message('effect.done', '1'), [effect('cri.RunPodSandbox', '3')]), []);
  assert.deepEqual(step(message('effect.failed', '2'), []), []);
  assert.deepEqual(step(message('effect.done', 'foreign'), []), []);
  assert.deepEqual(step(message('effect.done', '3'), []), [['create', 5]]);
  assert.deepEqual(step(message('pod.sync'), []), [['sync', 1]]);
  assert.deepEqual(step(message('timer'), []), []);
  assert.deepEqual(step(message('timer'), [effect('net.HttpGet', 'probe/c/liveness/1')]), [], 'probes are no syncs');
  assert.deepEqual(step(message('pod.update'), [effect('cri.StopContainer', '4')]), []);
  assert.deepEqual(step(message('effect.done', '4'), []), [['update', 2]]);
  assert.deepEqual(step(message('pod.observed'), [effect('host.TearDownPod', '5')], 'terminated.cleaningUp'), []);
  assert.deepEqual(step(message('effect.done', '5'), [effect('pod.Finished', 'f')], 'terminated.finished'), [
    ['terminated', 2],
  ]);
});

test('volumes count as there from their set-up to the tear-down of their pod', () => {
  const mounted = new MountedVolumes();
  const mount = (podUid: string, kind: VolumeSetup['kind'], failed = false) =>
    mounted.take({
      ...{ did: 'mount', podUid, seconds: 1, overallSeconds: 2, failed },
      volume: { name: kind, kind } as VolumeSetup,
    });
  assert.equal(mounted.news(), null);
  const readings = mount('a', 'configMap');
  assert.deepEqual(
    readings.map(({ name, labels, value }) => [name, labels['operation_name'], labels['status'] ?? '', value]),
    [
      ['storage_operation_duration_seconds', 'verify_controller_attached_volume', 'success', 0],
      ['storage_operation_duration_seconds', 'volume_mount', 'success', 1],
      ['volume_operation_total_seconds', 'overall_volume_mount', '', 2],
    ],
  );
  const given = mounted.take({ did: 'ownership', plugin: 'kubernetes.io/secret', seconds: 3, failed: false });
  assert.deepEqual(
    given.map(({ labels, value }) => [labels['volume_plugin'], labels['operation_name'], labels['status'], value]),
    [['kubernetes.io/secret', 'volume_apply_access_control', 'success', 3]],
  );
  mount('a', 'hostPath');
  mount('b', 'configMap');
  assert.equal(mount('b', 'secret', true)[0]?.labels['operation_name'], 'verify_controller_attached_volume');
  assert.deepEqual(mount('b', 'secret', true)[0]?.labels, {
    volume_plugin: 'kubernetes.io/secret',
    operation_name: 'volume_mount',
    status: 'fail-unknown',
    migrated: 'false',
  });
  assert.deepEqual(mounted.news(), { 'kubernetes.io/configmap': 2, 'kubernetes.io/host-path': 1 });
  mount('a', 'hostPath');
  assert.equal(mounted.news(), null, 'a set-up that is made again changes nothing');
  assert.equal(mounted.take({ did: 'unmount', podUid: 'a', seconds: 1, failed: true }).length, 2);
  assert.equal(mounted.news(), null, 'still there');
  assert.equal(mounted.take({ did: 'unmount', podUid: 'a', seconds: 1, failed: false }).length, 2);
  assert.equal(mounted.take({ did: 'unmount', podUid: 'a', seconds: 1, failed: false }).length, 0);
  assert.deepEqual(mounted.news(), { 'kubernetes.io/configmap': 1 });
});
