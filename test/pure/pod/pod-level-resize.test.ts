import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container } from '../../../machines/protocol/api-types.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import type { Requirements } from '../../../machines/protocol/requirements.ts';
import { sized } from '../resize/resize-pods.ts';
import { ResizeWorld } from './resize-world.ts';

const MI = 2 ** 20;
const GATE = { podLevelResizes: true } as const;

function whole(cpu: string, memory: string): Requirements {
  return { requests: { cpu, memory }, limits: { cpu, memory } };
}

const bare = (over: Partial<Container> = {}): Container => ({ name: 'c', image: 'img:1', ...over });

function running(container: Container, all: Requirements, over: { podLevelResizes?: true } = GATE): ResizeWorld {
  const world = new ResizeWorld([container], null, undefined, over, all);
  world.run(1_000);
  assert.equal(world.running().length, 1);
  return world;
}

describe("the whole pod's resources are resized in place (KEP-5419, gate InPlacePodLevelResourcesVerticalScaling)", () => {
  test('containers with limits of their own keep them: only the pod is given more, and the status tells of it', () => {
    const world = running(sized('c', '500m', '50Mi'), whole('1', '100Mi'));
    assert.deepEqual(world.status?.allocatedResources, { cpu: '1', memory: '100Mi' });
    assert.deepEqual(world.status?.resources, whole('1', '100Mi'));
    world.allocate([sized('c', '500m', '50Mi')], 2, whole('2', '200Mi'));
    assert.equal(world.condition()?.observedGeneration, 2);
    assert.deepEqual(world.status?.resources, whole('1', '100Mi'), 'nothing is in force yet');
    assert.deepEqual(world.status?.allocatedResources, { cpu: '2', memory: '200Mi' });
    world.run(1_000);
    assert.deepEqual(world.calls(), ['pod', 'pod', 'pod']);
    assert.deepEqual(world.told(), ['ResizeStarted', 'ResizeCompleted']);
    assert.equal(world.condition(), undefined);
    const { memoryLimitBytes, cpuQuotaUs, cpuShares } = world.cgroup;
    assert.deepEqual([memoryLimitBytes, cpuQuotaUs, cpuShares], [200 * MI, 200_000, 2048]);
    assert.deepEqual(world.status?.resources, whole('2', '200Mi'));
    assert.equal(world.memory?.resize, undefined);
  });

  test("a container without limits has the pod's: it is updated, too", () => {
    const world = running(bare(), whole('1', '100Mi'));
    world.allocate([bare()], 2, whole('2', '200Mi'));
    world.run(1_000);
    const given = world.effects.flatMap((e) => (e.type === 'cri.UpdateContainerResources' ? [e.params.linux] : []));
    assert.deepEqual(
      given.map(({ cpuQuota, memoryLimitInBytes }) => [cpuQuota, memoryLimitInBytes]),
      [
        ['100000', String(200 * MI)],
        ['200000', String(200 * MI)],
      ],
      'memory first, with the cpu that it has',
    );
    assert.equal(world.status?.containerStatuses?.[0]?.restartCount, 0);
    assert.equal(world.condition(), undefined);
  });

  test("its policy is asked when the pod's limit is its own", () => {
    const policy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
    const world = running(bare({ resizePolicy: policy }), whole('1', '100Mi'));
    world.allocate([bare({ resizePolicy: policy })], 2, whole('1', '200Mi'));
    world.run(3_000);
    assert.equal(world.status?.containerStatuses?.[0]?.restartCount, 1);
    assert.deepEqual(world.told(), ['ResizeStarted', 'ResizeCompleted']);
  });

  test('not below what is in use: Error, until it asks for more again', () => {
    const world = running(bare(), whole('1', '100Mi'));
    world.usage = 80 * MI;
    world.allocate([bare()], 2, whole('1', '60Mi'));
    world.run(1_000);
    assert.equal(world.condition()?.reason, 'Error');
    assert.match(
      world.condition()?.message ?? '',
      /attempting to set pod memory limit \(62914560\) below current usage/,
    );
    assert.deepEqual(world.status?.resources?.limits, { cpu: '1', memory: '100Mi' });
    world.allocate([bare()], 3, whole('1', '100Mi'));
    world.run(1_000);
    assert.equal(world.condition(), undefined);
    assert.equal(world.cgroup.memoryLimitBytes, 100 * MI);
  });

  test('an agent that comes in the middle goes on, and knows until then what the pod has', () => {
    const first = running(sized('c', '500m', '50Mi'), whole('1', '100Mi'));
    first.answers['host.UpdatePodCgroup'] = () => 'hang';
    first.allocate([sized('c', '500m', '50Mi')], 2, whole('2', '100Mi'));
    first.run(1_000);
    const memory = JSON.parse(JSON.stringify(first.memory)) as PodMemory;
    assert.deepEqual(memory.resize?.podLevel, whole('1', '100Mi'));
    const next = new ResizeWorld([sized('c', '500m', '50Mi')], memory, first, GATE, whole('2', '100Mi'));
    assert.equal(next.condition()?.observedGeneration, 2);
    next.run(2_000);
    assert.equal(next.cgroup.cpuQuotaUs, 200_000);
    assert.equal(next.memory?.resize, undefined);
  });

  test('without the gate nothing of it happens', () => {
    const world = running(bare(), whole('1', '100Mi'), {});
    world.allocate([bare()], 2, whole('2', '200Mi'));
    world.run(1_000);
    assert.deepEqual([world.calls(), world.told()], [[], []]);
    assert.deepEqual([world.status?.resources, world.status?.allocatedResources], [undefined, undefined]);
  });
});
