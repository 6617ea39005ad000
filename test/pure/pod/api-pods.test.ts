import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { POD_DIRS } from '../../../machines/volumes/pod-dirs.ts';
import { bornPod } from '../../../machines/pod/pod-step.ts';
import { pod, PodWorld, settings } from './pod-world.ts';

/** A pod as the API server hands it over. */
function apiPod(spec: Partial<NonNullable<Pod['spec']>> = {}, more: Partial<Pod> = {}): Pod {
  const made = pod(spec);
  return { ...made, ...more, metadata: { ...made.metadata, annotations: {}, ...more.metadata } };
}
const fromApi = (definition: Pod, begin = true) => new PodWorld(definition, null, undefined, begin, 'api');

test('a pod that the node does not admit fails before anything is made of it', () => {
  const world = fromApi(apiPod(), false);
  world.begin(null, true, { reason: 'OutOfcpu', message: 'Node didn’t have enough resource: cpu' });
  world.run(60_000);
  assert.equal(world.status?.phase, 'Failed');
  assert.equal(world.status?.reason, 'OutOfcpu');
  assert.equal(world.status?.message, 'Pod was rejected: Node didn’t have enough resource: cpu');
  assert.deepEqual(
    Object.keys(world.status).sort(),
    ['message', 'phase', 'qosClass', 'reason', 'startTime'],
    'no more than kubelet tells',
  );
  assert.deepEqual(world.events, ['OutOfcpu: Node didn’t have enough resource: cpu']);
  assert.equal(world.count('cri.RunPodSandbox'), 0);
  assert.equal(world.count('image.Status'), 0);
  assert.equal(world.state, 'terminated.kept');
});

test('logs of before replay a rejected pod with all that was told of its containers', () => {
  const behaviour = settings.behaviour.filter((n) => n !== BEHAVIOUR.rejectedTellNoMore);
  const world = fromApi(apiPod(), false);
  world.snapshot = bornPod({ pod: world.definition, source: 'api', settings: { ...settings, behaviour } });
  world.begin(null, true, { reason: 'OutOfcpu', message: 'none left' });
  world.run(60_000);
  assert.equal(world.status?.containerStatuses?.length, 1);
});

test('a pod that is refused when it has waited for a device plugin is told as one that is refused at once', () => {
  const refusedLate = (left: readonly number[] = [], status: Pod['status'] = {}) => {
    const world = fromApi(apiPod({ restartPolicy: 'Never' }, { status }), false);
    const behaviour = settings.behaviour.filter((n) => !left.includes(n));
    world.snapshot = bornPod({ pod: world.definition, source: 'api', settings: { ...settings, behaviour } });
    const hold = { message: 'it waits for its plugin', until: world.at + 300_000 };
    const start = { type: 'pod.start', source: 'api', observed: null, memory: null, hold } as const;
    world.send({ ...start, at: world.at, pod: world.definition, runtimeReady: true, networkReady: true });
    world.run(1_000);
    assert.ok(world.status?.containerStatuses?.[0]?.state?.waiting || status.containerStatuses);
    world.send({
      ...{ type: 'pod.admit', at: world.at },
      rejection: { reason: 'UnexpectedAdmissionError', message: 'its plugin died' },
    });
    world.run(60_000);
    assert.deepEqual([world.state, world.status?.phase], ['terminated.kept', 'Failed']);
    return world.status?.containerStatuses?.[0]?.state;
  };
  assert.equal(
    refusedLate(),
    undefined,
    'an end that never was would be final, also for a static pod that is judged anew',
  );
  assert.equal(refusedLate([BEHAVIOUR.waitingWereNone])?.terminated?.exitCode, 137, 'as older journals have it');
  const again = { name: 'c', ready: true, restartCount: 2, image: 'img:1', imageID: '', containerID: 'containerd://c' };
  const told = refusedLate([], { phase: 'Running', containerStatuses: [{ ...again, state: { running: {} } }] });
  assert.equal(told?.terminated?.exitCode, 137, 'what was restarted was there');
});

test('why a pod that was deleted before it ran is not ready is told once: its phase is not said twice', () => {
  const world = fromApi(apiPod({ initContainers: [{ name: 'i', image: 'img:1' }] }));
  world.run(1_000);
  world.exit('i', 7);
  world.run(1_000);
  const deleted = apiPod(world.definition.spec, {
    metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1 },
  });
  world.effects = [];
  world.send({ type: 'pod.update', at: world.at, pod: deleted });
  world.run(60_000);
  const told = world.effects.flatMap((e) =>
    e.type === 'status.Publish' && e.params.status.phase === 'Failed' ? [e.params.status] : [],
  );
  const reasons = told.map(({ conditions = [] }) => conditions.find(({ type }) => type === 'Ready')?.reason);
  assert.deepEqual([...new Set(reasons)], ['ContainersNotReady']);
});

test('a pod whose phase somebody else made terminal is ended, and stays what it was called', () => {
  const called = (phase: string) => apiPod({}, { status: { phase, reason: 'Lost', message: 'its node was away' } });
  const ended = (phase: string, behaviour = settings.behaviour) => {
    const world = fromApi(apiPod(), false);
    world.snapshot = bornPod({ pod: world.definition, source: 'api', settings: { ...settings, behaviour } });
    world.begin(null, false);
    world.run(5_000);
    assert.equal(world.state, 'syncing.running');
    world.send({ type: 'pod.update', at: world.at, pod: called(phase) });
    world.run(60_000);
    return world;
  };
  const failed = ended('Failed');
  assert.deepEqual(failed.running(), []);
  assert.equal(failed.state, 'terminated.kept');
  assert.deepEqual([failed.status?.phase, failed.status?.reason], ['Failed', 'Lost']);
  assert.equal(ended('Running').state, 'syncing.running');
  const before = settings.behaviour.filter((n) => n !== BEHAVIOUR.endedElsewhere);
  assert.equal(ended('Failed', before).running().length, 1, 'as older journals have it');
});

test('a deleted pod keeps its containers until its object is gone', () => {
  const world = fromApi(apiPod());
  world.run(1_000);
  const deleted = apiPod(
    {},
    { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 } },
  );
  world.send({ type: 'pod.update', at: world.at, pod: deleted });
  world.run(60_000);
  assert.equal(world.state, 'terminated.kept');
  assert.equal(world.status?.phase, 'Failed', 'a container that was stopped has failed');
  assert.equal(world.status.containerStatuses?.[0]?.state?.terminated?.exitCode, 143);
  assert.equal(world.containers.length, 1);
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  world.run(60_000);
  assert.ok(world.finished);
  assert.deepEqual([world.containers, world.sandboxes], [[], []]);
});

test('a pod that has ended before is never run again', () => {
  for (const phase of ['Succeeded', 'Failed']) {
    const world = fromApi(apiPod({ restartPolicy: 'Never' }, { status: { phase } }));
    world.run(60_000);
    assert.equal(world.status?.phase, phase);
    assert.equal(world.count('cri.RunPodSandbox'), 0);
    assert.equal(world.state, 'terminated.kept');
  }
});

test('a container that was lost with its node’s runtime ends as failed', () => {
  const running = { phase: 'Running', containerStatuses: [{ name: 'c', state: { running: {} } }] } as Pod['status'];
  const gone = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1 };
  const world = fromApi(apiPod({}, { status: running, metadata: gone }));
  world.run(60_000);
  const [status] = world.status?.containerStatuses ?? [];
  assert.equal(world.status?.phase, 'Failed');
  assert.equal(status?.state?.terminated?.exitCode, 137);
  assert.equal(status?.state?.terminated?.reason, 'ContainerStatusUnknown');
});

const withObject = () =>
  apiPod({
    containers: [
      { name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', volumeMounts: [{ name: 'v', mountPath: '/v' }] },
    ],
    volumes: [{ name: 'v', configMap: { name: 'settings' } }],
  });

test('a changed object sets the volumes up again beside what runs', () => {
  const world = fromApi(withObject());
  world.run(1_000);
  assert.equal(world.state, 'syncing.running');
  assert.equal(world.count('host.SetUpVolumes'), 1);
  world.send({ type: 'pod.refresh', at: world.at });
  assert.equal(world.count('host.SetUpVolumes'), 2);
  assert.equal(world.state, 'syncing.running', 'nothing waits for it');
  // Again while the first is under way: once more afterwards, and then no more.
  world.send({ type: 'pod.refresh', at: world.at });
  world.send({ type: 'pod.refresh', at: world.at });
  assert.equal(world.count('host.SetUpVolumes'), 2);
  world.run(60_000);
  assert.equal(world.count('host.SetUpVolumes'), 3);
  assert.equal(world.count('cri.StopContainer'), 0);
});

test('an update of volumes that fails is told and tried again', () => {
  const world = fromApi(withObject());
  world.run(1_000);
  let failing = true;
  world.answers['host.SetUpVolumes'] = () =>
    failing ? { error: { code: 'NotFound', message: 'MountVolume.SetUp failed' } } : undefined;
  world.send({ type: 'pod.refresh', at: world.at });
  world.run(3_500);
  assert.ok(world.events.filter((e) => e.startsWith('FailedMount')).length >= 2);
  assert.equal(world.state, 'syncing.running');
  failing = false;
  world.run(10_000);
  const done = world.count('host.SetUpVolumes');
  world.run(60_000);
  assert.equal(world.count('host.SetUpVolumes'), done);
});

test('that the folders of a pod cannot be made is told as that, not of a volume', () => {
  const world = fromApi(apiPod(), false);
  const message = 'mkdir /var/lib/kubelet/pods/u: not a directory';
  world.answers['host.SetUpVolumes'] = () => ({ error: { code: POD_DIRS, message } });
  world.begin(null, true);
  world.run(2_000);
  assert.equal(world.state, 'syncing.mountingVolumes');
  const told = world.events.filter((e) => e.startsWith('Failed'));
  assert.deepEqual([...new Set(told)], [`Failed: error making pod data directories: ${message}`]);
});

test('a volume that waits for its object is tried at once when the object appears', () => {
  const world = fromApi(withObject(), false);
  let absent = true;
  world.answers['host.SetUpVolumes'] = () =>
    absent ? { error: { code: 'NotFound', message: 'configmap "settings" not found' } } : undefined;
  world.begin(null, true);
  world.run(40_000);
  assert.equal(world.state, 'syncing.mountingVolumes');
  absent = false;
  world.send({ type: 'pod.refresh', at: world.at });
  world.run(200);
  assert.equal(world.state, 'syncing.running');
});

for (const [call, what, whose] of [
  ['cri.StopPodSandbox', 'KillPodSandbox', 'u1'],
  ['cri.StopContainer', 'KillContainer', 'c'],
] as const)
  test(`what of a pod is not stopped is told in the words of a sync of kubelet: ${what}`, () => {
    const world = fromApi(apiPod());
    world.run(1_000);
    world.answers[call] = () => ({ error: { code: 'Internal', message: 'says "no"' } });
    const at = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 1 };
    world.send({ type: 'pod.update', at: world.at, pod: apiPod({}, { metadata: at }) });
    world.run(2_000);
    const told = world.events.find((event) => event.startsWith('FailedKillPod'));
    const error = String.raw`"rpc error: code = Internal desc = says \"no\""`;
    assert.equal(
      told,
      `FailedKillPod: error killing pod: failed to "${what}" for "${whose}" with ${what}Error: ${error}`,
    );
  });
