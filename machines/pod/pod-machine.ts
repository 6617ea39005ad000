import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import { holdsWhen } from '../machine-step/hold-when.ts';
import type { Pod } from '../protocol/api-types.ts';
import type { PodMessage, PodSource } from '../protocol/messages.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { advance } from './advance.ts';
import type { PodContext, PodFocus } from './pod-context.ts';
import { bornVolumes } from './volume-children.ts';

/** What a pod machine is made from. */
export interface PodInput {
  pod: Pod;
  source: PodSource | 'orphan';
  settings: NodeSettings;
}

function initialContext({ pod, source, settings }: PodInput): PodContext {
  return {
    settings,
    uid: pod.metadata?.uid ?? '',
    pod,
    source,
    runtimeReady: false,
    networkReady: false,
    observed: null,
    fresh: {},
    containers: {},
    probes: {},
    volumes: bornVolumes(pod),
    adopted: [],
    tasks: {},
    seq: 0,
    volumePaths: null,
    volumesStale: false,
    sandboxConfig: null,
    messages: {},
    startedAt: 0,
    termination: null,
    finished: false,
    focus: 'syncing.waitingForRuntime',
    why: '',
    status: null,
    reported: '',
  };
}

const focusOf = ({ focus }: PodContext) => focus;

/** The chart follows the context: one guarded way into each state, and no way back from a later phase. */
function follow<const T extends readonly PodFocus[]>(...targets: T) {
  return targets.map((target) => ({
    guard: holdsWhen(focusOf, target),
    target: `#pod.${target}` as const,
  }));
}

const SYNCING = [
  'syncing.waitingForRuntime',
  'syncing.waitingForNetwork',
  'syncing.creatingCgroup',
  'syncing.mountingVolumes',
  'syncing.stoppingOldSandbox',
  'syncing.creatingSandbox',
  'syncing.pullingImage',
  'syncing.imageBackOff',
  'syncing.initializing',
  'syncing.startingContainers',
  'syncing.retryingStart',
  'syncing.crashLoopBackOff',
  'syncing.stoppingContainers',
  'syncing.waitingForStartupProbe',
  'syncing.waitingForReadiness',
  'syncing.running',
] as const;
const TERMINATING = [
  'terminating.runningPreStop',
  'terminating.stoppingContainers',
  'terminating.stoppingSandbox',
] as const;
const TERMINATED = ['terminated.cleaningUp', 'terminated.kept', 'terminated.removing', 'terminated.finished'] as const;

const machine = setup({
  types: { context: {} as PodContext, events: {} as PodMessage, input: {} as PodInput },
  actions: { effect: () => undefined },
});

const advancing = { actions: act(advance) };

/**
 * One pod: syncing -> terminating -> terminated, never back. Every message is handled the same way:
 * `advance` computes the next context and effects from what is wanted and what was seen, and the chart moves
 * to the state that names what the pod now waits for. Container, probe and volume machines live in the context.
 */
export const podMachine = machine.createMachine({
  id: 'pod',
  context: ({ input }) => initialContext(input),
  initial: 'syncing',
  on: {
    'pod.start': advancing,
    'pod.update': advancing,
    'pod.terminate': advancing,
    'pod.observed': advancing,
    'pod.sync': advancing,
    'pod.refresh': advancing,
    'clock.steppedBack': advancing,
    'runtime.state': advancing,
    'pull.turn': advancing,
    timer: advancing,
    'effect.done': advancing,
    'effect.failed': advancing,
  },
  states: {
    syncing: {
      description: 'The pod should run.',
      initial: 'waitingForRuntime',
      states: {
        waitingForRuntime: {
          description: 'The container runtime does not answer or is not ready.',
          always: follow(...without(SYNCING, 'syncing.waitingForRuntime')),
        },
        waitingForNetwork: {
          description: "The runtime's network (CNI) is not ready, and the pod needs it.",
          always: follow(...without(SYNCING, 'syncing.waitingForNetwork')),
        },
        creatingCgroup: {
          description: "The pod's cgroup is being made.",
          always: follow(...without(SYNCING, 'syncing.creatingCgroup')),
        },
        mountingVolumes: {
          description: 'The volumes are being set up.',
          always: follow(...without(SYNCING, 'syncing.mountingVolumes')),
        },
        stoppingOldSandbox: {
          description: 'The sandbox changed: what runs in the old one is stopped before a new one is made.',
          always: follow(...without(SYNCING, 'syncing.stoppingOldSandbox')),
        },
        creatingSandbox: {
          description: 'The sandbox is being made, and its address is waited for.',
          always: follow(...without(SYNCING, 'syncing.creatingSandbox')),
        },
        pullingImage: {
          description: 'An image is being pulled.',
          always: follow(...without(SYNCING, 'syncing.pullingImage')),
        },
        imageBackOff: {
          description: 'An image could not be pulled; the next try waits for a delay that grows.',
          always: follow(...without(SYNCING, 'syncing.imageBackOff')),
        },
        initializing: {
          description: 'The init containers run, one after the other.',
          always: follow(...without(SYNCING, 'syncing.initializing')),
        },
        startingContainers: {
          description: 'A container is on its way from image to running.',
          always: follow(...without(SYNCING, 'syncing.startingContainers')),
        },
        retryingStart: {
          description: 'A container could not be started; the next try follows after a pause.',
          always: follow(...without(SYNCING, 'syncing.retryingStart')),
        },
        crashLoopBackOff: {
          description: 'A container ended and is started again after a delay that grows.',
          always: follow(...without(SYNCING, 'syncing.crashLoopBackOff')),
        },
        stoppingContainers: {
          description: 'A container is stopped while the pod goes on: a probe failed, or its definition changed.',
          always: follow(...without(SYNCING, 'syncing.stoppingContainers')),
        },
        waitingForStartupProbe: {
          description: 'Containers run, but their startup probe has not succeeded yet.',
          always: follow(...without(SYNCING, 'syncing.waitingForStartupProbe')),
        },
        waitingForReadiness: {
          description: 'Containers run, but their readiness probe does not succeed.',
          always: follow(...without(SYNCING, 'syncing.waitingForReadiness')),
        },
        running: {
          description: 'All that should run runs and is ready.',
          always: follow(...without(SYNCING, 'syncing.running')),
        },
      },
      always: follow(...TERMINATING, ...TERMINATED),
    },
    terminating: {
      description: 'Its containers and its sandbox are stopped.',
      initial: 'stoppingContainers',
      states: {
        runningPreStop: {
          description: 'A preStop hook runs, within the grace period.',
          always: follow(...without(TERMINATING, 'terminating.runningPreStop')),
        },
        stoppingContainers: {
          description: 'Containers are being stopped: SIGTERM, and SIGKILL when the grace period is over.',
          always: follow(...without(TERMINATING, 'terminating.stoppingContainers')),
        },
        stoppingSandbox: {
          description: 'The runtime takes down sandbox and network.',
          always: follow(...without(TERMINATING, 'terminating.stoppingSandbox')),
        },
      },
      always: follow(...TERMINATED),
    },
    terminated: {
      description: 'Nothing of it runs.',
      initial: 'cleaningUp',
      states: {
        cleaningUp: {
          description: 'Volumes and cgroup are being removed.',
          always: follow(...without(TERMINATED, 'terminated.cleaningUp')),
        },
        kept: {
          description: 'The pod has ended; its source still names it, so containers and logs stay for a look.',
          always: follow('terminated.removing', 'terminated.finished'),
        },
        removing: {
          description: 'Containers, sandboxes and logs are being removed.',
          always: follow('terminated.finished'),
        },
        finished: { type: 'final', description: 'Nothing of the pod is left on the node.' },
      },
    },
  },
});

function without<const T extends readonly PodFocus[]>(all: T, one: PodFocus): PodFocus[] {
  return all.filter((f) => f !== one);
}
