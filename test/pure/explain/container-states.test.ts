import assert from 'node:assert/strict';
import { after, describe, it, test } from 'node:test';
import { chartOf, statesOf } from '../../../machines/charts/chart-of.ts';
import type { MachineName } from '../../../machines/charts/node-machines.ts';
import { NODE_MACHINES } from '../../../machines/charts/node-machines.ts';
import { CONTAINER_REASONS } from '../../../machines/explain/container-reasons.ts';
import { PROBE_REASONS } from '../../../machines/explain/probe-reasons.ts';
import { pod } from '../pod/pod-world.ts';
import type { ToldWorld } from './told-world.ts';
import { box, fails, told } from './told-world.ts';

function leaves(name: MachineName): string[] {
  return statesOf(chartOf(NODE_MACHINES[name]))
    .filter((s) => s.states.length === 0)
    .map((s) => s.path)
    .sort();
}

const HANG = () => 'hang' as const;
const PRE_STOP = { preStop: { exec: { command: ['geheim'] } } };

/** Worlds in which the container `c` is in that state, and what must be said of it. */
const CONTAINERS: Record<string, { world: () => ToldWorld; name?: string; text: RegExp }> = {
  waiting: {
    world: () => {
      const world = told(pod({ initContainers: [box('i')] }));
      world.run(3_000);
      return world;
    },
    text: /^c is not asked to start yet$/,
  },
  backingOff: {
    world: () => {
      const world = told(pod({}));
      for (let i = 0; i < 2; i++) {
        world.run(5_000);
        world.exit('c', 3);
      }
      world.run(1_000);
      return world;
    },
    text: /held back for 10 s\nc ended with exit code 3, after 1 restart\nnext: c starts again, triggered by timer$/,
  },
  retrying: {
    world: () => {
      const world = told(pod({}), (w) => (w.answers['cri.StartContainer'] = fails('exec: "x": not found')));
      world.run(3_000);
      return world;
    },
    text: /^c: StartContainer failed once \(exec: "x": not found\)\nits status says RunContainerError\nnext: next try/,
  },
  inDoubt: {
    world: () => {
      const world = told(pod({}), (w) => {
        w.answers['cri.StartContainer'] = fails('EOF', 'Unavailable');
        w.answers['cri.ContainerStatus'] = fails('no such file', 'Unavailable');
        const observe = w.observe.bind(w);
        w.observe = () => ({ ...observe(), at: -1 });
      });
      world.run(3_000);
      return world;
    },
    text: /^c: whether it runs is not known: no look .*\nc: StartContainer failed once \(.*EOF\)\nc: ContainerStatus failed once \(.*no such file\)\nnext: next look, triggered by timer$/,
  },
  'starting.checkingImage': {
    world: () => hanging('image.Status'),
    text: /^c: the runtime is asked whether image img:1 is there$/,
  },
  'starting.pullingImage': {
    world: () => {
      let pulls = 0;
      const world = told(pod({ containers: [box('c', { image: 'far:1' })] }), (w) => {
        w.answers['image.Pull'] = () => (++pulls < 3 ? { error: { code: 'Unknown', message: 'i/o timeout' } } : 'hang');
      });
      world.run(60_000);
      return world;
    },
    text: /^c: image far:1 is being pulled\nbefore, PullImage failed twice \(i\/o timeout\)$/,
  },
  'starting.imageBackOff': {
    world: () => {
      const world = told(pod({ containers: [box('c', { image: 'far:1' })] }), (w) => {
        w.answers['image.Pull'] = fails('denied', 'PermissionDenied');
      });
      world.run(3_000);
      return world;
    },
    text: /^c: PullImage of far:1 failed once \(denied\)\nthe next pull is held back for 10 s \(ImagePullBackOff\)\nnext: next try, triggered by timer$/,
  },
  'starting.awaitingPod': {
    world: () => hanging('cri.RunPodSandbox'),
    text: /^c: its image is there; it waits for the sandbox$/,
  },
  'starting.preparing': { world: () => hanging('host.PrepareContainer'), text: /log folder, hosts file and sub paths/ },
  'starting.creating': { world: () => hanging('cri.CreateContainer'), text: /the runtime is making the container$/ },
  'starting.started': { world: () => hanging('cri.StartContainer'), text: /the runtime is starting the container$/ },
  'starting.postStart': {
    world: () => {
      const lifecycle = { postStart: { httpGet: { port: 8080, path: '/hook' } } };
      const world = told(pod({ containers: [box('c', { lifecycle })] }), (w) => (w.answers['net.HttpGet'] = HANG));
      world.run(3_000);
      return world;
    },
    text: /^c: its process runs; its postStart hook \(an HTTP request to port 8080\) has not ended$/,
  },
  running: {
    world: () => {
      const world = told(pod({}));
      world.run(3_000);
      return world;
    },
    text: /^c runs$/,
  },
  'stopping.awaitingStart': {
    world: () => {
      const world = told(pod({}), (w) => (w.answers['cri.StartContainer'] = HANG));
      world.run(3_000);
      world.remove();
      world.run(1_000);
      return world;
    },
    text: /^c: the runtime is starting the container; it is stopped as soon as it runs\nnext: /,
  },
  'stopping.preStop': {
    world: () =>
      ending(pod({ containers: [box('c', { lifecycle: PRE_STOP })] }), (w) => (w.answers['cri.ExecSync'] = HANG)),
    text: /^c: its preStop hook \(a command\) has not ended\nnext: c gets its SIGTERM, and two seconds/,
  },
  'stopping.waitingTurn': {
    world: () =>
      ending(
        pod({ initContainers: [box('s', { restartPolicy: 'Always' })] }),
        (w) => (w.answers['cri.StopContainer'] = HANG),
      ),
    name: 's',
    text: /^s is a sidecar: it waits until the containers that may need it have stopped\nnext: /,
  },
  'stopping.killing': {
    world: () => ending(pod({}), (w) => (w.answers['cri.StopContainer'] = fails('shim is gone'))),
    text: /^c: StopContainer failed \d+ times \(shim is gone\)\nc was told to stop \(SIGTERM\) and has not ended\nnext: /,
  },
  exited: {
    world: () => {
      const world = told(pod({ restartPolicy: 'Never', containers: [box('c'), box('d')] }));
      world.run(3_000);
      world.exit('c', 9);
      world.run(1_000);
      return world;
    },
    text: /^c ended with exit code 9\nit is not started again \(restartPolicy Never\)$/,
  },
};

function hanging(
  effect: 'image.Status' | 'cri.RunPodSandbox' | 'host.PrepareContainer' | 'cri.CreateContainer' | 'cri.StartContainer',
): ToldWorld {
  const world = told(pod({}), (w) => (w.answers[effect] = HANG));
  world.run(3_000);
  return world;
}

function ending(definition: ReturnType<typeof pod>, prepare: (world: ToldWorld) => void): ToldWorld {
  const world = told(definition);
  world.run(5_000);
  prepare(world);
  world.remove();
  world.run(5_000);
  return world;
}

describe('each state of the container chart is explained', () => {
  const covered: string[] = [];
  for (const [state, { world, name = 'c', text }] of Object.entries(CONTAINERS)) {
    it(state, () => {
      const said = world().ofContainer(name);
      assert.equal(said.state, state, said.text);
      assert.match(said.text, text);
      assert.doesNotMatch(said.text, /geheim|undefined|NaN/);
      covered.push(state);
    });
  }
  after(() => assert.deepEqual(covered.sort(), leaves('container')));
  it('starting.awaitingPod, behind a postStart hook: whose hook, and why that takes long', () => {
    const lifecycle = { postStart: { httpGet: { port: 8080, path: '/hook' } } };
    const containers = [box('proxy', { lifecycle }), box('c')];
    const world = told(pod({ containers }), (w) => (w.answers['net.HttpGet'] = HANG));
    world.run(3_000);
    const { state, text } = world.ofContainer('c');
    assert.equal(state, 'starting.awaitingPod');
    assert.match(
      text,
      /^c: its image is there; it waits until proxy, which comes before it, has started and its postStart hook has ended\nproxy: its process runs; its postStart hook \(an HTTP request to port 8080\) has not ended$/,
    );
  });
  it('the table of reasons names each state of the chart, and no other', () => {
    assert.deepEqual(Object.keys(CONTAINER_REASONS).sort(), leaves('container'));
  });
});

const probe = { exec: { command: ['geheim'] }, periodSeconds: 5, failureThreshold: 2, timeoutSeconds: 1 };

/** Worlds in which a probe of `c` is in that state. */
const PROBES: Record<string, { world: () => ToldWorld; kind: 'startup' | 'liveness' | 'readiness'; text: RegExp }> = {
  idle: {
    kind: 'readiness',
    world: () => {
      const world = told(
        pod({ containers: [box('c', { readinessProbe: probe })] }),
        (w) => (w.answers['cri.CreateContainer'] = HANG),
      );
      world.run(1_000);
      return world;
    },
    text: /^c: its readiness probe \(a command\) rests: the container does not run$/,
  },
  waiting: {
    kind: 'readiness',
    world: () => {
      const world = told(pod({ containers: [box('c', { readinessProbe: { ...probe, initialDelaySeconds: 20 } })] }));
      world.run(2_000);
      return world;
    },
    text: /has not run yet \(initialDelaySeconds 20 s\)\nnext: the probe runs again, triggered by timer$/,
  },
  probing: {
    kind: 'liveness',
    world: () => {
      let runs = 0;
      const world = told(pod({ containers: [box('c', { livenessProbe: { ...probe, failureThreshold: 9 } })] }), (w) => {
        w.answers['cri.ExecSync'] = () => (++runs < 4 ? { result: { exitCode: 2, output: 'geheim' } } : 'hang');
      });
      world.run(30_000);
      return world;
    },
    text: /is running now; before, it failed twice \(the command ended with exit code 2\)$/,
  },
  onHold: {
    kind: 'startup',
    world: () => {
      const world = told(pod({ containers: [box('c', { startupProbe: probe })] }));
      world.run(10_000);
      return world;
    },
    text: /is over \(it succeeded\) until there is a new container$/,
  },
  ended: {
    kind: 'liveness',
    world: () =>
      ending(pod({ containers: [box('c', { livenessProbe: probe })] }), (w) => (w.answers['cri.StopContainer'] = HANG)),
    text: /is quiet: the pod terminates$/,
  },
};

test('what a probe said of the container before is not told of the one that follows', () => {
  let exitCode = 0;
  const readinessProbe = { ...probe, initialDelaySeconds: 3 };
  const world = told(pod({ containers: [box('c', { readinessProbe })] }), (w) => {
    w.answers['cri.ExecSync'] = () => ({ result: { exitCode, output: '' } });
  });
  for (const [code, said] of [
    [0, /it says success so far/],
    [1, /failed once \(the command ended with exit code 1\)/],
  ] as const) {
    exitCode = code;
    world.run(5_000);
    assert.match(world.ofProbe('c', 'readiness').text, said);
    world.exit('c', 1);
    world.run(1_000);
    while (!world.running().includes('c')) world.run(100);
    assert.match(world.ofProbe('c', 'readiness').text, /has not run yet/);
  }
});

describe('each state of the probe chart is explained', () => {
  const covered: string[] = [];
  for (const [state, { world, kind, text }] of Object.entries(PROBES)) {
    it(state, () => {
      const said = world().ofProbe('c', kind);
      assert.equal(said.state, state, said.text);
      assert.match(said.text, text);
      assert.doesNotMatch(said.text, /geheim|undefined|NaN/);
      covered.push(state);
    });
  }
  after(() => assert.deepEqual(covered.sort(), leaves('probe')));
  it('the table of reasons names each state of the chart, and no other', () => {
    assert.deepEqual(Object.keys(PROBE_REASONS).sort(), leaves('probe'));
  });
});
