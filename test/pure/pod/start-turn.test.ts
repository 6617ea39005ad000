import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import { pod, PodWorld } from './pod-world.ts';

// A container is not made before the postStart hooks of those before it in the spec have ended (kubelet SyncPod).

const box = (name: string, over: Partial<Container> = {}): Container => ({
  name,
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  ...over,
});
const SLEEP = { postStart: { sleep: { seconds: 5 } } };
const EXEC = { postStart: { exec: { command: ['hook'] } } };

/** Writes down when containers are made and started, and when their images are asked for. */
class TimedWorld extends PodWorld {
  readonly log: { what: string; name: string; at: number }[] = [];
  protected override carryOut(effect: Effect): void {
    const name = effect.key.split('/')[1] ?? '';
    if (/^(cri\.(Create|Start|Stop)Container|image\.|host\.Prepare)/.test(effect.type))
      (this.log ?? []).push({ what: effect.type, name, at: this.at });
    super.carryOut(effect);
  }
  /** When that last happened to a container; -1: never. */
  when(what: string, name: string): number {
    return this.log.findLast((l) => l.what === what && l.name === name)?.at ?? -1;
  }
}

function world(
  spec: Partial<NonNullable<Pod['spec']>>,
  prepare: (w: TimedWorld) => void = () => undefined,
): TimedWorld {
  const made = new TimedWorld(pod(spec), null, undefined, false);
  prepare(made);
  made.begin(null, false);
  return made;
}

const pair = (a: Partial<Container>, b: Partial<Container> = {}) => ({ containers: [box('a', a), box('b', b)] });

test('a container is made after the postStart hook of the one before it has ended, and its image is looked for meanwhile', () => {
  const w = world(pair({ lifecycle: SLEEP }));
  w.run(4_000);
  assert.deepEqual(w.running(), ['a']);
  assert.ok(w.when('image.Status', 'b') >= 0, 'the image of b has been asked for');
  assert.equal(w.when('host.PrepareContainer', 'b'), -1, 'nothing of b is on the node yet');
  w.run(3_000);
  assert.deepEqual(w.running().sort(), ['a', 'b']);
  assert.ok(w.when('host.PrepareContainer', 'b') >= w.when('cri.StartContainer', 'a') + 5_000);
});

test('it waits for the whole start of the one before it, its pull included', () => {
  const w = world(pair({ lifecycle: SLEEP, image: 'far:1' }), (made) => (made.answers['image.Pull'] = () => 'hang'));
  w.run(60_000);
  assert.equal(w.when('image.Pull', 'a') >= 0, true);
  assert.equal(w.when('cri.CreateContainer', 'b'), -1);
});

test('a hook that failed holds it up until its container has been stopped', () => {
  const w = world(pair({ lifecycle: EXEC }), (made) => {
    made.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: '' } });
  });
  w.run(5_000);
  assert.ok(w.events.includes('FailedPostStartHook: PostStartHook failed'));
  const stop = w.log.find((l) => l.what === 'cri.StopContainer');
  assert.equal(stop?.name, 'a');
  assert.ok(w.when('host.PrepareContainer', 'b') >= stop.at + 1_000, 'StopContainer takes 1 s');
});

test('a hook that fails each time holds up the next container once: that one has its turn before the restart', () => {
  const w = world(pair({ lifecycle: EXEC }, { lifecycle: SLEEP }), (made) => {
    made.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: '' } });
  });
  w.run(20_000);
  const starts = w.log.filter((l) => l.what === 'cri.StartContainer');
  assert.deepEqual(
    starts.slice(0, 3).map((l) => l.name),
    ['a', 'b', 'a'],
  );
  assert.ok((starts[2]?.at ?? 0) >= (starts[1]?.at ?? 0) + 5_000, 'the restart of a comes after the hook of b');
});

for (const [what, a, answer] of [
  ['an image that cannot be pulled', { image: 'far:1' }, 'image.Pull'],
  ['a refused CreateContainer', {}, 'cri.CreateContainer'],
  ['a refused StartContainer', {}, 'cri.StartContainer'],
] as const)
  test(`${what} of the one before it holds up nobody`, () => {
    const w = world(pair({ lifecycle: SLEEP, ...a }), (made) => {
      made.answers[answer] = (effect) =>
        effect.key.split('/')[1] === 'a' ? { error: { code: 'Unknown', message: 'no' } } : undefined;
    });
    w.run(3_000);
    assert.deepEqual(w.running(), ['b']);
  });

test('crash-loop back-off of the one before it holds up nobody; a restart after it is waited for', () => {
  const w = world(pair({ lifecycle: SLEEP }));
  w.run(20_000);
  w.exit('a', 1);
  w.run(20_000);
  w.exit('a', 1);
  w.run(1_000);
  assert.equal(w.state, 'syncing.crashLoopBackOff');
  w.exit('b', 1);
  w.run(1_000);
  assert.deepEqual(w.running(), ['b']);
  // the back-off of a ends while b runs: b stays as it is
  w.run(30_000);
  assert.deepEqual(w.running().sort(), ['a', 'b']);
});

test('a restart keeps the order: both have ended, and the later one waits for the hook of the one before it', () => {
  const w = world(pair({ lifecycle: SLEEP }));
  w.run(20_000);
  w.containers = w.containers.map((c) => ({ ...c, state: 'exited', exitCode: 1, finishedAt: w.at, reason: 'Error' }));
  w.at += 1;
  w.pleg();
  w.run(4_000);
  assert.deepEqual(w.running(), ['a']);
  w.run(3_000);
  assert.deepEqual(w.running().sort(), ['a', 'b']);
  assert.ok(w.when('host.PrepareContainer', 'b') >= w.when('cri.StartContainer', 'a') + 5_000);
});

test('those before a container with a hook do not wait for it, those after all hooks wait for each', () => {
  const w = world({
    containers: [box('first'), box('a', { lifecycle: SLEEP }), box('b', { lifecycle: SLEEP }), box('c')],
  });
  w.run(4_000);
  assert.deepEqual(w.running().sort(), ['a', 'first']);
  w.run(5_000);
  assert.deepEqual(w.running().sort(), ['a', 'b', 'first']);
  w.run(5_000);
  assert.deepEqual(w.running().sort(), ['a', 'b', 'c', 'first']);
});

test('the hook of a sidecar ends before the next init container, another sidecar and the regular containers', () => {
  const w = world({
    initContainers: [
      box('proxy', { restartPolicy: 'Always', lifecycle: SLEEP }),
      box('init'),
      box('log', { restartPolicy: 'Always' }),
    ],
  });
  w.run(4_000);
  assert.deepEqual(w.running(), ['proxy']);
  w.run(3_000);
  assert.deepEqual(w.running().sort(), ['init', 'proxy']);
  w.exit('init', 0);
  w.run(3_000);
  assert.deepEqual(w.running().sort(), ['c', 'log', 'proxy']);
  // all three end at once: the sidecar's hook comes first again
  const ends = w.at;
  w.containers = w.containers.map((c) =>
    c.state === 'running' ? { ...c, state: 'exited', exitCode: 1, finishedAt: w.at, reason: 'Error' } : c,
  );
  w.at += 1;
  w.pleg();
  w.run(4_000);
  assert.deepEqual(w.running(), ['proxy']);
  w.run(3_000);
  assert.deepEqual(w.running().sort(), ['c', 'log', 'proxy']);
  for (const later of ['log', 'c'])
    assert.ok(w.when('host.PrepareContainer', later) >= ends + 5_000, `${later} waits for the hook of proxy`);
});

test('a pod whose hook never ends ends in order: what was never made needs no stop', () => {
  const w = world(pair({ lifecycle: EXEC }), (made) => (made.answers['cri.ExecSync'] = () => 'hang'));
  w.run(3_600_000);
  assert.deepEqual(w.running(), ['a']);
  w.send({ type: 'pod.terminate', at: w.at, order: { reason: 'Removed', message: '' } });
  w.run(60_000);
  assert.equal(w.state, 'terminated.finished');
  assert.equal(w.when('cri.CreateContainer', 'b'), -1);
});

test('a container with a hook that an earlier agent made and did not start comes first all the same', () => {
  const before = world(pair({ lifecycle: SLEEP }), (made) => (made.answers['cri.StartContainer'] = () => 'hang'));
  before.run(1_000);
  assert.deepEqual(
    before.containers.map(({ name, state }) => [name, state]),
    [['a', 'created']],
  );
  const w = new TimedWorld(before.definition, before.memory, before, false);
  w.begin(before.memory, true);
  w.run(4_000);
  assert.deepEqual(w.running(), ['a']);
  w.run(4_000);
  assert.deepEqual(w.running().sort(), ['a', 'b']);
});

test('a hook that an earlier agent had begun is not run again, nor waited for', () => {
  const before = world(pair({ lifecycle: EXEC }), (made) => (made.answers['cri.ExecSync'] = () => 'hang'));
  before.run(1_000);
  const w = new TimedWorld(before.definition, before.memory, before, false);
  w.begin(before.memory, true);
  w.run(1_000);
  assert.deepEqual(w.running().sort(), ['a', 'b']);
  assert.equal(w.count('cri.ExecSync'), 0);
});

test('without hooks containers are made side by side', () => {
  const w = world(pair({}));
  w.run(1_000);
  assert.equal(w.when('cri.CreateContainer', 'a'), w.when('cri.CreateContainer', 'b'));
});

test('logs of before this rule replay as they were: side by side', () => {
  const w = world(pair({ lifecycle: SLEEP }), (made) => {
    const { settings } = made.snapshot.context;
    made.snapshot.context.settings = { ...settings, behaviour: settings.behaviour.filter((n: number) => n !== 12) };
  });
  w.run(1_000);
  assert.deepEqual(w.running().sort(), ['a', 'b']);
});
