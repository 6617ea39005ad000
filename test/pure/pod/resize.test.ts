import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { containerHash } from '../../../machines/container-config/container-hash.ts';
import type { Container } from '../../../machines/protocol/api-types.ts';
import { apiPod, sized } from '../resize/resize-pods.ts';
import { PodWorld } from './pod-world.ts';
import { ResizeWorld } from './resize-world.ts';

const MI = 2 ** 20;

function running(...containers: Container[]): ResizeWorld {
  const world = new ResizeWorld(containers);
  world.run(1_000);
  assert.equal(world.running().length, containers.length);
  return world;
}

const idOf = (world: PodWorld, name = 'c') => world.containers.find((c) => c.name === name)?.id ?? '';

describe('resize in place (KEP-1287)', () => {
  test('a running container gets other resources without a restart; condition, events and status tell', () => {
    const world = running(sized('c', '1', '100Mi'));
    world.allocate([sized('c', '2', '200Mi')]);
    assert.equal(world.condition()?.observedGeneration, 2);
    assert.equal(world.condition()?.reason, undefined);
    world.run(1_000);
    const id = idOf(world);
    assert.deepEqual(world.calls(), ['pod', id, 'pod', 'pod', id]);
    assert.deepEqual(world.told(), ['ResizeStarted', 'ResizeCompleted']);
    assert.equal(world.condition(), undefined);
    assert.deepEqual(world.status?.containerStatuses?.[0]?.resources, sized('c', '2', '200Mi').resources);
    assert.deepEqual(world.status?.containerStatuses?.[0]?.allocatedResources, { cpu: '2', memory: '200Mi' });
    assert.equal(world.status?.containerStatuses?.[0]?.restartCount, 0);
    assert.equal(world.memory?.resize, undefined);
    assert.equal(world.count('host.EnsurePodCgroup'), 0, 'the pod is not given everything at once');
    const told = world.effects.filter((e) => e.type === 'cri.UpdatePodSandboxResources').map((e) => e.params.resources);
    const podHas = { cpuPeriod: '100000', cpuQuota: '200000', cpuShares: '2048', memoryLimitInBytes: '209715200' };
    assert.deepEqual(told, [podHas], 'the runtime hears of the pod once');
  });

  test('until a call has been answered, the status shows what the container has', () => {
    const world = running(sized('c', '1', '100Mi'));
    world.answers['cri.UpdateContainerResources'] = () => 'hang';
    world.allocate([sized('c', '2', '200Mi')]);
    world.run(1_000);
    assert.deepEqual(world.status?.containerStatuses?.[0]?.resources, sized('c', '1', '100Mi').resources);
    assert.deepEqual(world.status?.containerStatuses?.[0]?.allocatedResources, { cpu: '2', memory: '200Mi' });
    assert.deepEqual(world.memory?.resize?.actuated['c'], sized('c', '1', '100Mi').resources);
  });

  test('a call that fails: reason Error with an event, tried again after 10 s', () => {
    const world = running(sized('c', '1', '100Mi'));
    world.answers['cri.UpdateContainerResources'] = () => ({ error: { code: 'Unknown', message: 'no' } });
    world.allocate([sized('c', '2', '100Mi')]);
    world.run(1_000);
    assert.equal(world.condition()?.reason, 'Error');
    assert.equal(world.condition()?.message, 'rpc error: code = Unknown desc = no');
    assert.deepEqual(world.told(), ['ResizeStarted', 'ResizeError']);
    world.run(8_000);
    assert.equal(world.count('cri.UpdateContainerResources'), 1);
    delete world.answers['cri.UpdateContainerResources'];
    world.run(5_000);
    assert.deepEqual(world.told(), ['ResizeStarted', 'ResizeError', 'ResizeCompleted']);
    assert.equal(world.condition(), undefined);
  });

  test('a memory limit below what is in use is not set; it is once the use goes down', () => {
    const world = running(sized('c', '1', '100Mi'));
    world.usage = 80 * MI;
    world.allocate([sized('c', '1', '50Mi')]);
    world.run(1_000);
    assert.deepEqual(world.calls(), []);
    assert.match(
      world.condition()?.message ?? '',
      /^cannot decrease memory limits: \[attempting to set pod memory limit/,
    );
    world.usage = 20 * MI;
    world.run(11_000);
    assert.deepEqual(world.calls(), [idOf(world), 'pod']);
    assert.equal(world.condition(), undefined);
    assert.equal(world.cgroup.memoryLimitBytes, 50 * MI);
  });

  test('a newer allocation while a call is under way: the call counts, and the plan is made anew', () => {
    const world = running(sized('c', '1', '100Mi'));
    world.allocate([sized('c', '2', '100Mi')]);
    world.run(15);
    world.allocate([sized('c', '3', '100Mi')], 3);
    world.run(1_000);
    const last = world.effects.findLast((e) => e.type === 'cri.UpdateContainerResources');
    assert.equal(last?.type === 'cri.UpdateContainerResources' && last.params.linux.cpuQuota, '300000');
    assert.equal(world.cgroup.cpuQuotaUs, 300_000);
    assert.equal(world.condition(), undefined);
  });

  test('taken back at once: everything ends as it was', () => {
    const world = running(sized('c', '1', '100Mi'));
    world.allocate([sized('c', '2', '100Mi')]);
    world.run(25);
    world.allocate([sized('c', '1', '100Mi')], 3);
    world.run(1_000);
    assert.equal(world.cgroup.cpuQuotaUs, 100_000);
    assert.equal(world.cgroup.cpuShares, 1024);
    assert.equal(world.condition(), undefined);
  });

  test('a container that does not run is made with the new resources; only the pod is resized', () => {
    const world = running(sized('c', '1', '50Mi'), sized('d', '1', '50Mi'));
    world.exit('c', 1);
    world.run(100);
    world.exit('c', 1);
    world.run(100);
    assert.deepEqual(world.running(), ['d'], 'c is in back-off');
    world.allocate([sized('c', '2', '50Mi'), sized('d', '1', '50Mi')]);
    world.run(1_000);
    assert.equal(world.count('cri.UpdateContainerResources'), 0);
    assert.equal(world.cgroup.cpuQuotaUs, 300_000);
    assert.equal(world.condition(), undefined);
    world.run(20_000);
    const made = world.effects.find((e) => e.type === 'cri.CreateContainer');
    assert.equal(made?.type === 'cri.CreateContainer' && made.params.config.linux.resources.cpuQuota, '200000');
  });

  test('a static pod is not resized', () => {
    const world = new PodWorld({
      ...apiPod([sized('c', '1', '100Mi')]),
      metadata: { name: 'web', namespace: 'd', uid: 'u', annotations: { 'kubernetes.io/config.source': 'file' } },
    });
    world.run(1_000);
    const definition = { ...world.definition, spec: { containers: [sized('c', '2', '100Mi')] } };
    world.send({ type: 'pod.update', at: world.at, pod: definition });
    world.run(1_000);
    assert.equal(world.count('cri.UpdateContainerResources'), 0);
  });
});

describe('resizePolicy RestartContainer', () => {
  const policy = [
    { resourceName: 'cpu', restartPolicy: 'NotRequired' },
    { resourceName: 'memory', restartPolicy: 'RestartContainer' },
  ];
  const picky = (cpu: string, memory: string) => sized('c', cpu, memory, { resizePolicy: policy });

  for (const restartPolicy of ['Always', 'OnFailure', 'Never']) {
    test(`the container is restarted with its new resources, once, whatever restartPolicy ${restartPolicy} says`, () => {
      const world = running(picky('1', '100Mi'));
      world.definition = {
        ...world.definition,
        spec: { ...world.definition.spec, restartPolicy, containers: [picky('1', '100Mi')] },
      };
      world.send({ type: 'pod.update', at: world.at, pod: world.definition });
      world.events = [];
      world.effects = [];
      world.definition = { ...apiPod([picky('1', '200Mi')], 2) };
      world.definition.spec = { containers: [picky('1', '200Mi')], restartPolicy, terminationGracePeriodSeconds: 1 };
      world.send({ type: 'pod.update', at: world.at, pod: world.definition });
      world.run(5_000);
      world.pleg();
      world.run(5_000);
      assert.equal(world.count('cri.UpdateContainerResources'), 0);
      assert.equal(world.count('cri.CreateContainer'), 1);
      assert.ok(world.events.includes('Killing: Container c resize requires restart'));
      assert.deepEqual(world.running(), ['c']);
      assert.equal(world.status?.containerStatuses?.[0]?.restartCount, 1);
      assert.equal(world.cgroup.memoryLimitBytes, 200 * MI);
      assert.equal(world.condition(), undefined);
      assert.deepEqual(world.told(), ['ResizeStarted', 'ResizeCompleted']);
    });
  }

  test('the pod gets its room before the container starts anew', () => {
    const world = running(picky('1', '100Mi'));
    world.allocate([picky('1', '200Mi')]);
    world.run(10_000);
    const order = world.effects.flatMap((e) =>
      e.type === 'host.UpdatePodCgroup' || e.type === 'cri.CreateContainer' || e.type === 'cri.StopContainer'
        ? [e.type]
        : [],
    );
    assert.deepEqual(order, ['cri.StopContainer', 'host.UpdatePodCgroup', 'cri.CreateContainer']);
  });

  test('a second one soon after is not held back by the crash-loop delay', () => {
    const world = running(picky('1', '100Mi'));
    world.allocate([picky('1', '200Mi')]);
    world.run(3_000);
    world.allocate([picky('1', '100Mi')], 3);
    world.run(3_000);
    assert.deepEqual(world.running(), ['c']);
    assert.equal(world.status?.containerStatuses?.[0]?.restartCount, 2);
  });

  test('a resource whose policy is NotRequired changes while it runs', () => {
    const world = running(picky('1', '100Mi'));
    world.allocate([picky('2', '100Mi')]);
    world.run(1_000);
    assert.equal(world.count('cri.StopContainer'), 0);
    assert.equal(world.condition(), undefined);
  });
});

describe('the agent restarts in the middle of a resize', () => {
  test('what it remembers is put in force, and the pod cgroup is not set ahead of it', () => {
    const world = running(sized('c', '1', '100Mi'));
    world.answers['cri.UpdateContainerResources'] = () => 'hang';
    world.allocate([sized('c', '2', '100Mi')]);
    world.run(1_000);
    const { memory } = world;
    assert.ok(memory?.resize);
    const after = new ResizeWorld([sized('c', '2', '100Mi')], memory, world);
    after.cgroup = world.cgroup;
    after.run(1_000);
    const cgroup = after.effects.find((e) => e.type === 'host.EnsurePodCgroup');
    assert.deepEqual(Object.keys(cgroup?.type === 'host.EnsurePodCgroup' ? cgroup.params.cgroup : {}), ['path']);
    assert.equal(after.count('cri.UpdateContainerResources'), 1);
    assert.equal(after.condition(), undefined);
    assert.deepEqual(after.told(), ['ResizeCompleted']);
  });

  test('without memory, the condition that the API shows is ended', () => {
    const world = running(sized('c', '1', '100Mi'));
    const definition = apiPod([sized('c', '1', '100Mi')], 2);
    definition.status = { conditions: [{ type: 'PodResizeInProgress', status: 'True', observedGeneration: 2 }] };
    const after = new PodWorld(definition, null, world, false, 'api');
    after.answers['host.ReadPodResources'] = () => ({ result: { ...world.cgroup, usageBytes: 1, containers: {} } });
    after.begin(null, true);
    after.run(1_000);
    assert.equal(
      after.status?.conditions?.some(({ type }) => type === 'PodResizeInProgress'),
      false,
    );
    assert.equal(after.count('cri.UpdateContainerResources'), 0);
  });
});

test('PodResizePending comes with the pod, and goes when the pod has ended', () => {
  const world = running(sized('c', '1', '100Mi'));
  const pending = { type: 'PodResizePending', status: 'True', reason: 'Deferred', observedGeneration: 2 };
  const definition = apiPod([sized('c', '1', '100Mi')], 2);
  definition.spec = { containers: definition.spec?.containers ?? [], restartPolicy: 'Never' };
  definition.status = { conditions: [pending] };
  world.definition = definition;
  world.send({ type: 'pod.update', at: world.at, pod: definition });
  assert.deepEqual(
    world.status?.conditions?.find(({ type }) => type === 'PodResizePending'),
    pending,
  );
  world.exit('c', 0);
  world.run(5_000);
  assert.equal(world.status?.phase, 'Succeeded');
  assert.equal(
    world.status?.conditions?.some(({ type }) => type === 'PodResizePending'),
    false,
  );
});

describe('crash-loop back-off of a container that is resized', () => {
  const policy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }] as const;
  const small = () => sized('c', '1', '100Mi', { resizePolicy: [...policy] });
  const large = () => sized('c', '1', '200Mi', { resizePolicy: [...policy] });
  const reason = (world: PodWorld) => world.status?.containerStatuses?.[0]?.state?.waiting?.reason;

  /** It has crashed so often that it waits for 40 s. */
  function looping(): ResizeWorld {
    const world = running(small());
    for (const ms of [0, 11_000, 21_000]) {
      world.run(ms);
      world.exit('c', 1);
      world.run(1_000);
    }
    world.run(21_000);
    world.exit('c', 1);
    world.run(1_000);
    assert.equal(world.state, 'syncing.crashLoopBackOff');
    assert.equal(reason(world), 'CrashLoopBackOff');
    return world;
  }

  test('it starts at once with its new resources, and its delays begin anew', () => {
    const world = looping();
    world.allocate([large()]);
    assert.equal(reason(world), 'CrashLoopBackOff', 'told until the next one runs');
    world.run(2_000);
    assert.equal(world.running().length, 1);
    world.exit('c', 1);
    world.run(9_000);
    assert.equal(reason(world), 'CrashLoopBackOff');
    assert.match(world.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /^back-off 10s /);
    world.run(2_000);
    assert.equal(world.running().length, 1);
  });

  test('another change of the pod does not end it, nor does an agent that remembers it', () => {
    const world = looping();
    world.allocate([small()]);
    world.run(5_000);
    assert.equal(world.count('cri.CreateContainer'), 0);
    const next = new ResizeWorld([small()], world.memory, world);
    next.run(5_000);
    assert.equal(next.count('cri.CreateContainer'), 0);
    // What an agent remembers that did not know of resources still counts.
    const { backOff } = world.memory?.containers['c'] ?? {};
    assert.ok(world.memory !== null && backOff !== undefined);
    const old = { ...world.memory, containers: { c: { backOff: { ...backOff, hash: containerHash(small()) } } } };
    const later = new ResizeWorld([small()], old, world);
    later.run(5_000);
    assert.equal(later.count('cri.CreateContainer'), 0);
  });
});
