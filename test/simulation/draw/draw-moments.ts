import type { Random } from '../world/random.ts';
import type { Change, Fault, PodPlan } from './plan.ts';

const SECOND = 1_000;

/** Happenings that meet at one pod: what is done to it, and what goes wrong just then. */
export interface Moment {
  changes: Change[];
  faults: Fault[];
}

/** Calls and effects of a pod's way up and down, one of which does not come through while other things happen. */
const CALLS = [
  'RunPodSandbox',
  'StopPodSandbox',
  'StopPodSandbox',
  'PodSandboxStatus',
  'CreateContainer',
  'StartContainer',
  'StopContainer',
  'PullImage',
  'ImageStatus',
  'ExecSync',
  'ContainerStatus',
  'RemoveContainer',
  'ListPodSandbox',
] as const;
const HOST = [
  'host.EnsurePodCgroup',
  'host.SetUpVolumes',
  'host.SetUpVolumes',
  'host.PrepareContainer',
  'host.TearDownPod',
  'host.RemovePodCgroup',
  'host.ReadTerminationMessage',
] as const;

type Happening = (random: Random, pod: PodPlan, at: number, shards: number) => Change | Fault;

/** `from` and `for` of a fault that begins at a moment and lasts some seconds. */
const briefly = (random: Random, at: number, most = 60) => ({
  from: at,
  for: random.between(1, most) * SECOND,
});

const anyContainer = (random: Random, { spec }: PodPlan): string =>
  random.pickAny([...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name)) ?? 'main0';

const HAPPENINGS: [Happening, ...Happening[]] = [
  (_random, { key }, at) => ({ at, do: 'kill-sandbox', pod: key }),
  (_random, { key }, at) => ({ at, do: 'remove-sandbox', pod: key }),
  (random, { key, spec }, at) => ({
    at,
    do: 'resize',
    pod: key,
    container: random.pickAny(spec.containers.map(({ name }) => name)) ?? 'main0',
    cpu: random.pick(['5m', '20m', '50m']),
  }),
  (random, pod, at) => ({ at, do: 'volume', pod: pod.key, odd: random.chance(0.6) }),
  (random, pod, at) => ({
    at,
    do: 'kill',
    pod: pod.key,
    container: anyContainer(random, pod),
    code: random.pick([0, 1, 137]),
    reason: '',
  }),
  (random, { key }, at) => ({ at, do: 'delete', pod: key, grace: random.pick([null, 1, 10, 30]) }),
  (_random, { key }, at) => ({ at, do: 'deadline', pod: key, seconds: 1 }),
  (random, { key, spec }, at) => ({
    at,
    do: 'image',
    pod: key,
    container: random.pickAny([...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name)) ?? 'main0',
    image: random.pick([
      'there:1',
      'there:2',
      'registry/app:2',
      'registry/slow:1',
      'registry/none:1',
      'registry/NoName:1',
    ]),
  }),
  (_random, { key }, at) => ({ at, do: 'refresh', pod: key }),
  (_random, { key }, at) => ({ at, do: 'label', pod: key }),
  (random, _pod, at) => ({ kind: 'not-ready', condition: 'NetworkReady', ...briefly(random, at) }),
  (random, _pod, at) => ({ kind: 'not-ready', condition: 'NetworkReady', ...briefly(random, at) }),
  (random, _pod, at) => ({ kind: 'not-ready', condition: 'RuntimeReady', ...briefly(random, at, 20) }),
  (random, _pod, at) => ({ kind: 'runtime-restart', keepContainers: random.chance(0.6), ...briefly(random, at, 10) }),
  (random, _pod, at) => ({ kind: 'agent-crash', torn: false, journalLost: false, ...briefly(random, at, 5) }),
  (random, _pod, at, shards) => ({ kind: 'worker-crash', from: at, shard: random.between(0, shards - 1) }),
  (random, _pod, at) => ({
    kind: 'looks',
    how: random.pick(['late', 'reordered']),
    chance: random.pick([0.5, 1]),
    ...briefly(random, at),
  }),
  (random, _pod, at) => ({ kind: 'events', how: random.pick(['off', 'lost', 'late']), ...briefly(random, at) }),
  aimedCall,
  aimedCall,
  aimedCall,
  aimedHost,
  aimedHost,
];

function aimedCall(random: Random, _pod: PodPlan, at: number): Fault {
  return {
    kind: 'cri',
    how: random.pick(['fail', 'hang', 'lost', 'slow', 'slow']),
    rpcs: [random.pick([...CALLS] as [string, ...string[]])],
    chance: random.pick([0.5, 1]),
    ...briefly(random, at),
  };
}

function aimedHost(random: Random, _pod: PodPlan, at: number): Fault {
  return {
    kind: 'host',
    how: random.pick(['fail', 'lost', 'slow']),
    code: 'EIO',
    effects: [random.pick([...HOST] as [string, ...string[]])],
    chance: random.pick([0.5, 1]),
    ...briefly(random, at),
  };
}

/** Draws a moment of one of the pods, before `until`, ms: two to five things within seconds, where chance alone seldom brings them together. */
export function drawMoment(random: Random, pods: readonly PodPlan[], shards: number, until: number): Moment {
  const moment: Moment = { changes: [], faults: [] };
  const pod = random.pickAny(pods);
  if (pod === undefined) return moment;
  const begins = pod.at + (random.chance(0.5) ? random.between(0, 6_000) : random.between(0, 1_800) * SECOND);
  for (let i = random.between(2, 5); i > 0; i--) {
    const at = begins + random.between(0, random.pick([50, 3_000, 20_000]));
    // All of it has ended by then.
    if (at > until - 70 * SECOND) continue;
    const happening = random.pick(HAPPENINGS)(random, pod, at, shards);
    if ('do' in happening) moment.changes.push(happening);
    else moment.faults.push(happening);
  }
  return moment;
}
