/** That a container runs is told with what the look after its start tells of it; see `toldOnceLookedAt`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '../../../machines/protocol/api-types.ts';
import { BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { bornPod } from '../../../machines/pod/pod-step.ts';
import type { EffectType } from '../../../machines/protocol/effects.ts';
import { PodWorld, pod, settings } from './pod-world.ts';
import type { Reply } from './pod-world.ts';

const USER = { uid: 0, gid: 0, supplementalGroups: [0, 10] };

/** A world whose runtime tells the user of a container, 10 ms after it was asked. */
class Telling extends PodWorld {
  declare told: PodStatus[];
  declare reply: Reply | null;

  protected override carryOut(effect: Parameters<PodWorld['carryOut']>[0]): void {
    // The base class sends before the fields of this one exist.
    this.told ??= [];
    if (effect.type === 'status.Publish') this.told.push(effect.params.status);
    super.carryOut(effect);
  }

  /** Asks of a look are answered like this from now on. */
  looks(reply: (id: string) => Reply): void {
    const type: EffectType = 'cri.ContainerStatus';
    this.answers[type] = (effect) => (effect.type === type ? reply(effect.params.containerId) : undefined);
  }

  /** Statuses in which the container runs, without what was told twice. */
  toldRunning(): string[] {
    const texts = this.told
      .flatMap(({ containerStatuses = [] }) => containerStatuses.filter((c) => c.state?.running !== undefined))
      .map(({ ready, user }) => `${ready ? 'ready' : 'not ready'}, ${user === undefined ? 'no user' : 'a user'}`);
    return texts.filter((text, i) => text !== texts[i - 1]);
  }
}

function started(behaviour: readonly number[] = settings.behaviour): Telling {
  const world = new Telling(pod({}), null, undefined, false);
  world.told = [];
  world.snapshot = bornPod({
    pod: world.definition,
    source: 'file',
    settings: { ...settings, behaviour: [...behaviour] },
  });
  world.looks((id) => {
    const found = world.containers.find((c) => c.id === id);
    return found === undefined
      ? { error: { code: 'NotFound', message: 'no such container' } }
      : { result: { ...found, user: USER } };
  });
  world.begin(null, false);
  world.pleg();
  return world;
}

test('the first status in which a container runs has what the runtime says of it', () => {
  const world = started();
  world.run(3_000);
  assert.deepEqual(world.toldRunning(), ['ready, a user']);
});

test('logs that were written before replay with the status told at once', () => {
  const world = started(settings.behaviour.filter((n) => n !== BEHAVIOUR.toldOnceLookedAt));
  world.run(3_000);
  assert.deepEqual(world.toldRunning(), ['ready, no user', 'ready, a user']);
});

test('when the look fails, what the start has told counts', () => {
  const world = started();
  world.looks(() => ({ error: { code: 'Unknown', message: 'busy' } }));
  world.run(200);
  assert.deepEqual(world.toldRunning(), ['ready, no user']);
});

test('a look that hangs holds nothing up that the observer has seen', () => {
  const world = started();
  world.looks(() => 'hang');
  world.run(500);
  assert.deepEqual(world.toldRunning(), []);
  world.pleg();
  assert.deepEqual(world.toldRunning(), ['ready, no user']);
});

/** Statuses of a container that crashes twice, from its second end until it runs again. */
function toldOfASecondCrash(behaviour?: readonly number[]): Telling {
  const world = started(behaviour);
  world.run(3_000);
  world.exit('c', 1);
  world.run(3_000);
  world.exit('c', 1);
  world.told = [];
  world.run(30_000);
  return world;
}

/** How its first container is, in each status that clients see (`withoutCreated`): state, last end, count of restarts. */
function states(told: readonly PodStatus[]): string[] {
  const texts = told.map(({ containerStatuses = [] }) => {
    const [{ state, lastState, restartCount, user } = { state: {}, lastState: {}, restartCount: 0, user: undefined }] =
      containerStatuses;
    const now = state?.waiting?.reason ?? Object.keys(state ?? {})[0] ?? '';
    const before = lastState?.terminated === undefined ? 'no last end' : `ended with ${lastState.terminated.exitCode}`;
    return `${now}${user === undefined ? '' : ', a user'}, ${before}, ${restartCount}`;
  });
  return texts.filter((text, i) => text !== texts[i - 1] && !text.startsWith('waiting'));
}

test('a container that crashed is told as backing off until it runs again, and that once', () => {
  const { told } = toldOfASecondCrash();
  assert.deepEqual(states(told).slice(-2), ['CrashLoopBackOff, ended with 1, 1', 'running, a user, ended with 1, 2']);
  assert.ok(
    states(told).every((text) => text.includes('ended with 1')),
    states(told).join('\n'),
  );
});

test('logs that were written before replay with each step of a restart told', () => {
  const before = settings.behaviour.filter((n) => n !== BEHAVIOUR.backsOffUntilItRuns);
  const world = toldOfASecondCrash(before);
  assert.deepEqual(world.toldRunning(), ['ready, no user', 'ready, a user']);
});
