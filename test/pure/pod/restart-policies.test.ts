import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { pod, PodWorld } from './pod-world.ts';

const web = (name = 'c', over: Partial<Container> = {}): Container => ({
  name,
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  ...over,
});
type Spec = Partial<NonNullable<Pod['spec']>>;

/** Runs a pod until its containers run, ends them with the codes, and gives it time. */
function lived(spec: Spec, codes: Record<string, number>, ms = 5_000): PodWorld {
  const world = new PodWorld(pod(spec));
  world.run(500);
  for (const [name, code] of Object.entries(codes)) world.exit(name, code);
  world.run(ms);
  return world;
}

const table: [policy: string, code: number, restarts: boolean, phase: string][] = [
  ['Always', 0, true, 'Running'],
  ['Always', 1, true, 'Running'],
  ['OnFailure', 0, false, 'Succeeded'],
  ['OnFailure', 1, true, 'Running'],
  ['Never', 0, false, 'Succeeded'],
  ['Never', 1, false, 'Failed'],
];
for (const [restartPolicy, code, restarts, phase] of table) {
  test(`restartPolicy ${restartPolicy}, exit code ${code}: ${restarts ? 'restarts' : phase}`, () => {
    const world = lived({ restartPolicy }, { c: code });
    assert.equal(world.status?.phase, phase);
    assert.equal(world.count('cri.CreateContainer'), restarts ? 2 : 1);
    assert.equal(world.state, restarts ? 'syncing.running' : 'terminated.kept');
  });
  test(`restartPolicy ${restartPolicy}, init container ends with ${code}`, () => {
    const world = lived({ restartPolicy, initContainers: [web('i')] }, { i: code });
    if (code === 0) assert.deepEqual(world.running(), ['c']);
    else if (restartPolicy === 'Never') {
      assert.equal(world.status?.phase, 'Failed');
      assert.equal(world.state, 'terminated.kept');
    } else {
      assert.deepEqual(world.running(), ['i'], 'it is tried again');
      assert.equal(world.containers[0]?.restartCount, 1);
    }
  });
  test(`restartPolicy ${restartPolicy}, sidecar ends with ${code}: it is always restarted`, () => {
    const world = lived({ restartPolicy, initContainers: [web('s', { restartPolicy: 'Always' })] }, { s: code });
    assert.deepEqual(world.running().sort(), ['c', 's']);
    assert.equal(world.containers.find((c) => c.name === 's')?.restartCount, 1);
  });
}

/** An init container of such a pod ends with 0, but something of it was ended for want of memory. */
function outOfMemory(restartPolicy: string, own: Partial<Container> = {}, over: Partial<NodeSettings> = {}): PodWorld {
  const definition = pod({ restartPolicy, initContainers: [web('i', own)] });
  const world = new PodWorld(definition, null, undefined, true, 'file', over);
  world.run(500);
  world.exit('i', 0, 'OOMKilled');
  world.run(5_000);
  return world;
}

test('an init container that ran out of memory has failed, even with 0: it runs again, and what comes after it waits', () => {
  const restartsAfterZero: Partial<Container> = {
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [0] } }],
  };
  for (const world of [outOfMemory('Always'), outOfMemory('Never', restartsAfterZero)]) {
    assert.deepEqual(world.running(), ['i']);
    assert.equal(world.count('cri.RunPodSandbox'), 1);
    assert.equal(world.status?.phase, 'Pending');
    world.exit('i', 0);
    world.run(5_000);
    assert.deepEqual(world.running(), ['c'], 'one that succeeded is done, whatever its rules say');
  }
});

test('one that ran out of memory with 0, and is not restarted for that code, begins anew with its pod in a new sandbox', () => {
  for (const world of [outOfMemory('OnFailure'), outOfMemory('Always', { restartPolicy: 'Never' })]) {
    assert.deepEqual(world.running(), ['i']);
    assert.equal(world.count('cri.StopPodSandbox'), 1);
    assert.equal(world.count('cri.RunPodSandbox'), 2);
    assert.ok(world.events.some((text) => text.startsWith('SandboxChanged')));
    world.exit('i', 0);
    world.run(5_000);
    assert.deepEqual(world.running(), ['c']);
  }
});

test('a pod that is not restarted ends with an init container that ran out of memory', () => {
  const world = outOfMemory('Never');
  assert.equal(world.status?.phase, 'Failed');
  assert.equal(world.state, 'terminated.kept');
});

test('as logs of before have it: an init container that ran out of memory with 0 is done', () => {
  for (const policy of ['Always', 'OnFailure', 'Never'])
    assert.deepEqual(outOfMemory(policy, {}, { behaviour: [7] }).running(), ['c']);
});

test('one of two containers ends: a Never pod goes on until the other has ended', () => {
  const world = lived({ restartPolicy: 'Never', containers: [web('c'), web('d')] }, { c: 1 });
  assert.equal(world.status?.phase, 'Running');
  assert.deepEqual(world.running(), ['d']);
  world.exit('d', 0);
  world.run(5_000);
  assert.equal(world.status?.phase, 'Failed');
});

test('the regular containers are done: a sidecar that crash-loops or runs does not keep the pod alive', () => {
  for (const crash of [false, true]) {
    const world = new PodWorld(
      pod({ restartPolicy: 'Never', initContainers: [web('s', { restartPolicy: 'Always' })] }),
    );
    world.run(500);
    if (crash)
      for (let i = 0; i < 2; i++) {
        world.exit('s', 1);
        world.run(300);
      }
    const made = world.count('cri.CreateContainer');
    world.exit('c', 0);
    world.run(8_000);
    assert.equal(world.status?.phase, 'Succeeded');
    assert.equal(world.state, 'terminated.kept');
    assert.deepEqual(world.running(), []);
    assert.equal(world.count('cri.CreateContainer'), made, 'it is not restarted any more');
  }
});

const rule = (operator: 'In' | 'NotIn', values: number[]) => [{ action: 'Restart', exitCodes: { operator, values } }];
const rules: [string, Partial<Container>, number, boolean][] = [
  ['In hits', { restartPolicy: 'Never', restartPolicyRules: rule('In', [42]) }, 42, true],
  ['In misses', { restartPolicy: 'Never', restartPolicyRules: rule('In', [42]) }, 1, false],
  ['NotIn hits', { restartPolicy: 'Never', restartPolicyRules: rule('NotIn', [0]) }, 3, true],
  ['NotIn misses', { restartPolicy: 'Never', restartPolicyRules: rule('NotIn', [0]) }, 0, false],
  ['own policy OnFailure in a Never pod', { restartPolicy: 'OnFailure' }, 1, true],
  ['own policy OnFailure, success', { restartPolicy: 'OnFailure' }, 0, false],
];
for (const [name, over, code, restarts] of rules) {
  test(`container restart rules: ${name}`, () => {
    const world = lived({ restartPolicy: 'Never', containers: [web('c', over)] }, { c: code });
    assert.equal(world.running().length, restarts ? 1 : 0);
  });
}

test('a container in unknown state is killed before another of its name is started', () => {
  const world = new PodWorld(pod({}));
  world.run(500);
  world.containers = world.containers.map((c) => ({ ...c, state: 'unknown' as const }));
  world.effects = [];
  world.pleg();
  world.run(3_000);
  const order = world.effects
    .map((e) => e.type)
    .filter((t) => t === 'cri.StopContainer' || t === 'cri.CreateContainer');
  assert.deepEqual(order, ['cri.StopContainer', 'cri.CreateContainer']);
  assert.ok(world.events.includes('Killing: Container is in "unknown" state, try killing it before restart'));
  assert.equal(world.state, 'syncing.running');
});

test('an init container in unknown state ends a Never pod', () => {
  const world = new PodWorld(pod({ restartPolicy: 'Never', initContainers: [web('i')] }));
  world.run(500);
  world.containers = world.containers.map((c) => ({ ...c, state: 'unknown' as const }));
  world.pleg();
  world.run(3_000);
  assert.match(world.state, /^terminated/);
  assert.equal(world.count('cri.CreateContainer'), 1);
});

test('the sandbox dies: a Never pod ends, an OnFailure pod runs only what has not succeeded, init containers run again', () => {
  const die = (world: PodWorld) => {
    world.sandboxes = world.sandboxes.map((s) => ({ ...s, state: 'notReady' as const }));
    world.containers = world.containers.map((c) =>
      c.state === 'running' ? { ...c, state: 'exited' as const, exitCode: 137, finishedAt: world.at } : c,
    );
    world.pleg();
    world.run(5_000);
  };
  const never = lived({ restartPolicy: 'Never' }, {}, 0);
  die(never);
  assert.equal(never.count('cri.RunPodSandbox'), 1);
  assert.equal(never.status?.phase, 'Failed');
  const onFailure = lived({ restartPolicy: 'OnFailure', containers: [web('c'), web('d')] }, { c: 0 }, 500);
  die(onFailure);
  assert.equal(onFailure.count('cri.RunPodSandbox'), 2);
  assert.deepEqual(onFailure.running(), ['d']);
  const init = lived({ initContainers: [web('i')] }, { i: 0 }, 500);
  assert.deepEqual(init.running(), ['c']);
  die(init);
  assert.deepEqual(init.running(), ['i']);
  init.exit('i', 0);
  init.run(2_000);
  assert.deepEqual(init.running(), ['c']);
});

test('a runtime that lists a sandbox as not ready while it is being made: it is made once', () => {
  const world = new PodWorld(pod({}));
  world.answers['cri.RunPodSandbox'] = (_effect, w) => {
    w.sandboxes = [
      {
        id: 's9',
        attempt: 0,
        state: 'notReady',
        createdAt: w.at,
        ips: [],
        hostNetwork: false,
        runtimeHandler: '',
        labels: {},
        annotations: {},
      },
    ];
    return { result: { podSandboxId: 's9' } };
  };
  world.delayMs = 1_000;
  world.run(500);
  world.pleg();
  world.run(400);
  assert.equal(world.count('cri.StopPodSandbox'), 0);
  assert.equal(world.count('cri.RunPodSandbox'), 1);
});

test('the new sandbox cannot be made for a while: what waits for it is not begun again and again', () => {
  const world = lived({ containers: [web('c'), web('d')] }, {}, 0);
  world.answers['cri.RunPodSandbox'] = () => ({ error: { code: 'Unknown', message: 'no network' } });
  world.sandboxes = world.sandboxes.map((s) => ({ ...s, state: 'notReady' as const }));
  world.effects = [];
  world.pleg();
  world.run(20_000);
  assert.equal(world.count('image.Status'), 2);
  delete world.answers['cri.RunPodSandbox'];
  world.run(60_000);
  assert.equal(world.state, 'syncing.running');
});
