import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerHash } from '../../../machines/container-config/container-hash.ts';
import type { Container } from '../../../machines/protocol/api-types.ts';
import type { ObservedContainer } from '../../../machines/protocol/observed.ts';
import type { Reply } from './pod-world.ts';
import { pod, PodWorld } from './pod-world.ts';

const init: Container = { name: 'i', image: 'img:1', imagePullPolicy: 'IfNotPresent' };
const definition = pod({ initContainers: [init], containers: [{ ...init, name: 'c' }] });

/** What an agent leaves that died right after CreateContainer, or while its StartContainer was under way. */
function leftBehind(change: Partial<ObservedContainer> = {}): PodWorld {
  const before = new PodWorld(definition);
  before.answers['cri.StartContainer'] = () => 'hang';
  before.run(2_000);
  const [made] = before.containers;
  assert.deepEqual([made?.name, made?.state, before.containers.length], ['i', 'created', 1]);
  before.containers = before.containers.map((c) => ({ ...c, ...change }));
  return before;
}

/** The runtime's answers while an earlier agent's StartContainer is under way: containerd's own words. */
class StartUnderWay extends PodWorld {
  underWay = true;
  readonly asked: string[] = [];

  constructor(before: PodWorld) {
    super(definition, before.memory, before, false);
    this.answers['cri.StartContainer'] = (effect) => this.refuse(effect, 'is already in starting state');
    this.answers['cri.RemoveContainer'] = (effect) => this.refuse(effect, "is in starting state, can't be removed");
    this.begin(before.memory, true);
  }

  /** The earlier call comes to its end. */
  end(change: Partial<ObservedContainer>): void {
    this.underWay = false;
    this.containers = this.containers.map((c) => (c.name === 'i' ? { ...c, ...change } : c));
    this.pleg();
  }

  private refuse({ type, params }: { type: string; params: object }, why: string): Reply | undefined {
    this.asked.push(type);
    const told = this.containers.find((c) => 'containerId' in params && c.id === params.containerId);
    if (told?.name === 'i' && this.underWay)
      return { error: { code: 'Unknown', message: `failed to set state of container "${told.id}": container ${why}` } };
    if (type === 'cri.StartContainer' && told !== undefined && told.state !== 'created')
      return { error: { code: 'Unknown', message: `container is in CONTAINER_${told.state.toUpperCase()} state` } };
    return undefined;
  }

  made(): number[] {
    const made = this.effects.filter((e) => e.type === 'cri.CreateContainer' && e.params.config.metadata.name === 'i');
    return made.map((e) => (e.type === 'cri.CreateContainer' ? e.params.config.metadata.attempt : -1));
  }
}

function endsWell(world: PodWorld): void {
  world.run(3_000);
  if (world.running().includes('i')) world.exit('i', 0);
  for (let i = 0; i < 20 && world.state !== 'syncing.running'; i++) {
    world.run(1_000);
    world.pleg();
  }
  assert.equal(world.state, 'syncing.running');
  assert.equal(world.status?.initContainerStatuses?.[0]?.restartCount, 0);
}

test('a container that an earlier agent made is started: it is neither removed nor made a second time', () => {
  const before = leftBehind();
  const world = new PodWorld(definition, before.memory, before);
  world.run(1_000);
  assert.deepEqual(world.running(), ['i']);
  assert.deepEqual([world.count('cri.CreateContainer'), world.count('cri.RemoveContainer')], [0, 0]);
  assert.equal(world.containers[0]?.id, before.containers[0]?.id);
  endsWell(world);
});

test("an earlier agent's StartContainer that takes its time in the runtime is waited for: no second one is made", () => {
  const world = new StartUnderWay(leftBehind());
  world.run(60_000);
  assert.deepEqual(world.made(), []);
  assert.ok(!world.asked.includes('cri.RemoveContainer'));
  assert.ok(world.asked.length >= 20, 'it is looked after about once a second');
  assert.deepEqual(
    world.events.filter((e) => e.startsWith('Failed')),
    [],
  );
  assert.deepEqual(world.status?.initContainerStatuses?.[0]?.state, { waiting: {} });
  world.end({ state: 'running', startedAt: world.at });
  endsWell(world);
  assert.deepEqual(world.made(), []);
});

test('it ends well between two looks: the next container is begun, the init container is not run again', () => {
  const world = new StartUnderWay(leftBehind());
  world.run(5_000);
  world.end({ state: 'exited', startedAt: world.at - 500, finishedAt: world.at, exitCode: 0, reason: 'Completed' });
  endsWell(world);
  assert.deepEqual(world.made(), []);
});

test('it began to run after the last look: StartContainer is refused, and what runs is taken over', () => {
  const world = new StartUnderWay(leftBehind());
  world.underWay = false;
  world.containers = world.containers.map((c) => ({ ...c, state: 'running' as const, startedAt: world.at }));
  endsWell(world);
  assert.deepEqual(world.made(), []);
  assert.ok(world.asked.includes('cri.StartContainer'));
});

test('the runtime breaks the earlier start off: made anew under the same number', () => {
  const world = new StartUnderWay(leftBehind());
  world.run(5_000);
  const message = 'failed to create containerd task: failed to create shim task: context canceled: unknown';
  world.end({ state: 'exited', startedAt: 0, finishedAt: world.at, exitCode: 128, reason: 'StartError', message });
  endsWell(world);
  assert.deepEqual(world.made(), [0]);
  assert.equal(world.count('cri.RemoveContainer'), 1);
});

test('one of another definition, or of another sandbox, is removed and made anew', () => {
  for (const change of [{ hash: 'deadbeef' }, { sandboxId: 'gone' }]) {
    const before = leftBehind(change);
    const world = new PodWorld(definition, before.memory, before);
    world.run(3_000);
    assert.deepEqual(world.running(), ['i']);
    assert.equal(world.count('cri.RemoveContainer'), 1, JSON.stringify(change));
    assert.ok(!world.containers.some((c) => c.id === before.containers[0]?.id));
  }
  assert.notEqual(containerHash(init), 'deadbeef');
});

test('a created container with a lower number than was told is not started: a restart count never falls', () => {
  const before = leftBehind();
  const told = {
    name: 'i',
    image: 'img:1',
    ready: false,
    restartCount: 3,
    imageID: '',
    lastState: {},
    state: { waiting: {} },
  };
  const world = new PodWorld({ ...definition, status: { initContainerStatuses: [told] } }, before.memory, before);
  world.run(3_000);
  assert.equal(world.count('cri.RemoveContainer'), 1);
  assert.deepEqual(
    world.containers.map((c) => [c.name, c.restartCount]),
    [['i', 3]],
  );
});

test('its log is gone before the next one is made, which writes to the same path', () => {
  const message = 'failed to create containerd task: failed to create shim task: context canceled: unknown';
  const before = leftBehind({ state: 'exited', startedAt: 0, exitCode: 128, reason: 'StartError', message });
  const world = new PodWorld(definition, before.memory, before, false);
  world.answers['host.RemoveContainerLog'] = () => 'hang';
  world.begin(before.memory, true);
  world.run(5_000);
  assert.deepEqual([world.count('cri.RemoveContainer'), world.count('cri.CreateContainer')], [0, 0]);

  const other = new PodWorld(definition, before.memory, before, false);
  other.answers['host.RemoveContainerLog'] = () => ({ error: { code: 'EIO', message: 'input/output error' } });
  other.begin(before.memory, true);
  other.run(5_000);
  assert.deepEqual(other.running(), ['i'], 'a disk that does not work holds nobody up');
});
