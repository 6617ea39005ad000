import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bornPod } from '../../../machines/pod/pod-step.ts';
import type { Container, Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import type { PodSource } from '../../../machines/protocol/messages.ts';
import { mergePodStatus } from '../../../machines/status/merge-pod-status.ts';
import { pod, PodWorld, settings } from './pod-world.ts';

const rules = (...values: number[]): Partial<Container> => ({
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values } }],
});
const container = (name: string, over: Partial<Container> = {}): Container => ({
  ...{ name, image: 'img:1', imagePullPolicy: 'IfNotPresent' },
  ...over,
});

/** `a` restarts all when it ends with 42; before it an init container and a sidecar, beside it one with a preStop hook. */
const spec = {
  restartPolicy: 'Never',
  initContainers: [container('init'), container('side', { restartPolicy: 'Always' })],
  containers: [container('a', rules(42)), container('b', { lifecycle: { preStop: { exec: { command: ['/bye'] } } } })],
} satisfies Partial<NonNullable<Pod['spec']>>;

/** A world whose node has the gate on, unless told otherwise. */
class Restarting extends PodWorld {
  constructor(definition: Pod, gate = true, before?: PodWorld, source: PodSource = 'file') {
    super(definition, null, before, false, source);
    const more = { cluster: source === 'api', ...(gate && { restartAllContainers: true as const }) };
    this.snapshot = bornPod({ pod: definition, source, settings: { ...settings, ...more } });
    this.begin(null, before !== undefined);
  }

  /** Until `init` has ended and the others run. */
  up(): this {
    this.run(2_000);
    this.exit('init', 0);
    this.run(2_000);
    assert.deepEqual(this.running().sort(), ['a', 'b', 'side']);
    return this;
  }

  get statuses(): PodStatus[] {
    return this.effects.flatMap((effect) => (effect.type === 'status.Publish' ? [effect.params.status] : []));
  }

  /** What was asked of the runtime, in its order: `stop b`. */
  asked(): string[] {
    const names = new Map([...this.ids0]);
    return this.effects.flatMap((effect) => {
      if (effect.type === 'cri.StopContainer') return [`stop ${names.get(effect.params.containerId) ?? '?'}`];
      if (effect.type === 'cri.RemoveContainer') return [`remove ${names.get(effect.params.containerId) ?? '?'}`];
      return effect.type === 'cri.CreateContainer' ? [`create ${effect.params.config.metadata.name}`] : [];
    });
  }

  private ids0 = new Map<string, string>();

  /** From now on what is asked is looked at. */
  mark(): void {
    this.effects = [];
    this.ids0 = new Map(this.containers.map(({ id, name }) => [id, name]));
  }
}

const restarting = (status: PodStatus | null) =>
  status?.conditions?.find(({ type }) => type === 'AllContainersRestarting');
const byName = (status: PodStatus | null) =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map((each) => [
    each.name,
    each.restartCount,
    each.lastState?.terminated?.reason,
  ]);

test('a container that ends by such a rule has all of the pod ended, removed and made anew, itself last', () => {
  const world = new Restarting(pod(spec)).up();
  assert.equal(restarting(world.status)?.status, 'False');
  world.mark();
  world.events = [];
  world.exit('a', 42);
  world.run(10_000);
  const removed = ['stop b', 'remove b', 'remove init', 'stop side', 'remove side', 'remove a'];
  assert.deepEqual(world.asked(), [...removed, 'create init']);
  assert.deepEqual(
    world.events.filter((event) => event.startsWith('Killing')),
    ['Killing: killing', 'Killing: killing'],
  );
  assert.equal(world.count('cri.ExecSync'), 0, 'no preStop hook');
  const stops = world.effects.flatMap((e) => (e.type === 'cri.StopContainer' ? [e.params.timeoutSeconds] : []));
  assert.deepEqual(stops, [2, 2]);
  assert.equal(world.state, 'syncing.initializing');
  world.exit('init', 0);
  world.run(5_000);
  assert.equal(world.state, 'syncing.running');
  assert.deepEqual(world.asked().slice(removed.length), ['create init', 'create side', 'create a', 'create b']);
  // As with kubelet the removed ones are forgotten when the new ones run.
  assert.deepEqual(
    byName(world.status),
    ['init', 'side', 'a', 'b'].map((name) => [name, 1, undefined]),
  );
});

test('what is told meanwhile: the condition, its end, and no end of the pod', () => {
  const world = new Restarting(pod(spec)).up();
  world.mark();
  world.exit('a', 42);
  world.run(10_000);
  const told = world.statuses.map((status) => restarting(status)?.status);
  assert.deepEqual(
    told.filter((is, i) => is !== told[i - 1]),
    ['True', 'False'],
  );
  const going = world.statuses.find((status) => restarting(status)?.status === 'True');
  assert.equal(restarting(going ?? null)?.reason, 'RestartAllContainersStarted');
  assert.equal(restarting(going ?? null)?.message, 'container exited with restart policy rule');
  const ended = going?.containerStatuses?.find(({ name }) => name === 'a');
  assert.equal(ended?.state?.terminated?.exitCode, 42);
  const gone = world.statuses.find((status) => restarting(status)?.status === 'False');
  const waits = {
    reason: 'RestartingAllContainers',
    message: 'The container is removed because RestartAllContainers in place',
  };
  assert.deepEqual(
    gone?.containerStatuses?.map(({ state }) => state),
    [{ waiting: waits }, { waiting: waits }],
  );
  assert.deepEqual(gone?.containerStatuses?.[0]?.lastState, { terminated: { exitCode: 137, ...waits } });
  for (const status of world.statuses) {
    assert.ok(['Running', 'Pending'].includes(status.phase ?? ''), status.phase);
    assert.equal(status.conditions?.find(({ type }) => type === 'Initialized')?.status, 'True');
  }
});

test('a second time counts on, and a code that no rule names ends the container', () => {
  const world = new Restarting(
    pod({ restartPolicy: 'Never', containers: [container('a', rules(42)), container('b')] }),
  );
  world.run(2_000);
  for (const count of [1, 2]) {
    world.exit('a', 42);
    world.run(10_000);
    assert.deepEqual(world.running().sort(), ['a', 'b']);
    assert.deepEqual(
      world.status?.containerStatuses?.map(({ restartCount }) => restartCount),
      [count, count],
    );
    // The numbers of the containers themselves, too: their logs go by them.
    assert.deepEqual(
      world.containers.map(({ restartCount }) => restartCount),
      [count, count],
    );
  }
  world.exit('a', 1);
  world.run(10_000);
  assert.deepEqual(world.running(), ['b']);
  world.exit('b', 0);
  world.run(60_000);
  assert.equal(world.status?.phase, 'Failed');
  assert.deepEqual([restarting(world.status)?.status, restarting(world.status)?.reason], ['False', 'PodFailed']);
});

test('an init container that ends by such a rule begins anew as well', () => {
  const initContainers = [container('first'), container('second', rules(7))];
  const world = new Restarting(pod({ restartPolicy: 'Never', initContainers, containers: [container('a')] }));
  world.run(2_000);
  world.exit('first', 0);
  world.run(2_000);
  world.mark();
  world.exit('second', 7);
  world.run(10_000);
  assert.deepEqual(world.asked(), ['remove first', 'remove second', 'create first']);
  assert.equal(world.status?.phase, 'Pending');
  world.exit('first', 0);
  world.run(5_000);
  world.exit('second', 0);
  world.run(5_000);
  assert.equal(world.state, 'syncing.running');
});

test('an agent that begins in between goes on by the condition that was told', () => {
  const definition: Pod = { ...pod(spec), metadata: { name: 'web', namespace: 'default', uid: 'u1' } };
  const world = new Restarting(definition, true, undefined, 'api').up();
  // RemoveContainer of the last two is never answered.
  world.answers['cri.RemoveContainer'] = (effect, { containers }) => {
    const id = effect.type === 'cri.RemoveContainer' ? effect.params.containerId : '';
    const name = containers.find((each) => each.id === id)?.name;
    return name === 'side' || name === 'a' ? 'hang' : undefined;
  };
  world.exit('a', 42);
  world.run(10_000);
  assert.equal(restarting(world.status)?.status, 'True');
  assert.ok(world.status !== null);
  // Even where nothing but the sidecar is left of it.
  world.containers = world.containers.filter(({ name }) => name === 'side');
  const next = new Restarting({ ...definition, status: world.status }, true, world, 'api');
  next.run(10_000);
  assert.deepEqual(next.running(), ['init']);
  assert.equal(restarting(next.status)?.status, 'False');
  next.exit('init', 0);
  next.run(5_000);
  assert.deepEqual(next.running().sort(), ['a', 'b', 'side']);
});

test('with the gate off the policy decides, and no condition is told', () => {
  const world = new Restarting(pod(spec), false).up();
  world.exit('a', 42);
  world.run(10_000);
  assert.deepEqual(world.running().sort(), ['b', 'side']);
  assert.equal(restarting(world.status), undefined);
  const ended = world.status?.containerStatuses?.find(({ name }) => name === 'a');
  assert.equal(ended?.state?.terminated?.exitCode, 42);
});

test('a pod that is deleted ends, and is not restarted', () => {
  const world = new Restarting(pod(spec)).up();
  world.exit('a', 42);
  const order = { reason: 'Deleted', message: '', gracePeriodSeconds: 5 };
  world.send({ type: 'pod.terminate', at: world.at, order });
  world.run(60_000);
  assert.deepEqual(world.running(), []);
  assert.ok(world.state.startsWith('terminated.'), world.state);
});

test('what goes to the API takes back an end that its policy would keep, where all may be restarted', () => {
  const definition = pod(spec);
  const end = {
    name: 'b',
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    state: { terminated: { exitCode: 0 } },
  };
  const again = { ...end, restartCount: 1, state: { waiting: { reason: 'RestartingAllContainers' } } };
  const condition = { type: 'AllContainersRestarting', status: 'True' };
  const merge = (own: PodStatus) =>
    mergePodStatus({
      ...{ pod: definition, own, couldHaveRunningContainers: true, isStatic: false, at: 0 },
      api: { phase: 'Running', containerStatuses: [end], conditions: [{ ...condition, status: 'False' }] },
    });
  const on = merge({ phase: 'Running', containerStatuses: [again], conditions: [condition] });
  assert.deepEqual([on.refused, on.status.conditions], [[], [condition]]);
  assert.deepEqual(merge({ phase: 'Running', containerStatuses: [again], conditions: [] }).refused, ['b']);
});
