import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import type { Container } from '../../../machines/protocol/api-types.ts';
import type { ObservedContainer, ObservedPod } from '../../../machines/protocol/observed.ts';
import { pod, PodWorld } from './pod-world.ts';

const LOST = { error: { code: 'Unavailable', message: 'error reading from server: EOF' } };
const AWAY = { error: { code: 'Unavailable', message: 'no look' } };

/** A runtime that carries StartContainer out and whose answer is lost; it can be looked at only when `seen` says so. */
class LostAnswers extends PodWorld {
  seen = false;
  /** What becomes of the container that was started. */
  becomes: Partial<ObservedContainer> = { state: 'running' };

  constructor(container: Partial<Container> = {}, behaviour?: readonly number[]) {
    super(
      pod({ containers: [{ name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', ...container }] }),
      null,
      undefined,
      false,
    );
    if (behaviour !== undefined) this.snapshot.context.settings.behaviour = [...behaviour];
    this.answers['cri.StartContainer'] = (effect) => {
      const id = effect.type === 'cri.StartContainer' ? effect.params.containerId : '';
      this.containers = this.containers.map((c) =>
        c.id === id ? { ...c, startedAt: this.at, finishedAt: this.at, ...this.becomes } : c,
      );
      return LOST;
    };
    this.answers['cri.ContainerStatus'] = () => (this.seen ? undefined : AWAY);
    this.begin(null, false);
  }

  /** A look that fails tells nothing: as one that is older than what is known. */
  override observe(): ObservedPod {
    return this.seen ? super.observe() : { ...super.observe(), at: -1, sandboxes: [], containers: [] };
  }

  get place(): unknown {
    return this.snapshot.context.containers['c']?.value;
  }
  get waiting() {
    return this.status?.containerStatuses?.[0]?.state?.waiting;
  }
  /** Looks succeed from now on. */
  lookAgain(): void {
    this.seen = true;
    this.answers['cri.StartContainer'] = undefined;
  }
}

test('the answer of StartContainer is lost and no look succeeds: no second container is made, and the pod says why it waits', () => {
  const world = new LostAnswers();
  world.run(300_000);
  assert.equal(world.count('cri.CreateContainer'), 1);
  assert.equal(world.place, 'inDoubt');
  assert.equal(world.state, 'syncing.retryingStart');
  const looks = world.count('cri.ContainerStatus');
  assert.ok(looks >= 30 && looks <= 70, `${looks} looks in five minutes`);
  assert.equal(world.waiting?.reason, 'RunContainerError');
  assert.match(world.waiting?.message ?? '', /EOF; whether it runs is not known: no look at it has succeeded since$/);
  world.lookAgain();
  world.run(6_000);
  assert.deepEqual([world.state, world.place], ['syncing.running', 'running']);
  assert.equal(world.status?.containerStatuses?.[0]?.restartCount, 0);
  assert.equal(world.count('cri.CreateContainer'), 1);
});

test('without the behaviour a second container is made beside the one that runs', () => {
  const before = Object.values(BEHAVIOUR).filter((n) => n < BEHAVIOUR.failedStartsAreLookedAt);
  const world = new LostAnswers({}, before);
  world.run(15_000);
  assert.equal(world.count('cri.CreateContainer'), 2);
  assert.equal(world.count('cri.StartContainer'), 2);
  assert.equal(world.count('cri.StopContainer'), 0);
});

test('it runs: the first look that succeeds takes it over, whoever looked', () => {
  const own = new LostAnswers();
  own.seen = true;
  own.run(1_000);
  assert.deepEqual([own.state, own.count('cri.CreateContainer')], ['syncing.running', 1]);
  const told = new LostAnswers();
  told.run(3_000);
  assert.equal(told.place, 'inDoubt');
  told.seen = true;
  told.pleg();
  assert.deepEqual([told.state, told.count('cri.CreateContainer')], ['syncing.running', 1]);
});

test('it has exited: that is an end of it, with restart count and back-off', () => {
  const world = new LostAnswers();
  world.becomes = { state: 'exited', exitCode: 3, reason: 'Error' };
  world.run(20_000);
  assert.deepEqual([world.place, world.count('cri.CreateContainer')], ['inDoubt', 1]);
  world.lookAgain();
  world.run(6_000);
  assert.equal(world.count('cri.CreateContainer'), 2);
  assert.deepEqual([world.state, world.status?.containerStatuses?.[0]?.restartCount], ['syncing.running', 1]);
  world.exit('c', 3);
  world.run(1_000);
  assert.equal(world.place, 'backingOff');
});

test('it is still created: it failed for sure, and is tried again after the pause of a failed start', () => {
  const world = new LostAnswers();
  world.becomes = { state: 'created', startedAt: 0, finishedAt: 0 };
  world.seen = true;
  world.run(5_000);
  assert.deepEqual([world.place, world.waiting?.message], ['retrying', 'error reading from server: EOF']);
  assert.equal(world.count('cri.CreateContainer'), 1);
  world.lookAgain();
  world.run(6_000);
  assert.deepEqual([world.state, world.count('cri.CreateContainer')], ['syncing.running', 2]);
});

test('it is gone: made anew after the pause', () => {
  const world = new LostAnswers();
  world.run(500);
  world.containers = [];
  world.lookAgain();
  world.run(15_000);
  assert.deepEqual([world.state, world.count('cri.CreateContainer')], ['syncing.running', 2]);
});

test('a look that began before the failure tells nothing', () => {
  const world = new LostAnswers();
  world.run(500);
  const { doubt } = world.snapshot.context.containers['c']?.context ?? {};
  assert.ok(doubt);
  const created = world.containers.map((c) => ({ ...c, state: 'created' as const, startedAt: 0, finishedAt: 0 }));
  for (const [at, place] of [
    [doubt.since - 1, 'inDoubt'],
    [doubt.since, 'inDoubt'],
    [doubt.since + 1, 'retrying'],
  ] as const) {
    const observed = { ...PodWorld.prototype.observe.call(world), at, containers: created };
    world.send({ type: 'pod.observed', at: world.at, observed });
    assert.equal(world.place, place);
  }
});

test('another definition does not free it: what may run is looked at first', () => {
  const world = new LostAnswers();
  world.run(500);
  const [c] = world.definition.spec?.containers ?? [];
  world.definition = pod({ containers: [{ ...c, name: 'c', image: 'img:2' }] });
  world.send({ type: 'pod.update', at: world.at, pod: world.definition });
  world.run(60_000);
  assert.deepEqual([world.place, world.count('cri.CreateContainer')], ['inDoubt', 1]);
  world.lookAgain();
  world.run(60_000);
  assert.deepEqual([world.state, world.running()], ['syncing.running', ['c']]);
  assert.equal(world.count('cri.StopContainer'), 1);
  assert.equal(world.containers.find((x) => x.state === 'running')?.image, 'img:2');
});

test('the clock is set back meanwhile: a look that comes then counts', () => {
  const world = new LostAnswers();
  world.run(500);
  world.at -= 3_600_000;
  world.send({ type: 'clock.steppedBack', at: world.at, byMs: 3_600_000 });
  world.at += 1_000;
  world.seen = true;
  world.pleg();
  assert.equal(world.state, 'syncing.running');
});

test('an agent that begins in that moment starts no other one either', () => {
  const before = new LostAnswers();
  before.run(500);
  const stale = { ...PodWorld.prototype.observe.call(before) };
  stale.containers = stale.containers.map((c) => ({ ...c, state: 'created' as const, startedAt: 0, finishedAt: 0 }));
  const world = new PodWorld(before.definition, before.memory, before, false);
  world.answers['cri.ContainerStatus'] = () => AWAY;
  world.answers['cri.StartContainer'] = () => ({
    error: { code: 'Unknown', message: 'container is in CONTAINER_RUNNING state' },
  });
  world.observe = () => stale;
  world.begin(before.memory, true);
  world.run(60_000);
  assert.equal(world.count('cri.CreateContainer'), 0);
  assert.equal(world.count('cri.RemoveContainer'), 0);
  delete world.answers['cri.ContainerStatus'];
  world.run(5_000);
  assert.deepEqual([world.state, world.running()], ['syncing.running', ['c']]);
});

test('a lost answer of CreateContainer: a look is asked for, and what was made is started', () => {
  const world = new LostAnswers();
  world.seen = true;
  delete world.answers['cri.StartContainer'];
  let lost = 0;
  world.answers['cri.CreateContainer'] = (effect) => {
    if (lost++ > 0) return undefined;
    // Carried out, and the answer is lost.
    (world as unknown as { answer: (e: typeof effect) => unknown }).answer(effect);
    return LOST;
  };
  world.run(15_000);
  assert.deepEqual([world.state, world.containers.length, lost], ['syncing.running', 1, 1]);
});
