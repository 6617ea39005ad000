import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import type { Pod } from '../protocol/api-types.ts';
import type { PodMessage, PodSource } from '../protocol/messages.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { advance } from './advance.ts';
import type { PodContext, PodFocus } from './pod-context.ts';

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

/** The chart follows the context: one guarded way into each state, and no way back from a later phase. */
function follow<const T extends readonly PodFocus[]>(...targets: T) {
  return targets.map((target) => ({
    guard: ({ context }: { context: PodContext }) => context.focus === target,
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
 * One pod: syncing -> terminating -> terminated, never back (C2). Every message is handled the same way:
 * `advance` computes the next context and effects from what is wanted and what was seen, and the chart moves
 * to the state that names what the pod now waits for. Container and probe machines live in the context.
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
    'runtime.state': advancing,
    timer: advancing,
    'effect.done': advancing,
    'effect.failed': advancing,
  },
  states: {
    /** The pod should run. */
    syncing: {
      initial: 'waitingForRuntime',
      states: {
        waitingForRuntime: { always: follow(...without(SYNCING, 'syncing.waitingForRuntime')) },
        waitingForNetwork: { always: follow(...without(SYNCING, 'syncing.waitingForNetwork')) },
        creatingCgroup: { always: follow(...without(SYNCING, 'syncing.creatingCgroup')) },
        mountingVolumes: { always: follow(...without(SYNCING, 'syncing.mountingVolumes')) },
        stoppingOldSandbox: { always: follow(...without(SYNCING, 'syncing.stoppingOldSandbox')) },
        creatingSandbox: { always: follow(...without(SYNCING, 'syncing.creatingSandbox')) },
        pullingImage: { always: follow(...without(SYNCING, 'syncing.pullingImage')) },
        imageBackOff: { always: follow(...without(SYNCING, 'syncing.imageBackOff')) },
        initializing: { always: follow(...without(SYNCING, 'syncing.initializing')) },
        startingContainers: { always: follow(...without(SYNCING, 'syncing.startingContainers')) },
        retryingStart: { always: follow(...without(SYNCING, 'syncing.retryingStart')) },
        crashLoopBackOff: { always: follow(...without(SYNCING, 'syncing.crashLoopBackOff')) },
        stoppingContainers: { always: follow(...without(SYNCING, 'syncing.stoppingContainers')) },
        waitingForStartupProbe: { always: follow(...without(SYNCING, 'syncing.waitingForStartupProbe')) },
        waitingForReadiness: { always: follow(...without(SYNCING, 'syncing.waitingForReadiness')) },
        running: { always: follow(...without(SYNCING, 'syncing.running')) },
      },
      always: follow(...TERMINATING, ...TERMINATED),
    },
    /** Its containers and its sandbox are stopped. */
    terminating: {
      initial: 'stoppingContainers',
      states: {
        runningPreStop: { always: follow(...without(TERMINATING, 'terminating.runningPreStop')) },
        stoppingContainers: { always: follow(...without(TERMINATING, 'terminating.stoppingContainers')) },
        stoppingSandbox: { always: follow(...without(TERMINATING, 'terminating.stoppingSandbox')) },
      },
      always: follow(...TERMINATED),
    },
    /** Nothing of it runs. */
    terminated: {
      initial: 'cleaningUp',
      states: {
        cleaningUp: { always: follow(...without(TERMINATED, 'terminated.cleaningUp')) },
        kept: { always: follow('terminated.removing', 'terminated.finished') },
        removing: { always: follow('terminated.finished') },
        finished: { type: 'final' },
      },
    },
  },
});

function without<const T extends readonly PodFocus[]>(all: T, one: PodFocus): PodFocus[] {
  return all.filter((f) => f !== one);
}
