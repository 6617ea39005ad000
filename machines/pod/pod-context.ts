import type { AnyMachineSnapshot } from 'xstate';
import type { Place } from '../machine-step/step.ts';
import type { ContainerContext } from '../container/container-context.ts';
import type { ProbeContext } from '../probe/probe-context.ts';
import type { Pod, PodStatus } from '../protocol/api-types.ts';
import type { SandboxConfig } from '../protocol/cri-shapes.ts';
import type { PodMemory, ResizeMemory, Termination } from '../protocol/memory.ts';
import type { PodSource } from '../protocol/messages.ts';
import type { PodGrants } from '../protocol/grants.ts';
import type { Hold } from '../protocol/hold.ts';
import type { PodHealth } from '../protocol/resource-health.ts';
import type { HostResolver, NodeSettings } from '../protocol/node-settings.ts';
import type { ObservedPod } from '../protocol/observed.ts';
import type { PodWarning } from '../sandbox-config/dns.ts';
import type { VolumeTraits } from '../protocol/volume-traits.ts';
import type { ToldPull } from '../images/told-pull.ts';
import type { ImageVolume } from './image-volume.ts';
import type { ResizeStep } from '../resize/resize-plan.ts';
import type { VolumeContext } from '../volumes/volume-context.ts';

/**
 * A piece of work that is wanted until it is done: the pod asks for it at each step, and it is started once,
 * and again after a failure when `retryAt` has come.
 */
export interface Task {
  state: 'running' | 'done' | 'failed';
  key: string;
  failures: number;
  /** ms since the epoch; 0 when not failed. */
  retryAt: number;
  error: { code: string; message: string } | null;
}

/** A pod's resources on their way from allocated to in force (KEP-1287). */
export interface PodResize extends ResizeMemory {
  /** Containers that are restarted for it, until they are made anew. */
  restarting: string[];
  /** The pod's cgroup was not compared with the allocation yet. */
  unsettled: boolean;
  /** Calls that are left, null before they are known; the first is under way while task `resize` runs. */
  steps: ResizeStep[] | null;
}

/** A pod machine's memory; plain JSON, so that it can be journaled, restored and shown. */
export interface PodContext {
  settings: NodeSettings;
  uid: string;
  pod: Pod;
  source: PodSource | 'orphan';
  runtimeReady: boolean;
  networkReady: boolean;
  /** Why its network is not ready, in kubelet's words; absent when it is. */
  networkProblem?: string;
  /** The runtime's view, with the outcomes of own calls merged in. */
  observed: ObservedPod | null;
  /** When an own call last told something of a sandbox or container id: older observations do not count. */
  fresh: Record<string, number>;
  /** Container machines by name. */
  containers: Record<string, Place<ContainerContext>>;
  /** Probe machines by `<container>/<kind>`. */
  probes: Record<string, Place<ProbeContext>>;
  /** Volume machines by name. They follow what the pod decides; nothing is decided by them. */
  volumes: Record<string, Place<VolumeContext>>;
  /** Containers that ran before this agent (or this worker) took them over. */
  adopted: string[];
  tasks: Record<string, Task>;
  /** Number of tasks started so far: makes keys unique. */
  seq: number;
  volumePaths: Record<string, string> | null;
  /** What containers must know of the volumes beside that; absent when that is nothing. */
  volumeTraits?: VolumeTraits;
  /** An API object that the volumes show has changed since they were last set up. */
  volumesStale: boolean;
  /** What became of the images of its image volumes, by volume; absent until one of them was looked for. */
  imageVolumes?: Record<string, ImageVolume>;
  /** Pulls that had to wait in the node's queue, by the key of their effect, until they end; absent when there are none. */
  pullTurns?: Record<string, ToldPull>;
  /** The runtime fails to say what it holds of the pod: since when, and why. Absent when it does not fail. */
  unseen?: { since: number; why: string };
  sandboxConfig: SandboxConfig | null;
  /** The node's resolver file, read for the sandbox that is being made; absent otherwise. */
  resolver?: HostResolver;
  /** What was wrong with its resolver settings when its sandbox was made; absent where the resolver file that the agent began with tells. */
  resolverWarnings?: PodWarning[];
  /** Termination messages by container id. */
  messages: Record<string, string>;
  startedAt: number;
  /** Containers that were stopped so that they start again, with the id of the one that was stopped; absent when there are none. */
  startAgain?: Record<string, string>;
  termination: Termination | null;
  /** A resize in place that is under way; absent when there is none. */
  resize?: PodResize;
  /** What its containers have of the node's CPUs and memory; absent where those are not given away. */
  grants?: PodGrants;
  /** The node's addresses by its object; absent: those of the settings. */
  nodeIPs?: readonly string[];
  /** The node has not judged it yet; absent when it has. */
  hold?: Hold;
  /** How the devices that its containers have are; absent where that is not told. */
  health?: PodHealth;
  /**
   * CPUs that containers are known to be on, by name. `id` '': of the container that is being made, whose predecessor was `before`.
   */
  cpus?: Record<string, { id: string; before?: string; cpus: string }>;
  /** Everything of the pod is cleaned; the actor has ended. */
  finished: boolean;
  /** The state of the pod as a dotted path (under this name journals have it), and why it is in it, in words. */
  focus: PodStateName;
  why: string;
  status: PodStatus | null;
  /** Fingerprint of the last published report, so that only changes are told. */
  reported: string;
}

/** States of the pod chart, as dotted paths; each names what the pod waits for. What may follow what: pod-moves.ts. */
export type PodStateName =
  | 'syncing.waitingForRuntime'
  | 'syncing.waitingForNetwork'
  | 'syncing.waitingForPlugin'
  | 'syncing.creatingCgroup'
  | 'syncing.mountingVolumes'
  | 'syncing.stoppingOldSandbox'
  | 'syncing.preparingClaims'
  | 'syncing.creatingSandbox'
  | 'syncing.pullingImage'
  | 'syncing.imageBackOff'
  | 'syncing.initializing'
  | 'syncing.startingContainers'
  | 'syncing.retryingStart'
  | 'syncing.crashLoopBackOff'
  | 'syncing.stoppingContainers'
  | 'syncing.waitingForStartupProbe'
  | 'syncing.waitingForReadiness'
  | 'syncing.running'
  | 'terminating.runningPreStop'
  | 'terminating.stoppingContainers'
  | 'terminating.stoppingSandbox'
  | 'terminating.unpreparingClaims'
  | 'terminated.cleaningUp'
  | 'terminated.kept'
  | 'terminated.removing'
  | 'terminated.finished';

/** The state that a plan comes to, and the reason in words. */
export interface NextState {
  state: PodStateName;
  why: string;
}

/** A pod machine's snapshot as the host holds it between steps. */
export type PodSnapshot = AnyMachineSnapshot & { context: PodContext };

/** Memory before anything happened. */
export const emptyMemory: PodMemory = { containers: {}, probes: {}, messages: {} };
