/** What a pod tells of volumes that do not come: kubelet's SyncPod says nothing when only its wait for them is over (`wait.Interrupted`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf } from '../../../actors/host/volumes/managed-volume.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { WAITING } from '../../../machines/volume-manager/volume-waits.ts';
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
function world(code: string, text: string, its: { behaviour?: readonly number[] } = {}): PodWorld {
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
