import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { pod, PodWorld } from './pod-world.ts';

const web = (name = 'c', over: Partial<Container> = {}): Container => ({
  name,
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  ...over,
});
const probe = {
  exec: { command: ['p'] },
  periodSeconds: 1,
  failureThreshold: 3,
  successThreshold: 1,
  timeoutSeconds: 1,
};

/** A world that stops after so many messages: the agent is killed there, its calls go on in the runtime. */
class CutWorld extends PodWorld {
  left = Infinity;
  override send(message: PodMessage): void {
    if (this.left-- <= 0) throw new Killed();
    super.send(message);
  }
  /** Lives until the cut; what it had asked of the runtime is done all the same. */
  until(life: () => void): void {
    try {
      life();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }
}
class Killed extends Error {}

/** What happens in a pod's life besides what the agent does. */
type Life = (world: PodWorld) => void;
interface Case {
  name: string;
  definition: Pod;
  life: Life;
  /** Most containers that may ever be made under a name. */
  most: number;
  restarts: number;
  end: string;
}

const quietExit = (name: string, code: number) => (world: PodWorld) => {
  if (world.running().includes(name)) world.exit(name, code);
};
const remove = (world: PodWorld) => {
  if (!world.finished) world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
};

const cases: Case[] = [
  {
    name: 'a plain pod with probes and hooks',
    definition: pod({
      containers: [
        web('c', {
          startupProbe: probe,
          readinessProbe: probe,
          livenessProbe: probe,
          lifecycle: { postStart: { exec: { command: ['x'] } } },
        }),
      ],
    }),
    life: (w) => w.run(5_000),
    most: 1,
    restarts: 0,
    end: 'syncing.running',
  },
  {
    name: 'init containers, a sidecar, two containers, an image to pull',
    definition: pod({
      initContainers: [web('i', { image: 'far:1' }), web('s', { restartPolicy: 'Always', startupProbe: probe })],
      containers: [web('c'), web('d', { image: 'far:2' })],
    }),
    life: (w) => {
      w.run(2_000);
      quietExit('i', 0)(w);
      w.run(10_000);
    },
    most: 1,
    restarts: 0,
    end: 'syncing.running',
  },
];

/** How many messages a whole life has. */
function lengthOf({ definition, life }: Case): number {
  const world = new CutWorld(definition, null, undefined, false);
  let n = 0;
  const send = world.send.bind(world);
  world.send = (m) => {
    n++;
    send(m);
  };
  world.begin(null, false);
  life(world);
  return n;
}

for (const each of cases) {
  test(`the agent is killed after each message of ${each.name}: the next one goes on, nothing is restarted`, () => {
    const whole = lengthOf(each);
    assert.ok(whole > 15, `${whole} messages`);
    for (const withMemory of [true, false]) {
      for (let cut = 1; cut <= whole; cut++) {
        const first = new CutWorld(each.definition, null, undefined, false);
        first.left = cut;
        first.until(() => {
          first.begin(null, false);
          each.life(first);
        });
        const before = new Map(first.containers.map((c) => [c.id, c]));
        const memory: PodMemory | null = withMemory ? first.memory : null;
        const second = new PodWorld(each.definition, memory, first);
        each.life(second);
        for (let i = 0; i < 20 && second.state !== each.end; i++) {
          second.run(1_000);
          quietExit('i', 0)(second);
          second.pleg();
        }
        const where = `cut ${cut}/${whole} ${first.state} -> ${second.state}, memory ${withMemory}`;
        assert.equal(second.state, each.end, where);
        assert.equal(
          second.count('cri.RunPodSandbox') === 0 || first.sandboxes.length === 0,
          true,
          `${where}: sandbox made twice`,
        );
        for (const c of second.containers)
          assert.ok(c.restartCount <= each.restarts, `${where}: ${c.name} was restarted`);
        for (const status of second.status?.containerStatuses ?? []) assert.equal(status.restartCount, 0, where);
        const names = second.containers.map((c) => c.name);
        assert.equal(new Set(names).size, names.length, `${where}: ${names.join(' ')}`);
        for (const c of before.values()) {
          if (c.state === 'running')
            assert.ok(
              second.containers.some((x) => x.id === c.id),
              `${where}: running ${c.name} goes on under its id`,
            );
        }
      }
    }
  });
}

test('the agent is killed after each message of a termination: the next one ends the pod', () => {
  const definition = pod({
    initContainers: [web('s', { restartPolicy: 'Always' })],
    containers: [web('c', { lifecycle: { preStop: { sleep: { seconds: 2 } } } })],
  });
  for (let cut = 0; cut < 40; cut++) {
    const first = new CutWorld(definition, null, undefined, false);
    first.begin(null, false);
    first.run(2_000);
    first.left = cut + 1;
    first.until(() => {
      remove(first);
      first.run(20_000);
    });
    if (first.finished) {
      assert.ok(cut > 8, 'the whole way was cut');
      return;
    }
    const second = new PodWorld(definition, first.memory, first, false);
    second.source = 'orphan';
    second.begin(first.memory, true);
    second.run(20_000);
    assert.equal(second.finished, true, `cut ${cut}: ${second.state}`);
    assert.deepEqual([second.containers, second.sandboxes], [[], []]);
    assert.equal(second.count('cri.CreateContainer'), 0, `cut ${cut}: nothing is started any more`);
  }
  assert.fail('the termination never ends');
});

test('a pod that only the runtime knows of is not given its grace period, nor what is left of one', () => {
  const definition = pod({ terminationGracePeriodSeconds: 3_600 });
  for (const wasEnding of [false, true]) {
    const first = new PodWorld(definition);
    first.run(2_000);
    first.answers['cri.StopContainer'] = () => 'hang';
    if (wasEnding) remove(first);
    first.run(10_000);
    assert.equal(first.memory?.termination?.graceSeconds, wasEnding ? 3_600 : undefined);
    const second = new PodWorld(definition, null, first, false);
    second.source = 'orphan';
    second.begin(first.memory, true);
    second.run(5_000);
    const stops = second.effects.flatMap((e) => (e.type === 'cri.StopContainer' ? [e.params.timeoutSeconds] : []));
    assert.deepEqual(stops, [2], 'what any container gets at least');
    assert.equal(second.finished, true);
  }
});

test('memory keeps the crash-loop back-off: the next agent does not restart early, and goes on counting', () => {
  const first = new PodWorld(pod({}));
  first.run(500);
  for (let i = 0; i < 4; i++) {
    first.exit('c', 1);
    first.run(i === 3 ? 5_000 : 50_000);
  }
  assert.equal(first.state, 'syncing.crashLoopBackOff');
  const ended = first.containers[0]?.finishedAt ?? 0;
  const second = new PodWorld(pod({}), first.memory, first);
  second.run(100);
  assert.equal(second.state, 'syncing.crashLoopBackOff');
  assert.match(second.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /^back-off 40s /);
  while (second.running().length === 0) second.run(100);
  assert.ok(second.at >= ended + 40_000 && second.at < ended + 41_000, `${second.at - ended}`);
  second.exit('c', 1);
  second.run(1_000);
  assert.match(second.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /^back-off 1m20s /);
});

test('memory keeps the image back-off', () => {
  const definition = pod({ containers: [web('c', { image: 'far:1', imagePullPolicy: 'Always' })] });
  const first = new PodWorld(definition, null, undefined, false);
  first.answers['image.Pull'] = () => ({ error: { code: 'NotFound', message: 'x' } });
  first.begin(null, false);
  first.run(45_000);
  assert.equal(first.state, 'syncing.imageBackOff');
  const until =
    (first.memory?.containers['c']?.imageBackOff?.since ?? 0) +
    (first.memory?.containers['c']?.imageBackOff?.delayMs ?? 0);
  const second = new PodWorld(definition, first.memory, first);
  second.run(100);
  assert.equal(second.state, 'syncing.imageBackOff');
  while (second.count('image.Pull') === 0) second.run(100);
  assert.ok(second.at >= until && second.at < until + 200);
});

test('memory keeps probe counts: two failures before the restart and one after it make three', () => {
  const definition = pod({ containers: [web('c', { livenessProbe: { ...probe, periodSeconds: 10 } })] });
  const first = new PodWorld(definition);
  first.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: 'bad' } });
  first.run(25_000);
  assert.equal(first.memory?.probes['c/liveness']?.run, 2, 'the first of three was early');
  const second = new PodWorld(definition, first.memory, first);
  second.answers['cri.ExecSync'] = first.answers['cri.ExecSync'];
  second.run(6_000);
  assert.ok(second.events.some((e) => e.startsWith('Killing: Container c failed liveness probe')));
});

test('an adopted container stays ready, a probe that fails then unreadies it', () => {
  const definition = pod({ containers: [web('c', { readinessProbe: probe })] });
  const first = new PodWorld(definition);
  first.run(3_000);
  for (const memory of [first.memory, null]) {
    // What the first one told has reached the API.
    const known = { ...definition, ...(memory === null && first.status !== null && { status: first.status }) };
    const second = new PodWorld(known, memory, first);
    assert.equal(second.status?.containerStatuses?.[0]?.ready, true);
    second.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: 'bad' } });
    second.run(5_000);
    assert.equal(second.status?.containerStatuses?.[0]?.ready, false);
  }
});

test('a start that was cut off is made anew, and counts as a restart only when the runtime will not remove it', () => {
  for (const refuses of [false, true]) {
    const first = new PodWorld(pod({}), null, undefined, false);
    first.answers['cri.StartContainer'] = () => 'hang';
    first.begin(null, false);
    first.run(1_000);
    const cut = first.containers.map((c) => ({
      ...c,
      state: 'exited' as const,
      exitCode: 128,
      reason: 'StartError',
      message: 'failed to create containerd task: failed to get task pid: context canceled: unknown',
    }));
    assert.equal(cut.length, 1);
    first.containers = cut;
    const second = new PodWorld(first.definition, first.memory, first, false);
    const busy = { error: { code: 'Unknown', message: 'cannot delete running task: failed precondition' } };
    if (refuses) second.answers['cri.RemoveContainer'] = () => busy;
    second.begin(first.memory, true);
    second.run(60_000);
    assert.equal(second.state, 'syncing.running', refuses ? 'the pod is not stuck' : '');
    assert.deepEqual(second.running(), ['c']);
    assert.equal(second.status?.containerStatuses?.[0]?.restartCount, refuses ? 1 : 0);
  }
});
