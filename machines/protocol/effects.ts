import type { PodStatus } from './api-types.ts';
import type { ContainerConfig, LinuxContainerResources, SandboxConfig } from './cri-shapes.ts';
import type { PodMemory } from './memory.ts';
import type { ManagedKind } from './managed-kinds.ts';
import type { HostResolver } from './node-settings.ts';
import type { ObservedContainer } from './observed.ts';
import type { AskCatalog } from './ask.ts';
import type { VolumeTraits } from './volume-traits.ts';

/**
 * Effects are data: a machine returns them, the shard carries them out and posts the outcome back as an
 * `effect.done` or `effect.failed` message with the same `key`. A `type` says who acts:
 * `cri.*` the runtime, `image.*` the image manager, `host.*` the node's files, cgroups and mounts,
 * `net.*` probes and hooks over the network, and the last group is one-way (no message comes back).
 */
export interface EffectCatalog {
  'cri.RunPodSandbox': {
    /** With `runtimeClass`, the worker looks its handler up right before the call; `runtimeHandler` is '' then. */
    params: { config: SandboxConfig; runtimeHandler: string; runtimeClass?: string };
    /** `runtimeHandler`: what was looked up. */
    result: { podSandboxId: string; runtimeHandler?: string };
  };
  'cri.PodSandboxStatus': { params: { podSandboxId: string }; result: { ips: string[]; ready: boolean } };
  'cri.StopPodSandbox': { params: { podSandboxId: string }; result: Empty };
  'cri.RemovePodSandbox': { params: { podSandboxId: string }; result: Empty };
  'cri.CreateContainer': {
    /** With `env`, the worker makes `config.envs`, `command` and `args` from it right before the call; they are empty here. */
    params: {
      podSandboxId: string;
      config: ContainerConfig;
      sandboxConfig: SandboxConfig;
      env?: EnvPlan;
      /** It asks for extended resources, or uses claims: what plugins and drivers gave it is put in right before the call. */
      devices?: true;
    };
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
  /** Tells the runtime of the pod's new cgroup limits (for NRI plugins and virtual machines); one that does not know the call is left alone. */
  'cri.UpdatePodSandboxResources': {
    params: { podSandboxId: string; overhead?: LinuxContainerResources; resources: LinuxContainerResources };
    result: Empty;
  };
  /** `output` is stdout then stderr, cut at 10 KiB. `timeoutSeconds` 0 = none. */
  'cri.ExecSync': {
    params: { containerId: string; cmd: string[]; timeoutSeconds: number };
    /** `output`: what it wrote, `stdout` first; `stderr` alone once more of a command that failed and wrote there. */
    result: { exitCode: number; output: string; stderr?: string };
  };

  /**
   * Is the image there, and may the pod use it? `present` null when not: a pod does not learn which. `imageRef` is what
   * CreateContainer is given; `unchecked` while nobody verifies pull credentials (KubeletEnsureSecretPulledImages).
   */
  'image.Status': {
    params: { image: string; runtimeHandler: string; runtimeClass?: string; annotations?: Record<string, string> };
    result: { present: ImagePresent | null; unchecked?: true };
  };
  /**
   * Pulls through the node's pull queue (serial or bounded, QPS); who asks for the same with the same right shares a pull
   * (pull-queue.ts). `ms` counts what of the pull it waited for, `waitedMs` with the queue.
   */
  'image.Pull': {
    params: {
      image: string;
      runtimeHandler: string;
      /** Main looks its handler up right before; `runtimeHandler` is '' then. */
      runtimeClass?: string;
      /** The pod's. */
      annotations?: Record<string, string>;
      /** Where pull secrets are looked up, and their names. */
      namespace: string;
      pullSecrets: string[];
      sandboxConfig: SandboxConfig | null;
      /** Policy Always: only a pull that begins from now on will do. */
      fresh?: true;
    };
    result: ImagePresent & { ms: number; waitedMs: number; sizeBytes: number };
  };

  /** Creates (or adjusts) the pod's cgroup. `path` is the cgroup name, e.g. `/kubepods/burstable/pod<uid>`. */
  'host.EnsurePodCgroup': { params: { cgroup: PodCgroup }; result: Empty };
  'host.RemovePodCgroup': { params: { path: string }; result: Empty };
  /** Changes some limits of a pod's cgroup that is there (a resize in place). */
  'host.UpdatePodCgroup': { params: { path: string; limits: CgroupLimitsSet }; result: Empty };
  /** What the pod's cgroup allows, and the memory that the pod and these containers (name, id) use. */
  'host.ReadPodResources': {
    params: { path: string; containers: { name: string; id: string }[] };
    result: PodResourcesRead;
  };
  /** Makes pod folders and sets up all volumes; returns each volume's path on the host. */
  'host.SetUpVolumes': {
    params: { podUid: string; owner: VolumeOwner; fsGroup?: number; volumes: VolumeSetup[] };
    result: { paths: Record<string, string>; traits?: VolumeTraits };
  };
  /** The node's resolver file as it is now, parsed; fails when it cannot be read or parsed. */
  'host.ReadResolver': { params: { path: string }; result: HostResolver };
  /** Has the drivers of the pod's ResourceClaims prepare them, which is asked of main; one that is prepared stays so. */
  'host.PrepareClaims': { params: { podUid: string }; result: Empty };
  /** Gives them back: nothing of the pod runs any more. */
  'host.UnprepareClaims': { params: { podUid: string }; result: Empty };
  /** Unmounts and removes all volumes and the pod's folder. */
  'host.TearDownPod': { params: { podUid: string }; result: Empty };
  /** Everything that must exist before CreateContainer: log folder, termination log file, hosts file, subPath folders. */
  'host.PrepareContainer': {
    params: ContainerPreparation;
    /** `attempt`: what the logs of earlier ones tell, when that is more than what was asked with. */
    result: { subPaths: Record<string, string>; attempt?: number };
  };
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
    /** `brokenBody`: why the body did not end as it should; to a hook that is all the same. */
    result: { status: number; body: string; brokenBody?: string };
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

/** Facts of a present image: what CreateContainer and `runAsNonRoot` need. */
export interface ImagePresent {
  imageRef: string;
  /** Numeric user of the image config, null when it is a name or absent. */
  uid: number | null;
  username: string;
  /** Its first tag and its first repository digest: what the runtime's status of a container of it will say. */
  repoTag?: string;
  repoDigest?: string;
}

/** Limits of a pod's cgroup that a resize changes; what is missing is left alone, -1 = no limit. */
export interface CgroupLimitsSet {
  cpuShares?: number;
  cpuQuotaUs?: number;
  cpuPeriodUs?: number;
  memoryLimitBytes?: number;
}

/** See `host.ReadPodResources`. `cpuQuotaUs` -1: no limit; an unlimited memory is a very great number. Usage null: it cannot be read. */
export interface PodResourcesRead {
  cpuShares: number;
  cpuQuotaUs: number;
  cpuPeriodUs: number;
  memoryLimitBytes: number;
  usageBytes: number | null;
  /** Bytes by container name. */
  containers: Record<string, number | null>;
}

/** The pod-level cgroup (QoS parent included in `path`). Undefined limits are left alone. */
export interface PodCgroup {
  path: string;
  cpuShares?: number;
  /** Microseconds for each period; undefined = no limit. */
  cpuQuotaUs?: number;
  cpuPeriodUs?: number;
  memoryLimitBytes?: number;
  pidsLimit?: number;
  /** Bytes by page size as the kernel spells it (`2MB`). */
  hugepageLimits?: Record<string, number>;
  /** Files of cgroup v2 and what is written to them. */
  unified?: Record<string, string>;
}

/**
 * One volume to set up, decided by the machine; sizes in bytes. `hugePageSize`: page size of a `HugePages` medium, e.g.
 * `2Mi`. `nested`: folders to make in a read-only volume, since containers mount other volumes there.
 */
export type VolumeSetup =
  /** `quotaBytes`: its file system is to count it, with this limit (0: none), which does not bound it. */
  | {
      name: string;
      kind: 'emptyDir';
      medium: string;
      sizeLimitBytes?: number;
      hugePageSize?: string;
      quotaBytes?: number;
    }
  | { name: string; kind: 'hostPath'; path: string; type: string }
  /** What of it is not given is ''. */
  | { name: string; kind: 'gitRepo'; repository: string; revision: string; directory: string }
  | { name: string; kind: 'downwardAPI'; files: VolumeFile[]; nested?: string[] }
  | ({ name: string; kind: 'configMap' | 'secret'; defaultMode: number; nested?: string[] } & ObjectFiles)
  | { name: string; kind: 'projected'; defaultMode: number; sources: ProjectedSource[]; nested?: string[] }
  /** The main thread sets it up: its worker asks for it. */
  | { name: string; kind: ManagedKind };

/** One file of a volume whose content the machine knows; `mode` as in `chmod`. */
export interface VolumeFile {
  path: string;
  content: string;
  mode: number;
}

/** Which keys of a configMap or secret become files; all of them without `items`. The values are fetched by the effect. */
export interface ObjectFiles {
  object: string;
  items?: { key: string; path: string; mode?: number }[];
  optional: boolean;
}

/** One source of a projected volume. */
export type ProjectedSource =
  | ({ kind: 'configMap' | 'secret' } & ObjectFiles)
  | { kind: 'downwardAPI'; files: VolumeFile[] }
  | { kind: 'serviceAccountToken'; audience: string; expirationSeconds: number; path: string }
  | ({ kind: 'clusterTrustBundle'; path: string } & AskCatalog['trustBundle.Get']['params'])
  /** `index`: its place among the sources of the volume. Each path that is there gets a file. */
  | { kind: 'podCertificate'; index: number; bundlePath?: string; keyPath?: string; chainPath?: string };

/** The pod as the API server knows it, for volumes made of API objects and tokens. */
export interface VolumeOwner {
  namespace: string;
  name: string;
  serviceAccount: string;
  /** The one user id that all containers run as, when there is one: it then owns the token file. */
  runAsUser?: number;
  /** Size of the tmpfs of secrets, projected and downwardAPI volumes: the pod's memory limit, else all of the node's. */
  memoryBytes?: number;
}

/**
 * How a container's environment is made when parts of it come from the API server or from files of a volume: the
 * machine never sees those values, so the worker takes the steps when it creates the container.
 */
export interface EnvPlan {
  namespace: string;
  /** `enableServiceLinks`: variables of all services in the namespace, not only of `kubernetes`. */
  serviceLinks: boolean;
  /** A static pod starts with the service variables that are known, even before services were read once. */
  staticPod?: true;
  steps: EnvStep[];
  /** Command and arguments before `$(NAME)` is replaced. */
  command: string[];
  args: string[];
}

/** One step of an {@link EnvPlan}, in order. */
export type EnvStep =
  /** `envFrom`: all keys, with a prefix. */
  | { step: 'all'; kind: 'configMap' | 'secret'; object: string; optional: boolean; prefix: string }
  /** A value in which `$(NAME)` is replaced from the steps before. */
  | { step: 'expand'; name: string; value: string }
  /** A value that is known and stays as it is. */
  | { step: 'set'; name: string; value: string }
  | { step: 'key'; name: string; kind: 'configMap' | 'secret'; object: string; key: string; optional: boolean }
  /** `fileKeyRef` (KEP-3721): a key of an env file; `path` is below `volumePath`, the volume's folder on the node. */
  | { step: 'file'; name: string; volumePath: string; path: string; key: string; optional: boolean };

/** See `host.PrepareContainer`. `subPaths`: mount key -> volume path and sub path, checked against symlink escape. */
export interface ContainerPreparation {
  podUid: string;
  containerName: string;
  logDirectory: string;
  containerLogDirectory: string;
  terminationLogPath: string;
  /** With `nodes`, the content of that file of the node goes between `content` and `tail`. */
  hostsFile?: { path: string; content: string; nodes?: { path: string; tail: string } };
  /** With `expand`, `$(NAME)` in `subPath` (then a `subPathExpr`) is replaced from `env` by the worker. `ofImage`: that is all. */
  subPaths: { key: string; volumePath: string; subPath: string; readOnly: boolean; expand?: true; ofImage?: true }[];
  env?: EnvPlan;
  /** With `expand`: what plugins gave the container has variables, too. */
  devices?: true;
  /** Restart count as the runtime's containers tell it; given when it has none of this name, so that logs may tell more. */
  attempt?: number;
}
