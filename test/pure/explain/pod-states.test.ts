import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { chartOf, statesOf } from '../../../machines/charts/chart-of.ts';
import { NODE_MACHINES } from '../../../machines/charts/node-machines.ts';
import { explanationText } from '../../../machines/explain/explanation-text.ts';
import { POD_REASONS } from '../../../machines/explain/pod-reasons.ts';
import type { PodStateName } from '../../../machines/pod/pod-context.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { pod } from '../pod/pod-world.ts';
import { box, fails, told, ToldWorld } from './told-world.ts';

interface Case {
  state: PodStateName;
  what: string;
  definition: Pod;
  story: (definition: Pod) => ToldWorld;
  /** Each is found in the summary. */
  summary: RegExp;
  /** Each is found among the causes. */
  causes?: RegExp[];
  next?: RegExp;
}

const probe = { exec: { command: ['p'] }, periodSeconds: 5, failureThreshold: 3, timeoutSeconds: 1 };
const NOT_READY = (runtimeReady: boolean) => (definition: Pod) => {
  const world = new ToldWorld(definition, null, undefined, false);
  world.send({
    type: 'pod.start',
    at: world.at,
    pod: definition,
    source: 'file',
    observed: null,
    memory: null,
    runtimeReady,
    networkReady: false,
  });
  world.at += 40_000;
  return world;
};
const run = (ms: number, prepare?: (world: ToldWorld) => void) => (definition: Pod) => {
  const world = told(definition, prepare);
  world.run(ms);
  return world;
};
/** Runs, then is removed while an effect hangs or fails. */
const removed =
  (prepare: (world: ToldWorld) => void, ms = 5_000) =>
  (definition: Pod) => {
    const world = told(definition);
    world.run(5_000);
    prepare(world);
    world.remove();
    world.run(ms);
    return world;
  };

const CASES: Case[] = [
  {
    state: 'syncing.waitingForRuntime',
    what: 'the runtime is down',
    definition: pod({}),
    story: NOT_READY(false),
    summary:
      /^waiting in syncing\.waitingForRuntime since 40 s: the container runtime does not answer or is not ready; spec came from file \/etc\/m\/web\.yaml at 1970-01-01T00:16:40Z$/,
  },
  {
    state: 'syncing.waitingForNetwork',
    what: 'no CNI',
    definition: pod({}),
    story: NOT_READY(true),
    summary: /since 40 s: the runtime's network is not ready/,
    causes: [/does not use the network of the node/],
  },
  {
    state: 'syncing.creatingCgroup',
    what: 'the cgroup cannot be made',
    definition: pod({}),
    story: run(1_500, (w) => (w.answers['host.EnsurePodCgroup'] = fails('no space left', 'ENOSPC'))),
    summary: /making the pod's cgroup failed twice \(no space left\); next try in 1\.5 s, triggered by timer/,
    next: /next try/,
  },
  {
    state: 'syncing.mountingVolumes',
    what: 'a volume fails',
    definition: pod({ volumes: [{ name: 'v', emptyDir: {} }] }),
    story: run(500, (w) => (w.answers['host.SetUpVolumes'] = fails('configmap "x" not found'))),
    summary: /setting up the volumes failed once \(configmap "x" not found\); next try in 0\.5 s, triggered by timer/,
  },
  {
    state: 'syncing.stoppingOldSandbox',
    what: 'the sandbox died and cannot be stopped',
    definition: pod({}),
    story: (definition) => {
      const world = told(definition);
      world.run(5_000);
      world.answers['cri.StopPodSandbox'] = fails('cni: plugin failed');
      world.sandboxes = world.sandboxes.map((s) => ({ ...s, state: 'notReady' as const }));
      world.pleg();
      world.run(5_000);
      return world;
    },
    summary: /stopping the old sandbox failed .*cni: plugin failed.*next try in/,
    causes: [/sandbox is gone or has changed/],
  },
  {
    state: 'syncing.waitingForPlugin',
    what: 'its device plugin has not come back',
    definition: pod({}),
    story: (definition) => {
      const world = new ToldWorld(definition, null, undefined, false);
      const hold = { message: 'device plugin of example.com/gpu has not come back', until: world.at + 60_000 };
      world.send({
        type: 'pod.start',
        ...{ at: world.at, pod: definition, source: 'file', observed: null, memory: null },
        ...{ runtimeReady: true, networkReady: true, hold },
      });
      world.run(500);
      return world;
    },
    summary:
      /device plugin of example\.com\/gpu has not come back; it was there before.*the pod is judged without it in/,
  },
  {
    state: 'syncing.preparingClaims',
    what: 'its driver is not there',
    definition: pod({ resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] }),
    story: run(500, (w) => (w.answers['host.PrepareClaims'] = fails('DRA driver x is not registered'))),
    summary:
      /preparing its ResourceClaims \(NodePrepareResources\) failed once \(DRA driver x is not registered\); next try in 0\.5 s/,
  },
  {
    state: 'syncing.creatingSandbox',
    what: 'the runtime refuses',
    definition: pod({}),
    story: run(2_000, (w) => (w.answers['cri.RunPodSandbox'] = fails('no such runtime handler'))),
    summary: /making the sandbox \(RunPodSandbox\) failed twice \(.*no such runtime handler\); next try in/,
  },
  {
    state: 'syncing.pullingImage',
    what: 'a pull takes long',
    definition: pod({ containers: [box('c', { image: 'far:1' })] }),
    story: run(40_000, (w) => (w.answers['image.Pull'] = () => 'hang')),
    summary: /^waiting in syncing\.pullingImage since 40 s: c: image far:1 is being pulled; spec came from/,
  },
  {
    state: 'syncing.imageBackOff',
    what: 'no such image',
    definition: pod({ containers: [box('c', { image: 'bad:1' })] }),
    story: run(35_000, (w) => (w.answers['image.Pull'] = fails('not found: localhost/x', 'NotFound'))),
    summary: /c: PullImage of bad:1 failed 3 times \(not found: localhost\/x\); next try in 3\d s, triggered by timer/,
    causes: [/held back for 40 s \(ImagePullBackOff\)/],
  },
  {
    state: 'syncing.initializing',
    what: 'an init container runs',
    definition: pod({ initContainers: [box('i')] }),
    story: run(5_000),
    summary: /syncing\.initializing since 5 s: i runs/,
    causes: [/init containers run one after the other/],
  },
  {
    state: 'syncing.startingContainers',
    what: 'CreateContainer takes long',
    definition: pod({}),
    story: run(5_000, (w) => (w.answers['cri.CreateContainer'] = () => 'hang')),
    summary: /c: the runtime is making the container/,
  },
  {
    state: 'syncing.retryingStart',
    what: 'the configuration lacks an object',
    definition: pod({}),
    story: run(
      15_000,
      (w) => (w.answers['cri.CreateContainer'] = fails('secret "db" not found', 'CreateContainerConfigError')),
    ),
    summary: /c: making its configuration failed twice \(secret "db" not found\); next try in/,
    causes: [/CreateContainerConfigError/],
  },
  {
    state: 'syncing.retryingStart',
    what: 'the runtime cannot make the container',
    definition: pod({}),
    story: run(5_000, (w) => (w.answers['cri.CreateContainer'] = fails('no such device'))),
    summary: /c: CreateContainer failed once \(no such device\); next try in/,
  },
  {
    state: 'syncing.retryingStart',
    what: 'an image name that cannot be read',
    definition: pod({ containers: [box('c', { image: 'UPPER' })] }),
    story: run(5_000),
    summary: /the name of its image cannot be read: InvalidImageName: .*UPPER.*; next try in/,
  },
  {
    state: 'syncing.retryingStart',
    what: 'an image that may not be pulled',
    definition: pod({ containers: [box('c', { image: 'far:1', imagePullPolicy: 'Never' })] }),
    story: run(5_000),
    summary: /may not be pulled \(imagePullPolicy Never\).*; next try in/,
  },
  {
    state: 'syncing.crashLoopBackOff',
    what: 'it keeps ending',
    definition: pod({}),
    story: (definition) => {
      const world = told(definition);
      for (let i = 0; i < 2; i++) {
        world.run(5_000);
        world.exit('c', 3);
      }
      world.run(4_000);
      return world;
    },
    summary:
      /c keeps ending \(CrashLoopBackOff\): its next start is held back for 10 s; c starts again in 6 s, triggered by timer/,
    causes: [/^c ended with exit code 3, after 1 restart$/],
  },
  {
    state: 'syncing.stoppingContainers',
    what: 'a liveness probe failed',
    definition: pod({ containers: [box('c', { livenessProbe: { ...probe, failureThreshold: 2 } })] }),
    story: (definition) => {
      const world = told(definition, (w) => {
        w.answers['cri.ExecSync'] = () => ({ result: { exitCode: 7, output: 'geheim' } });
        w.answers['cri.StopContainer'] = () => 'hang';
      });
      world.run(17_000);
      return world;
    },
    summary: /c was told to stop \(SIGTERM\) and has not ended; c is killed \(SIGKILL\) if it still runs in/,
    causes: [/its liveness probe failed$/, /liveness probe failed 3 times \(the command ended with exit code 7\)/],
  },
  {
    state: 'syncing.waitingForStartupProbe',
    what: 'the startup probe fails',
    definition: pod({
      containers: [
        box('c', {
          startupProbe: { ...probe, httpGet: { port: 80, path: '/up' }, exec: undefined, failureThreshold: 30 },
        }),
      ],
    }),
    story: run(17_000, (w) => (w.answers['net.HttpGet'] = () => ({ result: { status: 503, body: 'geheim' } }))),
    summary:
      /c: its startup probe \(HTTP GET :80\/up\) failed 3 times \(HTTP status 503\); 30 in a row count as failed; the probe runs again in 3\.\d s, triggered by timer/,
  },
  {
    state: 'syncing.waitingForStartupProbe',
    what: 'the first run of the startup probe failed',
    definition: pod({ containers: [box('c', { startupProbe: probe })] }),
    story: run(2_000, (w) => (w.answers['cri.ExecSync'] = () => ({ result: { exitCode: 7, output: 'geheim' } }))),
    summary:
      /c: its startup probe \(a command\) failed once \(the command ended with exit code 7\), which is too early to count/,
  },
  {
    state: 'syncing.waitingForReadiness',
    what: 'the readiness probe fails',
    definition: pod({
      containers: [box('c', { readinessProbe: { ...probe, tcpSocket: { port: 80 }, exec: undefined } })],
    }),
    story: run(2_000, (w) => (w.answers['net.TcpConnect'] = fails('connection refused', 'ECONNREFUSED'))),
    summary: /c: its readiness probe \(TCP :80\) failed once \(connection refused\)/,
  },
  {
    state: 'syncing.running',
    what: 'all is well',
    definition: pod({}),
    story: run(60_000),
    summary: /^is in syncing\.running since 60 s: all that should run runs and is ready: it waits for nothing/,
    causes: [/^c runs$/],
  },
  {
    state: 'terminating.runningPreStop',
    what: 'a preStop hook',
    definition: pod({ containers: [box('c', { lifecycle: { preStop: { sleep: { seconds: 20 } } } })] }),
    story: removed(() => undefined),
    summary:
      /^ending in terminating\.runningPreStop since 5 s: c: its preStop hook \(a pause of 20 s\) has not ended; .*in 25 s/,
    causes: [/removed from its source \(file\)/, /the pod's grace period of 30 s ends at/],
  },
  {
    state: 'terminating.stoppingContainers',
    what: 'a container that does not end',
    definition: pod({}),
    story: removed((w) => (w.answers['cri.StopContainer'] = () => 'hang')),
    summary: /c was told to stop \(SIGTERM\) and has not ended; c is killed \(SIGKILL\) if it still runs in 25 s/,
    causes: [/removed from its source/, /grace period of 30 s ends at/],
  },
  {
    state: 'terminating.unpreparingClaims',
    what: 'its driver hangs',
    definition: pod({ resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] }),
    story: removed((w) => {
      w.answers['host.UnprepareClaims'] = fails('NodeUnprepareResources: no answer');
    }),
    summary: /giving its ResourceClaims back \(NodeUnprepareResources\) failed .*no answer\); next try in/,
    causes: [/removed from its source/],
  },
  {
    state: 'terminating.stoppingSandbox',
    what: 'the sandbox cannot be stopped',
    definition: pod({}),
    story: removed((w) => (w.answers['cri.StopPodSandbox'] = fails('cni: no')), 3_000),
    summary: /stopping the sandbox \(StopPodSandbox\) failed .*cni: no.*; next try in/,
    causes: [/removed from its source/, /c ended with exit code 143/],
  },
  {
    state: 'terminated.cleaningUp',
    what: 'a volume is busy',
    definition: pod({}),
    story: removed((w) => (w.answers['host.TearDownPod'] = fails('device busy', 'EBUSY')), 3_000),
    summary: /removing volumes and folders failed .*device busy.*; next try in/,
    causes: [/removed from its source/],
  },
  {
    state: 'terminated.kept',
    what: 'it is done',
    definition: pod({ restartPolicy: 'Never' }),
    story: (definition) => {
      const world = told(definition);
      world.run(2_000);
      world.exit('c', 0);
      world.run(5_000);
      return world;
    },
    summary: /^is in terminated\.kept since .*: all its containers have done their part/,
    causes: [/c ended with exit code 0 \(Completed\)/, /its source still names it/],
  },
  {
    state: 'terminated.kept',
    what: 'the node did not admit it',
    definition: pod({}),
    story: (definition) => {
      const world = new ToldWorld(definition, null, undefined, false);
      world.begin(null, false, { reason: 'OutOfcpu', message: "Node didn't have enough resource: cpu" });
      world.run(5_000);
      return world;
    },
    summary: /the node did not admit it \(OutOfcpu\): Node didn't have enough resource: cpu/,
  },
  {
    state: 'terminated.kept',
    what: 'its deadline is over',
    definition: pod({ activeDeadlineSeconds: 20 }),
    story: run(60_000),
    summary: /its activeDeadlineSeconds of 20 s is over/,
  },
  {
    state: 'terminated.removing',
    what: 'a container cannot be removed',
    definition: pod({}),
    story: removed((w) => (w.answers['cri.RemoveContainer'] = fails('still in use')), 3_000),
    summary: /removing a container failed .*still in use.*; next try in/,
  },
  {
    state: 'syncing.running',
    what: 'nobody is told how it is',
    definition: pod({}),
    story: (definition) => {
      const world = told(definition);
      world.run(5_000);
      world.send({ type: 'pod.unseen', at: world.at, error: { code: 'Internal', message: 'no answer' } });
      return world;
    },
    summary:
      /^is in syncing\.running since .*: the container runtime fails to say what it holds of the pod: Internal: no answer; spec came from/,
  },
  {
    state: 'terminated.finished',
    what: 'it is gone',
    definition: pod({}),
    story: removed(() => undefined, 60_000),
    summary: /^gone since .*: it was removed from its source \(file\); spec came from file/,
    causes: [/nothing of it is left on the node/],
  },
];

describe('each state of the pod chart is explained', () => {
  const covered = new Set<string>();
  for (const { state, what, definition, story, summary, causes = [], next } of CASES) {
    it(`${state}: ${what}`, () => {
      const world = story(definition);
      const explanation = world.explain('/etc/m/web.yaml');
      const text = explanationText(explanation);
      assert.equal(explanation.state, state, text);
      assert.match(explanation.summary, summary);
      for (const cause of causes)
        assert.ok(
          explanation.causes.some((c) => cause.test(c.text)),
          `${String(cause)} in\n${text}`,
        );
      if (next !== undefined) assert.match(explanation.next?.what ?? '', next);
      for (const c of explanation.causes) assert.ok(c.text !== '' && c.at <= explanation.now, text);
      assert.doesNotMatch(text, /geheim|undefined|NaN|\[object/);
      covered.add(state);
    });
  }
  after(() => {
    const leaves = statesOf(chartOf(NODE_MACHINES.pod)).filter((s) => s.states.length === 0);
    assert.deepEqual(
      leaves.map((s) => s.path).filter((path) => !covered.has(path)),
      [],
      'states without a case above',
    );
  });
  it('the table of reasons names each state of the chart, and no other', () => {
    const leaves = statesOf(chartOf(NODE_MACHINES.pod)).filter((s) => s.states.length === 0);
    assert.deepEqual(Object.keys(POD_REASONS).sort(), leaves.map((s) => s.path).sort());
  });
});
