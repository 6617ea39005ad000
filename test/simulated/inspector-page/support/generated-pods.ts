import type {
  EffectLine,
  Lane,
  PodLine,
  StepDetail,
  StepLine,
} from '../../../../actors/inspect/inspector/inspector-api.ts';

/** A pod as the fake inspector holds it: its line in the list and its steps, made when asked for. */
export interface GeneratedPod {
  line: PodLine;
  step(index: number): StepLine;
  detail(index: number): StepDetail;
}

const START = Date.parse('2026-03-01T09:00:00Z');

interface Act {
  message: string;
  from: Lane;
  summary: string;
  state: string;
  container: string;
  gap: number;
  effects: EffectLine[];
  answers?: { back: number; key: string; failed: boolean; error: string };
}

const effect = (type: string, key: string, to: Lane, summary: string): EffectLine => ({ type, key, to, summary });

/** From start to a crash and its back-off; repeated for longer histories. */
const LIFE: readonly Act[] = [
  {
    message: 'pod.start',
    from: 'sources',
    summary: 'from api',
    state: 'syncing.creatingCgroup',
    container: 'waiting',
    gap: 3,
    effects: [effect('host.CreateCgroup', 'task/cgroup/1', 'host', 'kubepods-burstable')],
  },
  {
    message: 'effect.done',
    from: 'host',
    summary: 'host.CreateCgroup',
    state: 'syncing.mountingVolumes',
    container: 'waiting',
    gap: 8,
    effects: [
      effect('host.SetUpVolumes', 'task/volumes/2', 'host', '2 volumes'),
      effect('cri.RunPodSandbox', 'task/sandbox/3', 'cri', 'attempt 0'),
    ],
    answers: { back: 1, key: 'task/cgroup/1', failed: false, error: '' },
  },
  {
    message: 'effect.done',
    from: 'host',
    summary: 'host.SetUpVolumes',
    state: 'syncing.creatingSandbox',
    container: 'waiting',
    gap: 14,
    effects: [],
    answers: { back: 1, key: 'task/volumes/2', failed: false, error: '' },
  },
  {
    message: 'effect.done',
    from: 'cri',
    summary: 'cri.RunPodSandbox 9f21c04b',
    state: 'syncing.pullingImage',
    container: 'starting.pullingImage',
    gap: 312,
    effects: [
      effect('image.Pull', 'container/web/4', 'images', 'registry.example/web:1.27'),
      effect('status.Publish', '', 'api', 'ContainerCreating'),
    ],
    answers: { back: 2, key: 'task/sandbox/3', failed: false, error: '' },
  },
  {
    message: 'effect.failed',
    from: 'images',
    summary: 'image.Pull web',
    state: 'syncing.imageBackOff',
    container: 'starting.imageBackOff',
    gap: 1840,
    effects: [
      effect('event.Record', '', 'api', 'Failed: not found'),
      effect('status.Publish', '', 'api', 'ErrImagePull'),
    ],
    answers: { back: 1, key: 'container/web/4', failed: true, error: 'not found: registry.example/web:1.27' },
  },
  {
    message: 'timer',
    from: 'timer',
    summary: 'back-off is over',
    state: 'syncing.pullingImage',
    container: 'starting.pullingImage',
    gap: 10_000,
    effects: [effect('image.Pull', 'container/web/5', 'images', 'registry.example/web:1.27')],
  },
  {
    message: 'effect.done',
    from: 'images',
    summary: 'image.Pull web',
    state: 'syncing.startingContainers',
    container: 'starting.creating',
    gap: 950,
    effects: [effect('cri.CreateContainer', 'container/web/6', 'cri', 'web')],
    answers: { back: 1, key: 'container/web/5', failed: false, error: '' },
  },
  {
    message: 'effect.done',
    from: 'cri',
    summary: 'cri.CreateContainer web',
    state: 'syncing.startingContainers',
    container: 'starting.started',
    gap: 61,
    effects: [effect('cri.StartContainer', 'container/web/7', 'cri', 'web')],
    answers: { back: 1, key: 'container/web/6', failed: false, error: '' },
  },
  {
    message: 'effect.done',
    from: 'cri',
    summary: 'cri.StartContainer web',
    state: 'syncing.waitingForReadiness',
    container: 'running',
    gap: 88,
    effects: [effect('status.Publish', '', 'api', 'Running')],
    answers: { back: 1, key: 'container/web/7', failed: false, error: '' },
  },
  {
    message: 'pod.observed',
    from: 'pleg',
    summary: 'web running',
    state: 'syncing.running',
    container: 'running',
    gap: 640,
    effects: [effect('status.Publish', '', 'api', 'Ready')],
  },
  {
    message: 'pod.sync',
    from: 'supervisor',
    summary: 'resync',
    state: 'syncing.running',
    container: 'running',
    gap: 60_000,
    effects: [],
  },
  {
    message: 'pod.observed',
    from: 'pleg',
    summary: 'web exited (137)',
    state: 'syncing.crashLoopBackOff',
    container: 'backingOff',
    gap: 4200,
    effects: [
      effect('event.Record', '', 'api', 'BackOff: restarting failed container'),
      effect('status.Publish', '', 'api', 'CrashLoopBackOff'),
    ],
  },
];

/** What makes a pod special. */
export interface PodWishes {
  uid: string;
  name: string;
  namespace?: string;
  steps?: number;
  /** Length of a text in the message of step 3. */
  bigMessage?: number;
}

/** Makes a pod whose steps go through {@link LIFE} again and again. */
export function generatePod(wishes: PodWishes): GeneratedPod {
  const { uid, name, namespace = 'default', steps = 8 } = wishes;
  const round = LIFE.reduce((sum, act) => sum + act.gap, 0);
  const timeOf = (index: number) => {
    let at = START + Math.floor(index / LIFE.length) * round;
    for (let i = 0; i <= index % LIFE.length; i++) at += LIFE[i]!.gap;
    return at;
  };
  const act = (index: number) => LIFE[index % LIFE.length]!;
  const startOf = (index: number) => index - (index % LIFE.length);
  const answeredBy = (index: number, key: string): number | undefined => {
    for (let i = index + 1; i < Math.min(startOf(index) + LIFE.length, pod.line.steps); i++) {
      if (act(i).answers?.key === key && key !== '') return i;
    }
    return undefined;
  };
  const pod: GeneratedPod = {
    line: {
      uid,
      namespace,
      name,
      source: 'api',
      state: act(steps - 1).state,
      phase: act(steps - 1).container === 'running' ? 'Running' : 'Pending',
      why: act(steps - 1).summary,
      since: timeOf(steps - 1),
      startedAt: START,
      restarts: Math.floor(steps / LIFE.length),
      containers: 2,
      ready: act(steps - 1).container === 'running' ? 2 : 0,
      gone: false,
      steps,
    },
    step(index) {
      const { message, from, summary, state, effects, answers } = act(index);
      return {
        index,
        at: timeOf(index),
        message,
        from,
        summary,
        before: index === 0 ? 'syncing.waitingForRuntime' : act(index - 1).state,
        after: state,
        effects: effects.map((e) => {
          const by = answeredBy(index, e.key);
          return by === undefined ? e : { ...e, answeredBy: by };
        }),
        ...(answers !== undefined && {
          answers: {
            index: index - answers.back,
            key: answers.key,
            ms: timeOf(index) - timeOf(index - answers.back),
            failed: answers.failed,
            error: answers.error,
          },
        }),
      };
    },
    detail(index) {
      const line = pod.step(index);
      const web = act(index).container;
      return {
        line,
        message: {
          type: line.message,
          at: line.at,
          ...(index === 3 && wishes.bigMessage !== undefined && { blob: 'x'.repeat(wishes.bigMessage) }),
        },
        effects: line.effects.map(({ type, key, summary }) => ({ type, key, params: { about: summary } })),
        machines: {
          pod: line.after,
          containers: { web, proxy: web === 'running' ? 'running' : 'waiting' },
          probes: { 'web/readiness': web === 'running' ? 'waiting' : 'idle' },
          volumes: { conf: 'mounted.upToDate' },
        },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'registry.example/web:1.27',
              ports: [{ containerPort: 8080 }],
              env: [{ name: 'MODE' }],
            },
            { name: 'proxy', image: 'registry.example/proxy:2.4' },
          ],
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 30,
          volumes: [{ name: 'config', configMap: { name: 'web' } }],
        },
        status: {
          phase: web === 'running' ? 'Running' : 'Pending',
          conditions: [
            { type: 'Initialized', status: 'True' },
            { type: 'Ready', status: web === 'running' ? 'True' : 'False' },
          ],
          containerStatuses: [
            {
              name: 'web',
              restartCount: Math.floor(index / LIFE.length),
              state: { [web === 'running' ? 'running' : 'waiting']: {} },
            },
          ],
          ...(index % LIFE.length > 2 && { podIP: '10.22.0.7' }),
        },
        context: {
          seq: index + 1,
          focus: line.after,
          tasks: { cgroup: { state: index > 0 ? 'done' : 'running' } },
          containers: { web: { value: web } },
        },
      };
    },
  };
  return pod;
}
