import { graceEnd } from '../values/grace-end.ts';
import type { PodStateName } from '../pod/pod-context.ts';
import { lackingImage } from '../pod/awaited-images.ts';
import { pullOfVolume, volumePullWords } from '../pod/pull-turns.ts';
import { readyOf, startedOf } from '../pod/readiness.ts';
import { containerReason } from './container-reasons.ts';
import { endOf } from './end-reasons.ts';
import type { Cause } from './explanation.ts';
import { nodeCause } from './node-reasons.ts';
import { probeReason } from './probe-reasons.ts';
import { resizeCauses } from './resize-reasons.ts';
import { containerState, failedText, failureOf, taskReason } from './view.ts';
import type { Reason, View } from './view.ts';
import { volumeCauses, waitCauses } from './volume-reasons.ts';
import { short } from './words.ts';
import { moment, span } from '../values/spoken-time.ts';

type Explainer = (view: View) => Reason;

/** Why a pod is in its state: one entry for each state of the pod chart; the compiler asks for all of them. */
export const POD_REASONS: Readonly<Record<PodStateName, Explainer>> = {
  'syncing.waitingForRuntime': ({ history, node }) => ({
    causes: [
      { at: history.runtime.at, text: 'the container runtime does not answer or is not ready', kind: 'runtime' },
      ...ofNode(node),
    ],
  }),
  'syncing.waitingForNetwork': ({ history, node }) => ({
    causes: [
      {
        at: history.network.at,
        text: "the runtime's network is not ready: no CNI configuration, or its plugin is not up",
        kind: 'network',
      },
      ...ofNode(node),
      { at: 0, text: 'the pod has no sandbox yet and does not use the network of the node', kind: 'config' },
    ],
  }),
  'syncing.creatingCgroup': (view) => taskReason(view, 'cgroup', "making the pod's cgroup", 'node') ?? looking(view),
  'syncing.mountingVolumes': (view) => {
    const reason = taskReason(view, 'volumes', 'setting up the volumes', 'volume') ?? looking(view);
    return { ...reason, causes: [...reason.causes, ...waitCauses(view), ...volumeCauses(view)] };
  },
  'syncing.stoppingOldSandbox': (view) => {
    const stops = tasksNamed(view, 'sandbox.stop/').flatMap(
      (name) => taskReason(view, name, 'stopping the old sandbox', 'sandbox') ?? [],
    );
    const stopping = ofContainers(view, (state) => state.startsWith('stopping.'));
    const first = stops[0] ?? stopping;
    return {
      causes: [
        ...(first?.causes ?? []),
        {
          at: view.history.state.at,
          text: 'its sandbox is gone or has changed: what ran in it ends first',
          kind: 'sandbox',
        },
      ],
      ...(first?.next !== undefined && { next: first.next }),
    };
  },
  'syncing.waitingForPlugin': ({ context, history }) => ({
    causes: [
      {
        at: history.state.at,
        text: `${context.hold?.message ?? 'a device plugin has not come back'}; it was there before, and nothing of the pod is started meanwhile`,
        kind: 'admission',
      },
    ],
    ...(context.hold && { next: { at: context.hold.until, what: 'the pod is judged without it' } }),
  }),
  'syncing.preparingClaims': (view) =>
    taskReason(view, 'claims', 'preparing its ResourceClaims (NodePrepareResources)', 'node') ?? looking(view),
  'syncing.creatingSandbox': (view) => {
    const address = tasksNamed(view, 'sandbox.status/').flatMap(
      (name) => taskReason(view, name, "asking for the sandbox's address", 'network') ?? [],
    )[0];
    return address ?? taskReason(view, 'sandbox.run', 'making the sandbox (RunPodSandbox)', 'sandbox') ?? looking(view);
  },
  'syncing.pullingImage': (view) =>
    ofImageVolume(view) ?? ofContainers(view, (state) => state === 'starting.pullingImage') ?? looking(view),
  'syncing.imageBackOff': (view) => ofContainers(view, (state) => state === 'starting.imageBackOff') ?? looking(view),
  'syncing.initializing': (view) => {
    const busy = ofContainers(
      view,
      (state, kind) => kind !== 'regular' && kind !== 'ephemeral' && /^(starting\.|running$)/.test(state),
      'last',
    );
    const reason = busy ?? ofContainers(view, (state) => state.startsWith('starting.')) ?? looking(view);
    return {
      ...reason,
      causes: [
        ...reason.causes,
        { at: 0, text: 'init containers run one after the other, before all others', kind: 'config' },
      ],
    };
  },
  'syncing.startingContainers': (view) => ofContainers(view, (state) => state.startsWith('starting.')) ?? looking(view),
  'syncing.retryingStart': (view) =>
    ofContainers(view, (state) => state === 'retrying' || state === 'inDoubt') ?? looking(view),
  'syncing.crashLoopBackOff': (view) => ofContainers(view, (state) => state === 'backingOff') ?? looking(view),
  'syncing.stoppingContainers': (view) => {
    const reason = ofContainers(view, (state) => state.startsWith('stopping.')) ?? looking(view);
    return { ...reason, causes: [...reason.causes, ...probeCauses(view, 'liveness'), ...probeCauses(view, 'startup')] };
  },
  'syncing.waitingForStartupProbe': (view) =>
    ofProbes(view, 'startup', (owner) => !startedOf(view.context, owner)) ?? looking(view),
  'syncing.waitingForReadiness': (view) =>
    ofProbes(view, 'readiness', (owner) => !readyOf(view.context, owner)) ?? looking(view),
  'syncing.running': (view) => {
    const alive = view.specs.filter((s) => containerState(view, s.container.name) === 'running');
    const causes: Cause[] = alive.flatMap((s) => containerReason(view, s.container.name).causes);
    return {
      causes: [
        {
          at: view.history.state.at,
          text: 'all that should run runs and is ready: it waits for nothing',
          kind: 'container',
        },
        ...resizeCauses(view),
        ...causes,
      ],
    };
  },
  'terminating.runningPreStop': (view) => terminating(view, (state) => state === 'stopping.preStop'),
  'terminating.stoppingContainers': (view) => terminating(view, (state) => state.startsWith('stopping.')),
  'terminating.stoppingSandbox': (view) => {
    const stops = tasksNamed(view, 'sandbox.stop/').flatMap(
      (name) => taskReason(view, name, 'stopping the sandbox (StopPodSandbox)', 'sandbox') ?? [],
    );
    const reading = tasksNamed(view, 'message/').length > 0;
    const first: Reason = stops[0] ?? {
      causes: [
        {
          at: view.history.state.at,
          text: reading
            ? 'the termination messages of its containers are read'
            : 'the runtime takes down network and sandbox',
          kind: 'sandbox',
        },
      ],
    };
    return { ...first, causes: [...first.causes, ...endOf(view)] };
  },
  'terminating.unpreparingClaims': (view) => {
    const first = taskReason(view, 'claims.back', 'giving its ResourceClaims back (NodeUnprepareResources)', 'node');
    const reason = first ?? looking(view);
    return { ...reason, causes: [...reason.causes, ...endOf(view)] };
  },
  'terminated.cleaningUp': (view) => {
    const setups = ['volumes', 'volumes.refresh', 'cgroup'].filter(
      (name) => view.context.tasks[name]?.state === 'running',
    );
    const first: Reason =
      setups.length > 0
        ? {
            causes: [
              {
                at: view.history.state.at,
                text: `${setups.join(' and ')}: still being set up, to be removed right after`,
                kind: 'volume',
              },
            ],
          }
        : (taskReason(view, 'teardown', 'removing volumes and folders', 'volume') ??
          taskReason(view, 'cgroup.remove', "removing the pod's cgroup", 'node') ??
          looking(view));
    return { ...first, causes: [...first.causes, ...waitCauses(view), ...volumeCauses(view), ...endOf(view)] };
  },
  'terminated.kept': (view) => ({
    causes: [
      ...endOf(view),
      {
        at: 0,
        text: 'its source still names it: containers and logs stay for a look until it does not',
        kind: 'source',
      },
    ],
  }),
  'terminated.removing': (view) => {
    const names = [
      ...tasksNamed(view, 'container.remove/'),
      ...tasksNamed(view, 'sandbox.remove/'),
      ...tasksNamed(view, 'logs.remove'),
    ];
    const first = names.flatMap(
      (name) =>
        taskReason(
          view,
          name,
          `removing ${name.startsWith('container') ? 'a container' : name.startsWith('sandbox') ? 'a sandbox' : 'its logs'}`,
          'container',
        ) ?? [],
    )[0];
    const reason = first ?? {
      causes: [
        {
          at: view.history.state.at,
          text: 'containers, sandboxes and logs are being removed',
          kind: 'container' as const,
        },
      ],
    };
    return { ...reason, causes: [...reason.causes, ...endOf(view)] };
  },
  'terminated.finished': (view) => ({
    causes: [
      {
        at: view.history.finishedAt || view.history.state.at,
        text: 'nothing of it is left on the node',
        kind: 'container',
      },
      ...endOf(view),
    ],
  }),
};

function ofNode(node: View['node']): Cause[] {
  const cause = nodeCause(node);
  return cause === null ? [] : [cause];
}

function terminating(view: View, which: (state: string) => boolean): Reason {
  const { termination } = view.context;
  const reason: Reason = ofContainers(view, which) ??
    strangers(view) ?? {
      causes: [{ at: view.history.state.at, text: 'its containers are being stopped', kind: 'termination' }],
    };
  const out: Cause[] = [...reason.causes, ...endOf(view)];
  if (termination === null) return { ...reason, causes: out };
  const ends = graceEnd(termination);
  out.push({
    at: termination.since,
    text: `the pod's grace period of ${span(termination.graceSeconds * 1000)} ends at ${moment(ends)}`,
    kind: 'termination',
  });
  return { causes: out, next: reason.next ?? { at: ends, what: 'what still runs is killed (SIGKILL)' } };
}

/** Containers that no spec names are stopped by tasks of the pod. */
function strangers(view: View): Reason | undefined {
  return tasksNamed(view, 'container.stop/').flatMap(
    (name) => taskReason(view, name, 'stopping a container that its spec does not name', 'container') ?? [],
  )[0];
}

/** A container lacks nothing but the image of a volume: in the words of the pod's own `why`. */
function ofImageVolume(view: View): Reason | undefined {
  const { context, history } = view;
  const lacking = lackingImage(context);
  if (lacking === null) return undefined;
  const { container, volume } = lacking;
  const told = pullOfVolume(context, volume);
  const begun = history.tasks[`imagePull/${volume}`] ?? history.state.at;
  const at = told === undefined ? begun : told.begunAt || told.since;
  const causes: Cause[] = [{ at, text: volumePullWords(context, container, volume), kind: 'image' }];
  const failure = failureOf(view, `task/imagePull/${volume}`);
  if (failure !== undefined)
    causes.push({ at: failure.lastAt, text: failedText(view, 'before, PullImage', failure), kind: 'image' });
  return { causes };
}

function ofContainers(
  view: View,
  which: (state: string, kind: string) => boolean,
  take: 'first' | 'last' = 'first',
): Reason | undefined {
  const hits = view.specs.filter((s) => which(containerState(view, s.container.name), s.kind));
  const chosen = take === 'first' ? hits : hits.toReversed();
  return joined(chosen.map((s) => containerReason(view, s.container.name)));
}

function ofProbes(
  view: View,
  kind: 'startup' | 'readiness',
  which: (owner: View['specs'][number]) => boolean,
): Reason | undefined {
  const owners = view.specs.filter((s) => containerState(view, s.container.name) === 'running' && which(s));
  return joined(owners.flatMap((s) => probeReason(view, s.container.name, kind) ?? []));
}

/** Causes of several that are waited for, and the step that comes first. */
function joined(reasons: readonly Reason[]): Reason | undefined {
  if (reasons.length === 0) return undefined;
  const [next] = reasons.flatMap((r) => r.next ?? []).sort((a, b) => a.at - b.at);
  return { causes: reasons.flatMap((r) => r.causes), ...(next !== undefined && { next }) };
}

function probeCauses(view: View, kind: 'liveness' | 'startup'): Cause[] {
  return view.specs.flatMap((s) => {
    const { name } = s.container;
    const { kill } = view.context.containers[name]?.context ?? { kill: null };
    const failure = failureOf(view, `probe/${name}/${kind}`);
    if (kill?.reason !== kind || failure === undefined) return [];
    return [
      { at: failure.lastAt, text: failedText(view, `${name}: its ${kind} probe`, failure), kind: 'probe' as const },
    ];
  });
}

function tasksNamed(view: View, prefix: string): string[] {
  return Object.entries(view.context.tasks)
    .filter(([name, task]) => name.startsWith(prefix) && task.state !== 'done')
    .map(([name]) => name);
}

/** A state whose cause has just passed: the machine looks again with its next message. */
function looking(view: View): Reason {
  const said = short(view.mask(view.context.why));
  return { causes: [{ at: view.history.state.at, text: said === '' ? 'the next look decides' : said, kind: 'agent' }] };
}
