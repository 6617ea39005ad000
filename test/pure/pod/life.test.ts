import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_BEHAVIOUR, BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { pod, PodWorld, settings } from './pod-world.ts';

test('a pod comes up: volumes, cgroup, sandbox, container, running', () => {
  const world = new PodWorld(pod({}));
  world.run(1_000);
  assert.equal(world.state, 'syncing.running');
  assert.deepEqual(world.running(), ['c']);
  assert.equal(world.status?.phase, 'Running');
  assert.equal(world.status?.containerStatuses?.[0]?.ready, true);
  assert.equal(world.status?.podIP, '10.88.0.2');
  assert.equal(world.count('cri.RunPodSandbox'), 1);
  assert.equal(world.count('cri.CreateContainer'), 1);
  assert.ok(world.events.includes('Started: Container started'));
});

test('a pod that its source gives up is stopped, cleaned and finished, and never goes back', () => {
  const world = new PodWorld(pod({}));
  world.run(1_000);
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  world.run(10_000);
  assert.equal(world.state, 'terminated.finished');
  assert.equal(world.finished, true);
  assert.deepEqual(world.containers, []);
  assert.deepEqual(world.sandboxes, []);
  assert.equal(world.count('host.TearDownPod'), 1);
  assert.equal(world.count('host.RemovePodCgroup'), 1);
  assert.equal(world.count('host.RemovePodLogs'), 1);
  const phases = world.states.map((s) => s.split('.')[0]);
  assert.deepEqual([...new Set(phases)], ['syncing', 'terminating', 'terminated']);
});

test('a crashing container backs off 0, 10, 20, 40 seconds with the reason CrashLoopBackOff', () => {
  const world = new PodWorld(pod({}));
  world.run(1_000);
  const waits: number[] = [];
  for (let i = 0; i < 4; i++) {
    world.exit('c', 1);
    const from = world.at;
    if (i > 0) {
      world.run(1_000);
      assert.equal(world.state, 'syncing.crashLoopBackOff');
      const waiting = world.status?.containerStatuses?.[0]?.state?.waiting;
      assert.equal(waiting?.reason, 'CrashLoopBackOff');
      assert.match(
        waiting?.message ?? '',
        /^back-off (10s|20s|40s) restarting failed container=c pod=web-node1_default\(u1\)$/,
      );
    }
    while (!world.running().includes('c')) world.run(500);
    waits.push(Math.round((world.at - from) / 10_000) * 10);
    assert.equal(world.status?.containerStatuses?.[0]?.restartCount ?? 0, i + 1);
  }
  assert.deepEqual(waits, [0, 10, 20, 40]);
  assert.equal(world.containers.length, 2, 'one dead container is kept beside the running one');
});

test('init containers run one after the other, sidecars stay, regular containers come last', () => {
  const world = new PodWorld(
    pod({
      initContainers: [
        { name: 'i1', image: 'img:1' },
        { name: 'side', image: 'img:1', restartPolicy: 'Always' },
        { name: 'i2', image: 'img:1' },
      ],
    }),
  );
  world.run(500);
  assert.deepEqual(world.running(), ['i1']);
  assert.equal(world.state, 'syncing.initializing');
  world.exit('i1', 0);
  world.run(500);
  assert.deepEqual(world.running().sort(), ['i2', 'side']);
  world.exit('i2', 0);
  world.run(500);
  assert.deepEqual(world.running().sort(), ['c', 'side']);
  assert.equal(world.state, 'syncing.running');
  world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  world.run(20_000);
  assert.equal(world.finished, true);
  const stops = world.effects.filter((e) => e.type === 'cri.StopContainer');
  assert.equal(stops.length, 2, 'the sidecar is stopped after the regular container');
});

test('restartPolicy Never: the pod succeeds, is cleaned, and keeps its container for the log', () => {
  const world = new PodWorld(pod({ restartPolicy: 'Never' }));
  world.run(500);
  world.exit('c', 0);
  world.run(5_000);
  assert.equal(world.state, 'terminated.kept');
  assert.equal(world.containers.length, 1);
  assert.equal(world.count('cri.StopPodSandbox'), 1);
  assert.equal(world.count('host.TearDownPod'), 1);
});

test('an agent that comes back adopts what runs and restarts nothing', () => {
  const first = new PodWorld(pod({}));
  first.run(1_000);
  const id = first.containers[0]?.id;
  const second = new PodWorld(pod({}), first.memory, first);
  second.run(5_000);
  assert.equal(second.state, 'syncing.running');
  assert.equal(second.containers[0]?.id, id);
  assert.equal(second.count('cri.CreateContainer'), 0);
  assert.equal(second.count('cri.RunPodSandbox'), 0);
});

for (const effect of [
  'cri.RunPodSandbox',
  'cri.CreateContainer',
  'cri.StartContainer',
  'cri.PodSandboxStatus',
  'host.PrepareContainer',
  'image.Status',
] as const) {
  test(`killed while ${effect} was under way: the next agent brings the pod up with no restart counted`, () => {
    const first = new PodWorld(pod({}));
    first.answers[effect] = () => 'hang';
    first.run(1_000);
    const second = new PodWorld(pod({}), first.memory, first);
    second.run(30_000);
    assert.equal(second.state, 'syncing.running');
    assert.equal(second.status?.containerStatuses?.[0]?.restartCount, 0);
    assert.equal(second.running().length, 1);
  });
}

test('an image that cannot be pulled: ErrImagePull, then ImagePullBackOff, then it is pulled', () => {
  const world = new PodWorld(pod({ containers: [{ name: 'c', image: 'none:1', imagePullPolicy: 'IfNotPresent' }] }));
  world.answers['image.Pull'] = () => ({ error: { code: 'NotFound', message: 'no such image' } });
  world.run(1_000);
  const reason = () => world.status?.containerStatuses?.[0]?.state?.waiting?.reason;
  assert.equal(reason(), 'ErrImagePull');
  world.run(22_000);
  assert.equal(reason(), 'ImagePullBackOff');
  assert.equal(world.state, 'syncing.imageBackOff');
  delete world.answers['image.Pull'];
  world.run(20_000);
  assert.equal(world.state, 'syncing.running');
});

test('a failing liveness probe restarts the container, a failing readiness probe only unreadies it', () => {
  const probe = {
    exec: { command: ['x'] },
    periodSeconds: 1,
    failureThreshold: 3,
    timeoutSeconds: 1,
    successThreshold: 1,
  };
  const world = new PodWorld(
    pod({
      containers: [
        { name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', livenessProbe: probe, readinessProbe: probe },
      ],
    }),
  );
  world.run(2_000);
  assert.equal(world.state, 'syncing.running');
  world.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: 'bad' } });
  world.run(3_500);
  assert.ok(
    world.events.includes('Killing: Container c failed liveness probe, will be restarted'),
    world.events.join('\n'),
  );
  assert.ok(world.events.includes('Unhealthy: Liveness probe failed: bad'));
  delete world.answers['cri.ExecSync'];
  world.run(5_000);
  assert.equal(world.status?.containerStatuses?.[0]?.restartCount, 1);
  assert.equal(world.state, 'syncing.running');
});

test("before a sandbox takes another's place the pod's cgroup is made again, with its limits", () => {
  for (const lost of ['dead', 'vanished']) {
    const world = new PodWorld(pod({}));
    world.run(1_000);
    const [first] = world.effects.filter((e) => e.type === 'host.EnsurePodCgroup');
    world.effects = [];
    world.sandboxes = lost === 'dead' ? world.sandboxes.map((s) => ({ ...s, state: 'notReady' })) : [];
    if (lost === 'vanished') world.containers = [];
    // The runtime comes back with that news.
    world.send({ type: 'runtime.state', at: world.at, runtimeReady: false, networkReady: true });
    world.pleg();
    world.send({ type: 'runtime.state', at: world.at, runtimeReady: true, networkReady: true });
    world.run(10_000);
    assert.equal(world.state, 'syncing.running', lost);
    const made = world.effects.filter((e) => e.type === 'host.EnsurePodCgroup' || e.type === 'cri.RunPodSandbox');
    assert.deepEqual(
      made.map((e) => e.type),
      ['host.EnsurePodCgroup', 'cri.RunPodSandbox'],
      lost,
    );
    assert.ok(first !== undefined && first.params.cgroup.path !== '');
    assert.deepEqual(made[0]?.params, first.params);
  }
});

test('the sandbox dies: it is made anew, and its containers with it', () => {
  const world = new PodWorld(pod({}));
  world.run(1_000);
  world.sandboxes = world.sandboxes.map((s) => ({ ...s, state: 'notReady' }));
  world.containers = world.containers.map((c) => ({ ...c, state: 'exited', exitCode: 137, finishedAt: world.at }));
  world.pleg();
  world.run(2_000);
  assert.equal(world.state, 'syncing.running');
  assert.equal(world.sandboxes[0]?.attempt, 1);
  assert.ok(world.events.some((e) => e.startsWith('SandboxChanged')));
});

test('a sandbox cannot be made in the place of another: that it has changed is told with each try, once', () => {
  const told = (left: boolean, behaviour = settings.behaviour ?? []) => {
    const world = new PodWorld(pod({}), null, undefined, true, 'file', { behaviour });
    world.run(1_000);
    world.sandboxes = world.sandboxes.map((s) => ({ ...s, state: 'notReady' }));
    world.containers = world.containers.map((c) => ({ ...c, state: 'exited', exitCode: 137, finishedAt: world.at }));
    world.answers['cri.RunPodSandbox'] = (effect) => {
      const [newest] = world.sandboxes;
      const attempt = effect.type === 'cri.RunPodSandbox' ? effect.params.config.metadata.attempt : 0;
      if (left && newest) world.sandboxes = [{ ...newest, id: `left-${attempt}`, attempt }, ...world.sandboxes];
      return { error: { code: 'Unknown', message: 'failed to setup network' } };
    };
    world.pleg();
    world.run(20_000);
    const reasons = world.events.map((e) => e.split(':')[0]);
    const since = reasons.slice(reasons.indexOf('SandboxChanged'));
    return since.filter((reason) => reason === 'SandboxChanged' || reason === 'FailedCreatePodSandBox');
  };
  for (const left of [false, true]) {
    const events = told(left);
    assert.ok(events.length >= 6, events.join());
    const alternate = events.map((_, i) => (i % 2 === 0 ? 'SandboxChanged' : 'FailedCreatePodSandBox'));
    assert.deepEqual(events, alternate);
  }
  const before = ALL_BEHAVIOUR.filter((change) => change !== BEHAVIOUR.triesAreToldOf);
  assert.equal(
    told(false, before).filter((reason) => reason === 'SandboxChanged').length,
    1,
    'as logs of before have it',
  );
});
