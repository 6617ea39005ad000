/** Gate ChangeContainerStatusOnKubeletRestart: what is told of containers whose probes have not run since the agent began. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus } from '../../../machines/protocol/api-types.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { afterAgentRestart } from '../../../machines/pod/adopt-probes.ts';
import { pod, PodWorld } from '../pod/pod-world.ts';

const probe = { exec: { command: ['p'] }, periodSeconds: 10, failureThreshold: 3, successThreshold: 1 };
const image = { image: 'img:1', imagePullPolicy: 'IfNotPresent' };
const plain = { name: 'c', ...image };
const probed = { name: 'c', ...image, startupProbe: probe, readinessProbe: probe, livenessProbe: probe };
const sidecar = { name: 's', ...image, restartPolicy: 'Always', startupProbe: probe };
const ON = { restartChangesStatus: true as const };

/** A pod that an agent has brought up, and whom the API server knows as that agent told it. */
function up(spec: Parameters<typeof pod>[0], over: Partial<NodeSettings>) {
  const definition = pod(spec);
  const first = new PodWorld(definition, null, undefined, true, 'api', over);
  first.run(25_000);
  assert.deepEqual(
    told(first),
    Array.from({ length: first.containers.length }, () => [true, true]),
  );
  return { first, known: { ...definition, ...(first.status !== null && { status: first.status }) } };
}

/** `started` and `ready` of each container. */
function told({ status }: PodWorld): unknown[] {
  const lists = [status?.initContainerStatuses ?? [], status?.containerStatuses ?? []];
  return lists.flat().map(({ started, ready }: ContainerStatus) => [started, ready]);
}

/** The next agent: `hangs`, its probes are not answered. */
function next(before: ReturnType<typeof up>, over: Partial<NodeSettings>, journal: boolean, hangs: boolean): PodWorld {
  const memory = afterAgentRestart(journal ? before.first.memory : null, over.restartChangesStatus === true);
  const world = new PodWorld(before.known, memory, before.first, false, 'api', over);
  if (hangs) world.answers['cri.ExecSync'] = () => 'hang';
  world.begin(memory, true);
  return world;
}

for (const journal of [true, false])
  test(`the gate off, what was started and ready stays so, ${journal ? 'with' : 'without'} a journal`, () => {
    const before = up({ initContainers: [sidecar], containers: [probed] }, {});
    const world = next(before, {}, journal, true);
    assert.deepEqual(told(world), [
      [true, true],
      [true, true],
    ]);
    world.run(60_000);
    assert.equal(
      world.effects.some(({ key }) => key.startsWith('probe/c/startup')),
      false,
      'a startup probe that has succeeded is not run again',
    );
  });

test('without a journal a container of another id than the API server knows has not started', () => {
  const before = up({ containers: [probed] }, {});
  const status = before.known.status?.containerStatuses?.[0];
  assert.ok(status);
  status.containerID = 'containerd://another';
  assert.deepEqual(told(next(before, {}, false, true)), [[false, false]]);
});

for (const journal of [true, false])
  test(`the gate on, probes begin anew ${journal ? 'with' : 'without'} a journal, and nothing is restarted`, () => {
    const before = up({ initContainers: [sidecar], containers: [probed] }, ON);
    const silent = next(before, ON, journal, true);
    silent.run(9_000);
    assert.deepEqual(told(silent), [
      [false, false],
      [false, false],
    ]);
    const world = next(before, ON, journal, false);
    world.run(25_000);
    assert.deepEqual(told(world), [
      [true, true],
      [true, true],
    ]);
    for (const each of [silent, world]) {
      assert.deepEqual(each.running().sort(), ['c', 's']);
      assert.equal(each.count('cri.CreateContainer') + each.count('cri.StopContainer'), 0);
    }
  });

test('the gate on, what has no probes is ready all the same', () => {
  assert.deepEqual(told(next(up({ containers: [plain] }, ON), ON, true, true)), [[true, true]]);
});

test('the gate on, a readiness probe alone: started at once, ready once it has succeeded, somewhere within its period', () => {
  const { startupProbe: _none, ...ready } = probed;
  const world = next(up({ containers: [ready] }, ON), ON, true, false);
  assert.deepEqual(told(world), [[true, false]]);
  const begun = world.at;
  while (world.status?.containerStatuses?.[0]?.ready !== true) world.run(100);
  assert.ok(world.at > begun && world.at <= begun + 11_000, `${world.at - begun}`);
});

test('the gate on, a worker of the same agent that is replaced changes nothing', () => {
  const { first, known } = up({ containers: [probed] }, ON);
  const world = new PodWorld(known, first.memory, first, false, 'api', ON);
  world.answers['cri.ExecSync'] = () => 'hang';
  world.begin(first.memory, true);
  assert.deepEqual(told(world), [[true, true]]);
});
