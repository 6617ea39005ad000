import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import { ObeyingWorld } from './obeying-world.ts';
import { pod } from './pod-world.ts';

const web = (name = 'c', over: Partial<Container> = {}): Container => ({
  name,
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  ...over,
});

const liveness = { exec: { command: ['x'] }, periodSeconds: 10, failureThreshold: 3, timeoutSeconds: 1 };

/** What clients were told of its containers. */
class Watched extends ObeyingWorld {
  update(definition: Pod): void {
    this.definition = definition;
    this.send({ type: 'pod.update', at: this.at, pod: definition });
  }

  /** What the statuses told of a container, one after the other, without repetitions. */
  told(name: string): string[] {
    const words = this.effects.flatMap((e) => {
      if (e.type !== 'status.Publish') return [];
      const { phase, containerStatuses = [] } = e.params.status;
      const state = containerStatuses.find((c) => c.name === name)?.state ?? {};
      return [`${phase ?? ''} ${Object.keys(state).join()}`];
    });
    return words.filter((word, i) => word !== words[i - 1]);
  }
}

for (const [restartPolicy, code] of [
  ['Never', 143],
  ['Never', 0],
  ['OnFailure', 0],
] as const) {
  for (const others of [[], [web('d')]]) {
    test(`a changed definition restarts the container, though it ended with ${code} and the policy is ${restartPolicy} (${1 + others.length} containers)`, () => {
      const world = new Watched(pod({ restartPolicy, containers: [web(), ...others] }));
      world.stopsWith(code);
      world.run(2_000);
      world.effects = [];
      world.update(pod({ restartPolicy, containers: [web('c', { image: 'img:2' }), ...others] }));
      world.run(5_000);
      assert.equal(world.state, 'syncing.running');
      assert.deepEqual(world.running().sort(), ['c', ...others.map(({ name }) => name)]);
      const status = world.status?.containerStatuses?.find(({ name }) => name === 'c');
      assert.equal(status?.image, 'img:2');
      assert.equal(status.restartCount, 1);
      assert.equal(status.lastState?.terminated?.exitCode, code);
      assert.ok(
        world.told('c').every((word) => !word.endsWith('terminated')),
        `nobody is told of an end that no container comes back from: ${world.told('c').join()}`,
      );
      assert.ok(
        world.told('c').every((word) => word.startsWith('Running')),
        world.told('c').join(),
      );
    });
  }
}

test('a restart by a probe is one step to clients: ready until it is ready again', () => {
  const world = new Watched(pod({ restartPolicy: 'Always', containers: [web('c', { livenessProbe: liveness })] }));
  world.stopsWith(137);
  let fails = false;
  world.answers['cri.ExecSync'] = () => ({ result: { exitCode: fails ? 1 : 0, output: '' } });
  world.run(15_000);
  world.effects = [];
  fails = true;
  world.run(35_000);
  fails = false;
  world.run(20_000);
  const told = world.effects.flatMap((e) => (e.type === 'status.Publish' ? [e.params.status] : []));
  const steps = told.map(({ conditions = [], containerStatuses = [] }) => {
    const [status] = containerStatuses;
    const ready = conditions.find(({ type }) => type === 'Ready')?.status ?? '';
    return `${Object.keys(status?.state ?? {}).join()}#${String(status?.restartCount)} ${ready}`;
  });
  assert.deepEqual([...new Set(steps)], ['running#0 True', 'running#1 True']);
  assert.equal(world.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
});

test('a container that its liveness probe stopped starts again though it ended well, unless its policy is Never', () => {
  for (const restartPolicy of ['OnFailure', 'Never'] as const) {
    const world = new Watched(pod({ restartPolicy, containers: [web('c', { livenessProbe: liveness })] }));
    world.stopsWith(0);
    world.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: 'bad' } });
    world.run(60_000);
    assert.equal(world.status?.phase, restartPolicy === 'Never' ? 'Succeeded' : 'Running', restartPolicy);
    assert.equal(world.count('cri.CreateContainer') > 1, restartPolicy === 'OnFailure', restartPolicy);
  }
});

test('a start that fails after the stop is not tried again when the policy says Never: the pod ends', () => {
  const world = new Watched(pod({ restartPolicy: 'Never', containers: [web()] }));
  world.stopsWith(143);
  world.run(2_000);
  world.answers['image.Pull'] = () => ({ error: { code: 'NotFound', message: 'no such image' } });
  world.update(pod({ restartPolicy: 'Never', containers: [web('c', { image: 'none:1' })] }));
  world.run(60_000);
  assert.equal(world.status?.phase, 'Failed');
  assert.equal(world.state, 'terminated.kept');
  assert.equal(world.count('image.Pull'), 1);
});

test('a pod that is deleted while its container is stopped to start again tells how it ended', () => {
  const world = new Watched(pod({ restartPolicy: 'Never', containers: [web()] }), null, undefined, true, 'api');
  world.stopsWith(7);
  world.run(2_000);
  world.update(pod({ restartPolicy: 'Never', containers: [web('c', { image: 'img:2' })] }));
  world.run(100);
  world.send({
    type: 'pod.terminate',
    at: world.at,
    order: { reason: 'Deleted', message: '', gracePeriodSeconds: 30 },
  });
  world.run(10_000);
  assert.equal(world.count('cri.CreateContainer'), 1);
  assert.equal(world.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 7);
  assert.equal(world.status.phase, 'Failed');
});

test('restarts by a liveness probe are held back only when a container lived shorter than the delay', () => {
  const world = new Watched(pod({ containers: [web('c', { livenessProbe: liveness })] }));
  world.stopsWith(143);
  world.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: 'bad' } });
  const backOffs: string[] = [];
  const starts: number[] = [];
  const zero = world.at;
  while (world.at < zero + 400_000) {
    world.run(500);
    const c = world.status?.containerStatuses?.[0];
    const made = world.count('cri.StartContainer');
    if (made > starts.length) starts.push(Math.round((world.at - zero) / 1_000));
    const message = c?.state?.waiting?.message ?? '';
    if (message.startsWith('back-off') && backOffs.at(-1) !== message) backOffs.push(message);
  }
  const between = starts.map((at, i) => at - (starts[i - 1] ?? at)).slice(1);
  // Each lives 30 s (the first failure is early) and takes one to stop: the delays of the first four (none, none, 10 s, 20 s) are over by then, 40 s is not.
  assert.ok(
    between.slice(0, 4).every((s) => s <= 32),
    between.join(),
  );
  assert.ok((between[4] ?? 0) > 60, between.join());
  assert.match(backOffs[0] ?? '', /^back-off 40s restarting failed container=c/);
});

test('a sidecar that its liveness probe stopped starts again at once, too', () => {
  const side = web('s', { restartPolicy: 'Always', livenessProbe: liveness });
  const world = new Watched(pod({ initContainers: [side] }));
  world.stopsWith(0);
  world.run(2_000);
  world.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: 'bad' } });
  world.run(75_000);
  assert.ok(world.events.every((e) => !e.startsWith('BackOff')));
  assert.ok((world.status?.initContainerStatuses?.[0]?.restartCount ?? 0) >= 2);
});

test('a container that ends by itself while it is about to be stopped goes by its policy', () => {
  const world = new Watched(pod({ restartPolicy: 'Never', containers: [web()] }));
  world.run(2_000);
  world.exit('c', 3);
  world.run(5_000);
  assert.equal(world.status?.phase, 'Failed');
  assert.equal(world.count('cri.CreateContainer'), 1);
});
