import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../../../machines/protocol/api-types.ts';
import type { EffectType } from '../../../machines/protocol/effects.ts';
import { pod, PodWorld } from './pod-world.ts';

const web = (name = 'c', over: Partial<Container> = {}): Container => ({
  name,
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  ...over,
});
const sidecar = (name: string, over: Partial<Container> = {}) => web(name, { restartPolicy: 'Always', ...over });
function end(world: PodWorld, gracePeriodSeconds?: number): void {
  world.send({
    type: 'pod.terminate',
    at: world.at,
    order: { reason: 'Removed', message: '', ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) },
  });
}
/** Names and time-outs of StopContainer calls in order. */
function stops(world: PodWorld): [string, number][] {
  return world.effects.flatMap((e) => {
    if (e.type !== 'cri.StopContainer') return [];
    const made = world.effects
      .filter((x) => x.type === 'cri.CreateContainer')
      .map((x) => x.params.config.metadata.name);
    const names: Record<string, string> = {};
    for (const c of allSeen.get(world) ?? []) names[c.id] = c.name;
    return [[names[e.params.containerId] ?? made[0] ?? '', e.params.timeoutSeconds] as [string, number]];
  });
}
const allSeen = new WeakMap<PodWorld, { id: string; name: string }[]>();
function started(spec: Parameters<typeof pod>[0]): PodWorld {
  const world = new PodWorld(pod(spec));
  world.run(2_000);
  allSeen.set(world, [...world.containers]);
  return world;
}

test('regular containers stop together, then sidecars in reverse order, each with what is left of the grace period', () => {
  const world = started({ initContainers: [sidecar('s1'), sidecar('s2')], containers: [web('c'), web('d')] });
  end(world, 10);
  world.run(30_000);
  assert.deepEqual(stops(world), [
    ['c', 10],
    ['d', 10],
    ['s2', 9],
    ['s1', 8],
  ]);
  assert.equal(world.finished, true);
});

test('a sidecar stops when the grace period is over, though its turn has not come', () => {
  const world = started({ initContainers: [sidecar('s')], containers: [web('c')] });
  world.answers['cri.StopContainer'] = (e, w) =>
    e.type === 'cri.StopContainer' && w.containers.find((c) => c.id === e.params.containerId)?.name === 'c'
      ? 'hang'
      : undefined;
  end(world, 4);
  world.run(3_900);
  assert.deepEqual(stops(world), [['c', 4]]);
  world.run(200);
  assert.deepEqual(stops(world), [
    ['c', 4],
    ['s', 2],
  ]);
});

test('grace 0: it is a second at least; hooks begin, nobody waits for longer, two seconds for each', () => {
  const hook = { preStop: { exec: { command: ['x'] } } };
  const world = started({
    initContainers: [sidecar('s', { lifecycle: hook })],
    containers: [web('c', { lifecycle: hook })],
  });
  world.answers['cri.ExecSync'] = () => 'hang';
  end(world, 0);
  world.run(999);
  assert.equal(world.count('cri.ExecSync'), 2);
  assert.deepEqual(stops(world), []);
  world.run(2);
  assert.deepEqual(stops(world).sort(), [
    ['c', 2],
    ['s', 2],
  ]);
  world.run(20_000);
  assert.equal(world.finished, true);
});

test('a shorter order shortens, a longer one does not lengthen', () => {
  const world = started({});
  world.answers['cri.StopContainer'] = () => 'hang';
  end(world, 30);
  world.run(5_000);
  end(world, 60);
  assert.deepEqual(stops(world), [['c', 30]]);
  end(world, 3);
  assert.deepEqual(stops(world), [
    ['c', 30],
    ['c', 3],
  ]);
});

test('preStop runs within the termination; the state says so', () => {
  const world = started({ containers: [web('c', { lifecycle: { preStop: { sleep: { seconds: 6 } } } })] });
  end(world, 20);
  world.run(5_000);
  assert.equal(world.state, 'terminating.runningPreStop');
  world.run(1_500);
  assert.deepEqual(stops(world), [['c', 14]]);
  world.run(5_000);
  assert.equal(world.finished, true);
});

test('a preStop hook that has ended is not run again by the next agent', () => {
  const spec = { containers: [web('c', { lifecycle: { preStop: { exec: { command: ['x'] } } } })] };
  const first = started(spec);
  first.answers['cri.StopContainer'] = () => 'hang';
  end(first, 30);
  first.run(2_000);
  assert.equal(first.count('cri.ExecSync'), 1);
  const second = new PodWorld(pod(spec), first.memory, first);
  second.run(10_000);
  assert.equal(second.count('cri.ExecSync'), 0);
  assert.equal(second.finished, true);
});

test('an API pod that is being deleted when the agent starts is terminated, not started', () => {
  const definition = pod({});
  definition.metadata = {
    ...definition.metadata,
    deletionTimestamp: '2026-01-01T00:00:00Z',
    deletionGracePeriodSeconds: 5,
  };
  const first = started({});
  const world = new PodWorld(definition, null, first);
  world.run(10_000);
  assert.equal(world.finished, true);
  assert.equal(world.effects.find((e) => e.type === 'cri.StopContainer')?.params.timeoutSeconds, 5);
});

test('a container that turns up late in a terminated pod is stopped and removed; the phase does not go back', () => {
  const world = started({ restartPolicy: 'Never' });
  world.exit('c', 0);
  world.run(5_000);
  assert.equal(world.state, 'terminated.kept');
  const [old] = world.containers;
  assert.ok(old);
  world.containers = [
    { ...old, id: 'late', state: 'running', exitCode: 0, finishedAt: 0, createdAt: world.at, startedAt: world.at },
    old,
  ];
  world.states = [];
  world.pleg();
  world.run(10_000);
  assert.ok(
    world.states.every((s) => s.startsWith('terminated.')),
    world.states.join(' '),
  );
  assert.deepEqual(world.running(), []);
  const told = world.effects.flatMap((e) => (e.type === 'status.Publish' ? [e.params.state] : []));
  assert.ok(told.slice(told.indexOf('terminated.kept')).every((s) => s.startsWith('terminated.')));
});

test('evicted: Failed with the reason; then removed from its source: gone', () => {
  const world = started({});
  world.send({
    type: 'pod.terminate',
    at: world.at,
    order: { reason: 'Evicted', message: 'The node was low on resource: memory.', gracePeriodSeconds: 0 },
  });
  world.run(10_000);
  assert.equal(world.status?.phase, 'Failed');
  assert.equal(world.status?.reason, 'Evicted');
  assert.equal(world.state, 'terminated.kept');
  end(world);
  world.run(5_000);
  assert.equal(world.finished, true);
});

test('a pod that is evicted, or gives way, while it is being deleted is told so, as with kubelet', () => {
  for (const reason of ['Evicted', 'Preempting']) {
    const world = started({ containers: [web()] });
    world.answers['cri.StopContainer'] = () => 'hang';
    world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Deleted', message: '' } });
    const order = { reason, message: 'told', gracePeriodSeconds: 0, disruption: true as const };
    world.send({ type: 'pod.terminate', at: world.at, order });
    // What comes later says nothing else.
    world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Deleted', message: '' } });
    const { phase, reason: said, message, conditions } = world.status ?? {};
    assert.deepEqual([phase, said, message], ['Failed', reason, 'told']);
    assert.equal(conditions?.find(({ type }) => type === 'DisruptionTarget')?.status, 'True');
  }
});

test('a pod that is evicted, or gives way, has succeeded if its containers have, as with kubelet', () => {
  const told = (reason: string, exitCode: number) => {
    const world = started({ restartPolicy: 'Never', containers: [web()] });
    world.stopExitCode = exitCode;
    world.send({ type: 'pod.terminate', at: world.at, order: { reason, message: 'told', disruption: true as const } });
    assert.equal(world.status?.phase, 'Failed', 'until they have ended');
    world.run(3_000);
    const { phase, reason: said, message, conditions } = world.status ?? {};
    return [phase, said, message, conditions?.find(({ type }) => type === 'DisruptionTarget')?.status];
  };
  for (const reason of ['Evicted', 'Preempting', 'Terminated']) {
    assert.deepEqual(told(reason, 0), ['Succeeded', undefined, undefined, 'True']);
    assert.deepEqual(told(reason, 137), ['Failed', reason, 'told', 'True']);
  }
});

test('terminated while a startup is at any of its steps: it ends clean', () => {
  for (let ms = 0; ms < 200; ms += 3) {
    const world = new PodWorld(
      pod({
        initContainers: [sidecar('s')],
        containers: [web('c', { lifecycle: { postStart: { exec: { command: ['x'] } } } })],
      }),
    );
    world.run(ms);
    end(world, 2);
    for (let i = 0; i < 40 && !world.finished; i++) {
      world.run(1_000);
      world.pleg();
    }
    assert.equal(world.finished, true, `${ms} ms: ${world.state} ${world.snapshot.context.why}`);
    assert.deepEqual([world.containers, world.sandboxes], [[], []]);
  }
});

const hanging: EffectType[] = [
  'image.Status',
  'image.Pull',
  'cri.CreateContainer',
  'cri.StartContainer',
  'cri.ContainerStatus',
  'cri.ExecSync',
  'host.PrepareContainer',
  'host.LinkLog',
  'host.SetUpVolumes',
  'host.EnsurePodCgroup',
  'net.HttpGet',
  'cri.PodSandboxStatus',
  'host.RemoveContainerLog',
];
for (const effect of hanging) {
  test(`${effect} hangs for ever: the pod is removed all the same`, () => {
    const probe = { httpGet: { port: 80 as unknown as string }, periodSeconds: 1 };
    const world = new PodWorld(
      pod({
        containers: [
          web('c', {
            imagePullPolicy: effect === 'image.Pull' ? 'Always' : 'IfNotPresent',
            readinessProbe: probe,
            livenessProbe: { exec: { command: ['x'] }, periodSeconds: 1 },
            lifecycle: { preStop: { exec: { command: ['y'] } } },
          }),
        ],
      }),
    );
    world.answers[effect] = () => 'hang';
    world.run(3_000);
    end(world, 5);
    for (let i = 0; i < 40 && !world.finished; i++) {
      world.run(1_000);
      world.pleg();
    }
    assert.equal(world.finished, true, `${world.state} ${world.snapshot.context.why}`);
  });
}
