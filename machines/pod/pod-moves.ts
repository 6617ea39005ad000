import type { MoveTable } from '../machine-step/move-table.ts';
import type { PodStateName } from './pod-context.ts';

/** What a pod that should run waits for may change with each message, from anything to anything else: the runtime and the user see to that. */
const syncing = {
  'syncing.waitingForRuntime': 'the container runtime went away, or is not ready any more',
  'syncing.waitingForNetwork': 'the runtime is there, its network is not, and no sandbox is left',
  'syncing.waitingForPlugin': 'the node has not judged it: its device plugin was there before, and is not yet',
  'syncing.creatingCgroup': 'the runtime is there, or the definition changed: limits are set first',
  'syncing.mountingVolumes': 'the runtime is there, or the definition changed: volumes are set up first',
  'syncing.stoppingOldSandbox': 'the sandbox was lost or does not fit any more, and containers run in it',
  'syncing.preparingClaims': 'cgroup and volumes are there, no sandbox is, and it uses ResourceClaims',
  'syncing.creatingSandbox': 'cgroup, volumes and claims are there, and no sandbox is',
  'syncing.pullingImage': 'an image is not on the node, or has to be pulled each time',
  'syncing.imageBackOff': 'the pull of an image failed, or its delay still runs',
  'syncing.initializing': 'the sandbox is there, and an init container has not ended yet',
  'syncing.startingContainers': 'an image is there, a delay is over, or a container is to be made anew',
  'syncing.retryingStart': 'a container could not be made or started',
  'syncing.crashLoopBackOff': 'a container that is to be started again ended lately',
  'syncing.stoppingContainers': 'a liveness or startup probe failed, or the definition of a container changed',
  'syncing.waitingForStartupProbe': 'all containers run, one has not passed its startup probe',
  'syncing.waitingForReadiness': 'all containers run and have started, one is not ready',
  'syncing.running': 'all that should run runs and is ready',
} as const;

const ending = {
  'terminating.runningPreStop':
    'it is to end: it was deleted, evicted, outlived its deadline, or nothing is left to run',
  'terminating.stoppingContainers':
    'it is to end: it was deleted, evicted, outlived its deadline, or nothing is left to run',
  'terminating.stoppingSandbox': 'no container of it runs',
  'terminating.unpreparingClaims': 'containers and sandboxes have stopped, and it uses ResourceClaims',
  'terminated.cleaningUp': 'containers and sandboxes have stopped, and how they ended was read',
} as const;

/**
 * The moves of a pod: syncing -> terminating -> terminated, never back. Volumes and cgroup are gone before it is kept, removed or
 * finished, and nothing of it is left when it is finished.
 */
export const podMoves = {
  syncing: { ...syncing, ...ending },
  terminating: ending,
  'terminated.cleaningUp': {
    'terminated.kept': 'volumes and cgroup are gone, and its source still names it',
    'terminated.removing': 'its source does not name it any more',
    'terminated.finished': 'nothing of it is left, or its source names it again',
  },
  'terminated.kept': {
    'terminated.removing': 'its source does not name it any more',
    'terminated.finished': 'nothing of it is left, or its source names it again',
  },
  'terminated.removing': { 'terminated.finished': 'nothing of it is left, or its source names it again' },
} as const satisfies MoveTable<PodStateName>;
