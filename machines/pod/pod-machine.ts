import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import type { EnterEvent } from '../machine-step/move.ts';
import { ANY_ENTER } from '../machine-step/move.ts';
import { entering, undeclared } from '../machine-step/move-table.ts';
import type { Pod } from '../protocol/api-types.ts';
import type { PodMessage, PodSource } from '../protocol/messages.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { advance } from './advance.ts';
import type { PodContext, PodStateName } from './pod-context.ts';
import { podMoves } from './pod-moves.ts';
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

const machine = setup({
  types: { context: {} as PodContext, events: {} as PodMessage | EnterEvent<PodStateName>, input: {} as PodInput },
  actions: { effect: () => undefined },
});

const advancing = { actions: act(advance) };

/** A row of the table of moves, as the transitions of its state. */
const on = (row: keyof typeof podMoves) => entering<PodStateName>('pod', podMoves[row]);

/**
 * One pod: syncing -> terminating -> terminated, never back. Every message is handled the same way: `advance` computes
 * the next context and effects from what is wanted and what was seen, and names the state in which the pod is by what it
 * now waits for. The chart goes there when `podMoves` allows it, else the step fails. Container, probe and volume
 * machines live in the context.
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
    'pod.unseen': advancing,
    'pod.sync': advancing,
    'pod.refresh': advancing,
    'clock.steppedBack': advancing,
    'runtime.state': advancing,
    'pull.turn': advancing,
    'pod.grants': advancing,
    'pod.health': advancing,
    'pod.admit': advancing,
    timer: advancing,
    'effect.done': advancing,
    'effect.failed': advancing,
    [ANY_ENTER]: undeclared<PodContext>(
      ({ pod }) => `pod ${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`,
    ),
  },
  states: {
    syncing: {
      description: 'The pod should run.',
      initial: 'waitingForRuntime',
      on: on('syncing'),
      states: {
        waitingForRuntime: { description: 'The container runtime does not answer or is not ready.' },
        waitingForNetwork: { description: "The runtime's network (CNI) is not ready, and the pod needs it." },
        waitingForPlugin: {
          description: 'A device plugin that was there before has not come back; the node judges the pod then.',
        },
        creatingCgroup: { description: "The pod's cgroup is being made." },
        mountingVolumes: { description: 'The volumes are being set up.' },
        stoppingOldSandbox: {
          description: 'The sandbox changed: what runs in the old one is stopped before a new one is made.',
        },
        preparingClaims: { description: 'Drivers prepare the devices of its ResourceClaims.' },
        creatingSandbox: { description: 'The sandbox is being made, and its address is waited for.' },
        pullingImage: { description: 'An image is being pulled.' },
        imageBackOff: { description: 'An image could not be pulled; the next try waits for a delay that grows.' },
        initializing: { description: 'The init containers run, one after the other.' },
        startingContainers: { description: 'A container is on its way from image to running.' },
        retryingStart: { description: 'A container could not be started; the next try follows after a pause.' },
        crashLoopBackOff: { description: 'A container ended and is started again after a delay that grows.' },
        stoppingContainers: {
          description: 'A container is stopped while the pod goes on: a probe failed, or its definition changed.',
        },
        waitingForStartupProbe: { description: 'Containers run, but their startup probe has not succeeded yet.' },
        waitingForReadiness: { description: 'Containers run, but their readiness probe does not succeed.' },
        running: { description: 'All that should run runs and is ready.' },
      },
    },
    terminating: {
      description: 'Its containers and its sandbox are stopped.',
      initial: 'stoppingContainers',
      on: on('terminating'),
      states: {
        runningPreStop: { description: 'A preStop hook runs, within the grace period.' },
        stoppingContainers: {
          description: 'Containers are being stopped: SIGTERM, and SIGKILL when the grace period is over.',
        },
        stoppingSandbox: { description: 'The runtime takes down sandbox and network.' },
        unpreparingClaims: { description: 'Drivers take back the devices of its ResourceClaims.' },
      },
    },
    terminated: {
      description: 'Nothing of it runs.',
      initial: 'cleaningUp',
      states: {
        cleaningUp: {
          description: 'Volumes and cgroup are being removed.',
          on: on('terminated.cleaningUp'),
        },
        kept: {
          description: 'The pod has ended; its source still names it, so containers and logs stay for a look.',
          on: on('terminated.kept'),
        },
        removing: {
          description: 'Containers, sandboxes and logs are being removed.',
          on: on('terminated.removing'),
        },
        finished: { type: 'final', description: 'Nothing of the pod is left on the node.' },
      },
    },
  },
});
