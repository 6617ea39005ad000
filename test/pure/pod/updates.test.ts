import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import type { PodContext } from '../../../machines/pod/pod-context.ts';
import { pod, PodWorld } from './pod-world.ts';

const web = (name = 'c', over: Partial<Container> = {}): Container => ({
  name,
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  ...over,
});
const two = (image: string) => pod({ containers: [web('c', { image }), web('d')] });

function update(world: PodWorld, definition: Pod): void {
  world.definition = definition;
  world.send({ type: 'pod.update', at: world.at, pod: definition });
}

const NO_CNI =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized';

test('a changed definition restarts only that container', () => {
  const world = new PodWorld(two('img:1'));
  world.run(500);
  const d = world.containers.find((c) => c.name === 'd')?.id;
  update(world, two('img:2'));
  world.run(5_000);
  assert.ok(world.events.includes('Killing: Container c definition changed, will be restarted'));
  assert.deepEqual(world.running().sort(), ['c', 'd']);
  assert.equal(world.containers.find((c) => c.name === 'd')?.id, d);
  assert.equal(world.containers.find((c) => c.name === 'c' && c.state === 'running')?.image, 'img:2');
  assert.equal(world.count('cri.StopContainer'), 1);
  assert.equal(world.count('cri.RunPodSandbox'), 1);
});

test('the same definition again restarts nothing', () => {
  const world = new PodWorld(two('img:1'));
  world.run(500);
  update(world, two('img:1'));
  world.run(5_000);
  assert.equal(world.count('cri.StopContainer'), 0);
  assert.equal(world.state, 'syncing.running');
});

test('a repaired image is pulled at once, whatever the back-off', () => {
  const world = new PodWorld(two('bad:1'));
  world.answers['image.Pull'] = (e) =>
    e.type === 'image.Pull' && e.params.image === 'bad:1' ? { error: { code: 'NotFound', message: 'x' } } : undefined;
  world.run(120_000);
  assert.equal(world.state, 'syncing.imageBackOff');
  update(world, two('img:2'));
  world.run(1_000);
  assert.equal(world.state, 'syncing.running');
});

test('a repaired crash-looping container starts at once', () => {
  const world = new PodWorld(pod({ containers: [web()] }));
  world.run(500);
  for (let i = 0; i < 3; i++) {
    world.exit('c', 1);
    world.run(i === 2 ? 500 : 30_000);
  }
  assert.equal(world.state, 'syncing.crashLoopBackOff');
  update(world, pod({ containers: [web('c', { image: 'img:2' })] }));
  world.run(1_000);
  assert.equal(world.state, 'syncing.running');
});

test('activeDeadlineSeconds: the pod fails with DeadlineExceeded, counted from its start, also after the agent came back', () => {
  const spec = { activeDeadlineSeconds: 60, terminationGracePeriodSeconds: 1 };
  const first = new PodWorld(pod(spec));
  first.run(40_000);
  assert.equal(first.status?.phase, 'Running');
  const world = new PodWorld(pod(spec), first.memory, first);
  world.run(19_000);
  assert.equal(world.state, 'syncing.running');
  world.run(5_000);
  assert.equal(world.status?.phase, 'Failed');
  assert.equal(world.status?.reason, 'DeadlineExceeded');
  assert.equal(world.state, 'terminated.kept');
  assert.deepEqual(world.running(), []);
});

test('activeDeadlineSeconds: an agent that remembers nothing counts from the start that the API server has', () => {
  const spec = { activeDeadlineSeconds: 60, terminationGracePeriodSeconds: 1 };
  const first = new PodWorld(pod(spec), null, undefined, true, 'api');
  first.run(40_000);
  const { startTime } = first.status ?? {};
  const told = { ...pod(spec), status: { startTime } };
  const world = new PodWorld(told, null, first, true, 'api');
  world.run(24_000);
  assert.deepEqual([world.status?.phase, world.status?.reason], ['Failed', 'DeadlineExceeded']);
  assert.equal(world.status?.startTime, startTime);
  // One that lies ahead was told before somebody set the clock back.
  const ahead = { ...pod(spec), status: { startTime: new Date(world.at + 3_600_000).toISOString() } };
  const other = new PodWorld(ahead, null, first, true, 'api');
  other.run(10_000);
  assert.equal(other.status?.phase, 'Running');
});

test('network not ready: a new pod waits, a pod on the host network does not, a running one goes on', () => {
  const off = (definition: Pod) => {
    const world = new PodWorld(definition, null, undefined, false);
    world.send({
      type: 'pod.start',
      at: world.at,
      pod: definition,
      source: 'file',
      observed: null,
      memory: null,
      runtimeReady: true,
      networkReady: false,
      networkProblem: NO_CNI,
    });
    world.run(5_000);
    return world;
  };
  const waiting = off(pod({}));
  assert.equal(waiting.state, 'syncing.waitingForNetwork');
  const told = () => waiting.events.filter((e) => e.startsWith('NetworkNotReady'));
  assert.deepEqual([...new Set(told())], [`NetworkNotReady: network is not ready: ${NO_CNI}`]);
  assert.equal(told().length, 3, 'kubelet tries again every two seconds');
  waiting.send({ type: 'runtime.state', at: waiting.at, ...{ runtimeReady: true, networkReady: false } });
  waiting.run(3_600_000);
  assert.ok(told().length < 40, 'but no more than a recorder takes');
  assert.match(told().at(-1) ?? '', /NetworkReady=false$/);
  waiting.send({ type: 'runtime.state', at: waiting.at, runtimeReady: true, networkReady: true });
  waiting.run(1_000);
  assert.equal(waiting.state, 'syncing.running');
  waiting.send({ type: 'runtime.state', at: waiting.at, runtimeReady: true, networkReady: false });
  waiting.run(5_000);
  assert.equal(waiting.state, 'syncing.running');
  assert.equal(off(pod({ hostNetwork: true })).state, 'syncing.running');
});

test('runtime not ready: nothing is asked of it, and the pod goes on when it is back', () => {
  const world = new PodWorld(pod({}));
  world.run(1_000);
  world.send({ type: 'runtime.state', at: world.at, runtimeReady: false, networkReady: false });
  assert.equal(world.state, 'syncing.waitingForRuntime');
  world.effects = [];
  world.run(60_000);
  assert.deepEqual(
    world.effects.filter((e) => e.type.startsWith('cri.')),
    [],
  );
  world.send({ type: 'runtime.state', at: world.at, runtimeReady: true, networkReady: true });
  assert.equal(world.state, 'syncing.running');
  assert.equal(world.count('cri.CreateContainer'), 0);
});

test('termination messages reach the status, one dead container of a name is kept', () => {
  const world = new PodWorld(pod({ containers: [web()] }));
  world.answers['host.ReadTerminationMessage'] = () => ({ result: { message: 'it was the disk' } });
  world.run(500);
  for (let i = 0; i < 4; i++) {
    world.containers = world.containers.map((c) => ({ ...c, terminationLogHostPath: `/tl/${c.id}` }));
    world.exit('c', 3);
    world.run(400_000);
  }
  const last = world.status?.containerStatuses?.[0];
  assert.equal(last?.lastState?.terminated?.message, 'it was the disk');
  assert.equal(last?.lastState?.terminated?.exitCode, 3);
  assert.equal(world.containers.length, 2);
  assert.deepEqual(
    Object.keys(world.memory?.messages ?? {}),
    [world.containers.find((c) => c.state === 'exited')?.id],
    'messages of removed containers are forgotten',
  );
  const removed = world.effects.flatMap((e) => (e.type === 'host.RemoveContainerLog' ? [e.params.logPath] : []));
  assert.equal(removed.length, 3);
});

test('a late answer of before the end does not bring a container back to life', () => {
  const world = new PodWorld(pod({ restartPolicy: 'Never' }));
  world.run(500);
  const running = world.containers[0];
  assert.ok(running);
  world.exit('c', 0);
  world.send({
    type: 'effect.done',
    at: world.at + 1,
    effect: 'cri.ContainerStatus',
    key: `inspect/${running.id}`,
    result: running,
  });
  world.run(5_000);
  assert.equal(world.state, 'terminated.kept');
  assert.equal(world.count('cri.StopContainer'), 0, 'nothing that runs was seen');
  assert.equal(world.status?.phase, 'Succeeded');
});

test('an observation that began in the very millisecond of a creation does not hide the container', () => {
  const world = new PodWorld(pod({}));
  const list: PodWorld['containers'] = [];
  world.answers['cri.StartContainer'] = () => undefined;
  for (let i = 0; i < 200; i++) {
    world.run(1);
    if (world.snapshot.context.observed?.containers.length === 1 && list.length === 0) {
      const observed = { ...world.observe(), containers: [] };
      list.push(...world.containers);
      world.send({ type: 'pod.observed', at: world.at, observed });
    }
  }
  assert.equal(list.length, 1);
  world.run(5_000);
  assert.equal(world.count('cri.CreateContainer'), 1);
  assert.equal(world.state, 'syncing.running');
});

for (const failed of [false, true]) {
  test(`the outcome of a finished task comes ${failed ? 'a second time as a failure' : 'twice'}: nothing is done again`, () => {
    const world = new PodWorld(pod({}));
    world.run(2_000);
    const before = JSON.stringify(world.snapshot.context.observed);
    world.effects = [];
    for (const [name, task] of Object.entries(world.snapshot.context.tasks as PodContext['tasks'])) {
      if (task.key === '') continue;
      const effect =
        name === 'volumes' ? 'host.SetUpVolumes' : name === 'cgroup' ? 'host.EnsurePodCgroup' : 'cri.PodSandboxStatus';
      if (failed)
        world.send({
          type: 'effect.failed',
          at: world.at,
          effect,
          key: task.key,
          error: { code: 'Unknown', message: 'x' },
        });
      else
        world.send({
          type: 'effect.done',
          at: world.at,
          effect: 'cri.RunPodSandbox',
          key: task.key,
          result: { podSandboxId: 'zz' },
        });
    }
    assert.deepEqual(
      world.effects.filter((e) => e.type !== 'status.Publish'),
      [],
    );
    assert.equal(JSON.stringify(world.snapshot.context.observed), before);
  });
}
