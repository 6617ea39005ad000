/** Which event tells that a volume could not be set up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { failureReason } from '../../../machines/volumes/failure-reason.ts';
import { pod, PodWorld, settings } from '../pod/pod-world.ts';

const behind = (what: string): string => `${what} for volume "pv" : no`;

test('of a block volume it is FailedMapVolume, but for the wrong node, and where nothing was tried', () => {
  for (const what of ['MapVolume.WaitForAttach failed', 'MapVolume.MapBlockVolume failed', 'MapVolume failed'])
    assert.equal(failureReason(behind(what)), 'FailedMapVolume', what);
  for (const what of [
    'MapVolume.NodeAffinity check failed',
    'MapVolume.FindMapperPluginBySpec failed',
    'MountVolume.SetUp failed',
    'Unable to attach or mount volumes: MapVolume.SetUpDevice failed',
  ])
    assert.equal(failureReason(behind(what)), 'FailedMount', what);
});

test('a pod tells of it so; in journals from before, always as of a file system', () => {
  const told = (behaviour: readonly number[]): string[] => {
    const message = behind('MapVolume.SetUpDevice failed');
    const world = new PodWorld(pod({}), null, undefined, false, 'file', { behaviour: [...behaviour] });
    world.answers['host.SetUpVolumes'] = () => ({ error: { code: 'Volume', message } });
    world.begin(null, false);
    world.run(100);
    return world.events.slice(0, 1).map((event) => event.replace(/ failed.*/s, ''));
  };
  assert.deepEqual(told(settings.behaviour), ['FailedMapVolume: MapVolume.SetUpDevice']);
  assert.deepEqual(told(settings.behaviour.filter((n) => n !== BEHAVIOUR.failedMapsAreTold)), [
    'FailedMount: MapVolume.SetUpDevice',
  ]);
});
