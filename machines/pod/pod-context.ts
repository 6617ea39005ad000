import type { AnyMachineSnapshot } from 'xstate';
import type { Place } from '../machine-step/step.ts';
import type { ContainerContext } from '../container/container-context.ts';
import type { ProbeContext } from '../probe/probe-context.ts';
import type { Pod, PodStatus } from '../protocol/api-types.ts';
import type { SandboxConfig } from '../protocol/cri-shapes.ts';
import type { PodMemory } from '../protocol/memory.ts';
import type { PodSource } from '../protocol/messages.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import type { ObservedPod } from '../protocol/observed.ts';

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

/** Why and since when a pod terminates. Once set it is never taken back (C2). */
export interface Termination {
  reason: string;
  message: string;
  since: number;
  graceSeconds: number;
  /** Its source gave it up: when it is terminated, nothing of it is kept. */
  deletedFromSource: boolean;
  /** Phase that the pod ends in when its containers do not decide it (`Failed` for evictions and deadlines). */
  phase: 'Failed' | null;
}

/** A pod machine's memory; plain JSON, so that it can be journaled, restored and shown. */
export interface PodContext {
  settings: NodeSettings;
  uid: string;
  pod: Pod;
  source: PodSource | 'orphan';
  runtimeReady: boolean;
  networkReady: boolean;
  /** The runtime's view, with the outcomes of own calls merged in. */
  observed: ObservedPod | null;
  /** When an own call last told something of a sandbox or container id: older observations do not count. */
  fresh: Record<string, number>;
  /** Container machines by name. */
  containers: Record<string, Place<ContainerContext>>;
  /** Probe machines by `<container>/<kind>`. */
  probes: Record<string, Place<ProbeContext>>;
  /** Containers that ran before this agent (or this worker) took them over. */
  adopted: string[];
  tasks: Record<string, Task>;
  /** Number of tasks started so far: makes keys unique. */
  seq: number;
  volumePaths: Record<string, string> | null;
  /** An API object that the volumes show has changed since they were last set up. */
  volumesStale: boolean;
  sandboxConfig: SandboxConfig | null;
  /** Termination messages by container id. */
  messages: Record<string, string>;
  startedAt: number;
  termination: Termination | null;
  /** Everything of the pod is cleaned; the actor has ended. */
  finished: boolean;
  /** Nested state that the chart moves to, and why, in words. */
  focus: PodFocus;
  why: string;
  status: PodStatus | null;
  /** Fingerprint of the last published report, so that only changes are told. */
  reported: string;
}

/** States of the pod chart, as dotted paths; each names what the pod waits for. */
export type PodFocus =
  | 'syncing.waitingForRuntime'
  | 'syncing.waitingForNetwork'
  | 'syncing.creatingCgroup'
  | 'syncing.mountingVolumes'
  | 'syncing.stoppingOldSandbox'
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
  | 'terminated.cleaningUp'
  | 'terminated.kept'
  | 'terminated.removing'
  | 'terminated.finished';

/** A state of the chart and the reason in words. */
export interface Focused {
  focus: PodFocus;
  why: string;
}

/** A pod machine's snapshot as the host holds it between steps. */
export type PodSnapshot = AnyMachineSnapshot & { context: PodContext };

/** Memory before anything happened. */
export const emptyMemory: PodMemory = { containers: {}, probes: {}, messages: {} };
