import type { ResourcesInForce } from './pod-level-resources.ts';
import type { RestartAll } from './restart-all.ts';
import type { Pod, PodStatus } from '../protocol/api-types.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import type { PodHealth } from '../protocol/resource-health.ts';
import type { ResizeMemory } from '../protocol/memory.ts';
import type { ObservedPod } from '../protocol/observed.ts';

/** What the pod machine decided about one container. */
export interface ContainerDecision {
  /**
   * Why it does not run, as `state.waiting`: `CrashLoopBackOff`, `ImagePullBackOff`, `CreateContainerConfigError` ...
   * Shown only while the container is to be started (again); a running or finally ended one keeps its own state.
   */
  waiting?: { reason: string; message: string };
  /** Outcome of the readiness probe, true without one. Counts only while the container runs and has started. */
  ready: boolean;
  /** Outcome of the startup probe, true without one. Counts only while the container runs. */
  started: boolean;
  /** It was stopped so that it starts again, and has ended: it is told as it was before. */
  endIsHidden?: boolean;
}

/** All that a pod's status is made of. Times are ms since the epoch. */
export interface StatusInput {
  pod: Pod;
  /** The status made before this one, null for the first: then `pod.status` is looked at. */
  previous: PodStatus | null;
  /** What the runtime holds; null when it was not seen yet, which is as good as nothing. */
  observed: ObservedPod | null;
  /** Prefix of container ids, e.g. `containerd`. */
  runtimeName: string;
  /** Addresses of the sandbox, kept by the machine after the sandbox is gone. */
  podIPs: readonly string[];
  /** By container name; a name that is missing has no probes and no waiting reason. */
  containers: Record<string, ContainerDecision>;
  /** Sets phase, reason and message: the pod was evicted, exceeded its deadline, was rejected. */
  termination?: {
    reason: string;
    message: string;
    phase?: 'Failed' | 'Succeeded' | null;
    /** The node ended it for its own sake, at this time: it gets the condition DisruptionTarget. */
    disruptedAt?: number;
    /** The node did not admit it: of one that never had a container no more is told. */
    rejected?: true;
  };
  /** All containers are stopped for good: an API pod's phase becomes terminal (never a static pod's, kubernetes#116484). */
  podIsTerminal?: boolean;
  /** A resize in place that is under way, with what containers still have of the old resources. */
  resize?: ResizeMemory;
  /** What of the pod's resources is in force; absent where nothing is told of the whole pod. */
  inForce?: ResourcesInForce;
  /** How the devices that its containers have are; absent where that is not told. */
  health?: PodHealth;
  /** How a restart of all containers stands; absent where none can be. */
  restartAll?: RestartAll;
  at: number;
  /** When the agent took the pod up; `status.startTime` unless an earlier status says. */
  startedAt: number;
  settings: Pick<
    NodeSettings,
    'nodeIPs' | 'givenIPs' | 'runtimeFeatures' | 'behaviour' | 'readyToStartCondition' | 'restartAllContainers'
  >;
}
