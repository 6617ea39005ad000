/**
 * What becomes of a pod whose volumes do not come: kubelet's SyncPod says nothing when only its wait for them is over (`wait.Interrupted`), and rejects the
 * pod where its node has no room for one of them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf } from '../../../actors/host/volumes/managed-volume.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { NO_ROOM, WAITING } from '../../../machines/volume-manager/volume-waits.ts';
import { pod, PodWorld, settings } from './pod-world.ts';

function claimed(): Pod {
  const its = pod({
    containers: [
      { name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', volumeMounts: [{ name: 'v', mountPath: '/v' }] },
    ],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
  });
  return { ...its, metadata: { ...its.metadata, annotations: {} } };
}

/** A pod whose volume ends its set-up this way. */
function world(code: string, text: string, its: { behaviour?: number[] } = {}): PodWorld {
  const made = new PodWorld(claimed(), null, undefined, false, 'api', its);
  const reason = Object.assign(new Error(text), { code });
  const failure = failureOf([{ name: 'v', reason }]);
  made.answers['host.SetUpVolumes'] = () => ({ error: { code: failure.code, message: failure.message } });
  made.begin(null, false);
  made.run(100);
  return made;
}

const toldOf = ({ events }: PodWorld) => events.filter((each) => each.startsWith('FailedMount'));

for (const code of [WAITING.timeout, WAITING.unattached])
  test(`a volume that only takes long is no event: ${code}`, () => {
    const slow = world(code, 'timed out waiting for the condition');
    assert.deepEqual(toldOf(slow), []);
    assert.match(
      JSON.stringify(slow.snapshot.context.tasks),
      /unmounted volumes=\[v\].*timed out/,
      'the pod knows why it waits',
    );
    slow.run(120_000);
    assert.ok(slow.count('host.SetUpVolumes') > 1, 'it is asked for again');
    assert.deepEqual(toldOf(slow), []);
  });

test('one that cannot be looked up, or that failed, is', () => {
  const events = (code: string): string[] => toldOf(world(code, 'no'));
  assert.match(events(WAITING.unprocessed)[0] ?? '', /^FailedMount: Unable to attach or mount volumes: .*: no$/);
  assert.equal(events('Internal')[0], 'FailedMount: MountVolume.SetUp failed for volume "v" : no');
});

test('an older journal told of it', () => {
  const behaviour = (settings.behaviour ?? []).filter((each) => each !== BEHAVIOUR.slowVolumesAreQuiet);
  assert.equal(toldOf(world(WAITING.timeout, 'slow', { behaviour })).length, 1);
});

test('a pod for whose volume the node has no room is rejected', () => {
  const full = world(NO_ROOM, 'timed out waiting for the condition');
  const text =
    'Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[v], unattached volumes=[v], failed to process volumes=[]: context deadline exceeded';
  assert.deepEqual(full.events, [`VolumeAttachmentLimitExceeded: ${text}`]);
  full.run(60_000);
  assert.equal(full.state, 'terminated.kept');
  const { phase, reason, message, containerStatuses } = full.status ?? {};
  assert.deepEqual([phase, reason, message], ['Failed', 'VolumeAttachmentLimitExceeded', `Pod was rejected: ${text}`]);
  assert.equal(containerStatuses?.[0]?.state?.terminated?.reason, 'ContainerStatusUnknown');
  assert.equal(full.count('host.SetUpVolumes'), 1);
  assert.equal(full.count('host.TearDownPod'), 1);
});

test('one that runs is not', () => {
  const before = new PodWorld(claimed(), null, undefined, true, 'api');
  before.run(10_000);
  const after = new PodWorld(claimed(), null, before, false, 'api');
  after.answers['host.SetUpVolumes'] = () => ({ error: { code: NO_ROOM, message: 'no room' } });
  after.begin(null, true);
  after.run(10_000);
  assert.match(after.state, /^syncing/);
  assert.equal(after.status?.phase, 'Running');
});
