import type { PodStatus } from './api-types.ts';
import type { ContainerConfig, SandboxConfig } from './cri-shapes.ts';
import type { PodMemory } from './memory.ts';
import type { ObservedContainer } from './observed.ts';

/**
 * Effects are data: a machine returns them, the shard carries them out and posts the outcome back as an
 * `effect.done` or `effect.failed` message with the same `key`. A `type` says who acts:
 * `cri.*` the runtime, `image.*` the image manager, `host.*` the node's files, cgroups and mounts,
 * `net.*` probes and hooks over the network, and the last group is one-way (no message comes back).
 */
export interface EffectCatalog {
  'cri.RunPodSandbox': { params: { config: SandboxConfig; runtimeHandler: string }; result: { podSandboxId: string } };
  'cri.PodSandboxStatus': { params: { podSandboxId: string }; result: { ips: string[]; ready: boolean } };
  'cri.StopPodSandbox': { params: { podSandboxId: string }; result: Empty };
  'cri.RemovePodSandbox': { params: { podSandboxId: string }; result: Empty };
  'cri.CreateContainer': {
    params: { podSandboxId: string; config: ContainerConfig; sandboxConfig: SandboxConfig };
    result: { containerId: string };
  };
  'cri.StartContainer': { params: { containerId: string }; result: Empty };
  /** Fresh state of one container, right after an own call changed it. */
  'cri.ContainerStatus': { params: { containerId: string }; result: ObservedContainer };
  /** `timeoutSeconds`: grace before the runtime sends SIGKILL. */
  'cri.StopContainer': { params: { containerId: string; timeoutSeconds: number }; result: Empty };
  'cri.RemoveContainer': { params: { containerId: string }; result: Empty };
  'cri.UpdateContainerResources': {
    params: { containerId: string; linux: ContainerConfig['linux']['resources'] };
    result: Empty;
  };
  /** `output` is stdout then stderr, cut at 10 KiB. `timeoutSeconds` 0 = none. */
  'cri.ExecSync': {
    params: { containerId: string; cmd: string[]; timeoutSeconds: number };
    result: { exitCode: number; output: string };
  };

  /** Is the image there? `present` null when not. `imageRef` is what CreateContainer is given. */
  'image.Status': { params: { image: string; runtimeHandler: string }; result: { present: ImagePresent | null } };
  /** Pulls through the node's pull queue (serial or bounded, QPS). `ms` counts the pull, `waitedMs` with the queue. */
  'image.Pull': {
    params: { image: string; runtimeHandler: string; pullSecrets: string[]; sandboxConfig: SandboxConfig | null };
    result: ImagePresent & { ms: number; waitedMs: number; sizeBytes: number };
  };

  /** Creates (or adjusts) the pod's cgroup. `path` is the cgroup name, e.g. `/kubepods/burstable/pod<uid>`. */
  'host.EnsurePodCgroup': { params: { cgroup: PodCgroup }; result: Empty };
  'host.RemovePodCgroup': { params: { path: string }; result: Empty };
  /** Makes pod folders and sets up all volumes; returns each volume's path on the host. */
  'host.SetUpVolumes': {
    params: { podUid: string; fsGroup?: number; volumes: VolumeSetup[] };
    result: { paths: Record<string, string> };
  };
  /** Unmounts and removes all volumes and the pod's folder. */
  'host.TearDownPod': { params: { podUid: string }; result: Empty };
  /** Everything that must exist before CreateContainer: log folder, termination log file, hosts file, subPath folders. */
  'host.PrepareContainer': { params: ContainerPreparation; result: { subPaths: Record<string, string> } };
  /** `/var/log/containers/<pod>_<ns>_<container>-<id>.log` -> the container's log file. */
  'host.LinkLog': { params: { logPath: string; linkName: string }; result: Empty };
  /** Removes one dead container's log with its rotated parts, and its link. */
  'host.RemoveContainerLog': { params: { logPath: string; linkName: string }; result: Empty };
  /** Removes the pod's log folder and its links. */
  'host.RemovePodLogs': { params: { logDirectory: string; linkPrefix: string }; result: Empty };
  /** Termination message: the file, or the log's tail when the file is empty and `fallbackLogPath` is given. */
  'host.ReadTerminationMessage': {
    params: { path: string; fallbackLogPath?: string; maxBytes: number; maxLines: number };
    result: { message: string };
  };

  'net.HttpGet': {
    params: {
      scheme: 'http' | 'https';
      host: string;
      port: number;
      path: string;
      headers: { name: string; value: string }[];
      timeoutMs: number;
    };
    result: { status: number; body: string };
  };
  'net.TcpConnect': { params: { host: string; port: number; timeoutMs: number }; result: Empty };
  /** gRPC health v1 Check; `status` is its ServingStatus name, e.g. `SERVING`. */
  'net.GrpcHealth': {
    params: { host: string; port: number; service: string; timeoutMs: number };
    result: { status: string };
  };

  /** One-way: a Kubernetes event about the pod. `fieldPath` e.g. `spec.containers{web}`. */
  'event.Record': {
    params: { type: 'Normal' | 'Warning'; reason: string; message: string; fieldPath?: string };
    result: never;
  };
  /** One-way: the pod's status changed; `state` is the machine state as dotted path, `why` the waiting reason in words. */
  'status.Publish': { params: { status: PodStatus; state: string; why: string; memory: PodMemory }; result: never };
  /** One-way: ask the observer (PLEG) for a fresh look at this pod. */
  'pleg.Observe': { params: Empty; result: never };
  /** One-way: the pod is terminated and cleaned; the actor ends. */
  'pod.Finished': { params: Empty; result: never };
}

/** No fields. */
export type Empty = Record<string, never>;
/** Name of an effect. */
export type EffectType = keyof EffectCatalog;

/** One effect as data. `key` is unique among the pod's effects in flight; one-way effects have key ''. */
export type Effect = {
  [T in EffectType]: { type: T; key: string; params: EffectCatalog[T]['params'] };
}[EffectType];

/** Effect types to which no message answers. */
export const ONE_WAY_EFFECTS: ReadonlySet<EffectType> = new Set<EffectType>([
  'event.Record',
  'status.Publish',
  'pleg.Observe',
  'pod.Finished',
]);

/** Facts of a present image: what CreateContainer and `runAsNonRoot` need. */
export interface ImagePresent {
  imageRef: string;
  /** Numeric user of the image config, null when it is a name or absent. */
  uid: number | null;
  username: string;
}

/** The pod-level cgroup (QoS parent included in `path`). Undefined limits are left alone. */
export interface PodCgroup {
  path: string;
  cpuShares: number;
  /** Microseconds for each period; undefined = no limit. */
  cpuQuotaUs?: number;
  cpuPeriodUs?: number;
  memoryLimitBytes?: number;
  pidsLimit?: number;
}

/** One volume to set up, decided by the machine; sizes in bytes. */
export type VolumeSetup =
  | { name: string; kind: 'emptyDir'; medium: string; sizeLimitBytes?: number }
  | { name: string; kind: 'hostPath'; path: string; type: string }
  | { name: string; kind: 'downwardAPI'; files: { path: string; content: string; mode: number }[] };

/** See `host.PrepareContainer`. `subPaths`: mount key -> volume path and sub path, checked against symlink escape. */
export interface ContainerPreparation {
  podUid: string;
  containerName: string;
  logDirectory: string;
  containerLogDirectory: string;
  terminationLogPath: string;
  hostsFile?: { path: string; content: string };
  subPaths: { key: string; volumePath: string; subPath: string; readOnly: boolean }[];
}
