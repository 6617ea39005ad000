import type { PodContext } from '../../../machines/pod/pod-context.ts';
import { statePath } from '../../../machines/machine-step/step.ts';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { pod, PodWorld } from './pod-world.ts';

type Reached = Record<'pod' | 'container' | 'probe', Set<string>>;

/** Notes each state that the pod and its child machines are in after a step. */
class WatchedWorld extends PodWorld {
  into: Reached | null = null;
  override send(message: PodMessage): void {
    super.send(message);
    const context = this.snapshot.context as PodContext;
    this.into?.pod.add(this.state);
    for (const { value } of Object.values(context.containers)) this.into?.container.add(statePath(value));
    for (const { value } of Object.values(context.probes)) this.into?.probe.add(statePath(value));
  }
}

const web = (name: string, over: Partial<Container> = {}): Container => ({
  name,
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  ...over,
});
const probe = {
  exec: { command: ['p'] },
  periodSeconds: 1,
  failureThreshold: 2,
  successThreshold: 1,
  timeoutSeconds: 1,
};

/** Lives a few lives that lead through every state; the charts test says which one is missing. */
export function statesReached(): Reached {
  const reached: Reached = { pod: new Set(), container: new Set(), probe: new Set() };
  const live = (definition: Pod, story: (world: WatchedWorld) => void) => {
    const world = new WatchedWorld(definition, null, undefined, false);
    world.into = reached;
    story(world);
  };
  const end = (world: PodWorld) =>
    world.send({ type: 'pod.terminate', at: world.at, order: { reason: 'Removed', message: '' } });
  const hooks = { postStart: { sleep: { seconds: 1 } }, preStop: { sleep: { seconds: 3 } } };
  live(
    pod({
      initContainers: [
        web('i'),
        web('s', { restartPolicy: 'Always', lifecycle: { preStop: { sleep: { seconds: 1 } } } }),
      ],
      containers: [
        web('c', {
          lifecycle: hooks,
          startupProbe: { ...probe, initialDelaySeconds: 2 },
          readinessProbe: { ...probe, initialDelaySeconds: 4 },
          livenessProbe: probe,
        }),
      ],
    }),
    (world) => {
      const { definition } = world;
      const ready = { runtimeReady: false, networkReady: false };
      world.send({
        type: 'pod.start',
        at: world.at,
        pod: definition,
        source: 'file',
        observed: null,
        memory: null,
        ...ready,
      });
      world.send({ type: 'runtime.state', at: world.at, runtimeReady: true, networkReady: false });
      world.run(100);
      world.answers['host.SetUpVolumes'] = () => ({ error: { code: 'EIO', message: 'x' } });
      world.send({ type: 'pod.update', at: world.at, pod: definition });
      world.send({ type: 'runtime.state', at: world.at, runtimeReady: true, networkReady: true });
      world.run(500);
      delete world.answers['host.SetUpVolumes'];
      world.run(90_000);
      if (world.running().includes('i')) world.exit('i', 0);
      world.run(10_000);
      world.answers['cri.ExecSync'] = () => ({ result: { exitCode: 1, output: '' } });
      world.run(3_000);
      delete world.answers['cri.ExecSync'];
      world.run(20_000);
      world.sandboxes = world.sandboxes.map((s) => ({ ...s, state: 'notReady' as const }));
      world.pleg();
      world.run(60_000);
      if (world.running().includes('i')) world.exit('i', 0);
      world.run(30_000);
      end(world);
      world.run(60_000);
    },
  );
  live(pod({ containers: [web('c', { image: 'bad:1' }), web('d', { image: 'UPPER' })] }), (world) => {
    world.answers['image.Pull'] = () => ({ error: { code: 'NotFound', message: 'x' } });
    world.begin(null, false);
    world.run(25_000);
  });
  for (const slow of [
    'image.Pull',
    'host.EnsurePodCgroup',
    'cri.StartContainer',
    'cri.StopPodSandbox',
    'host.TearDownPod',
    'cri.RemoveContainer',
    'host.RemovePodCgroup',
  ] as const) {
    live(pod({ containers: [web('c', { image: 'far:1' })] }), (world) => {
      world.answers[slow] = () => 'hang';
      world.begin(null, false);
      world.run(5_000);
      end(world);
      world.run(60_000);
    });
  }
  live(
    pod({ resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }], containers: [web('c', { image: 'img:1' })] }),
    (world) => {
      world.begin(null, false);
      world.run(5_000);
      end(world);
      world.run(60_000);
    },
  );
  const held = pod({ containers: [web('c')] });
  live(held, (world) => {
    const hold = { message: 'its plugin has not come back', until: world.at + 60_000 };
    world.send({
      type: 'pod.start',
      ...{ at: world.at, pod: held, source: 'file', observed: null, memory: null },
      ...{ runtimeReady: true, networkReady: true, hold },
    });
    world.run(500);
  });
  live(pod({ containers: [web('d', { image: 'UPPER' })] }), (world) => {
    world.begin(null, false);
    world.run(5_000);
  });
  live(pod({}), (world) => {
    world.answers['cri.StartContainer'] = () => ({ error: { code: 'Unknown', message: 'x' } });
    world.begin(null, false);
    world.run(5_000);
  });
  live(pod({ restartPolicy: 'OnFailure' }), (world) => {
    world.begin(null, false);
    for (const code of [1, 1, 0]) {
      world.run(12_000);
      world.exit('c', code);
      world.run(2_000);
    }
    world.run(5_000);
  });
  return reached;
}
