import type {
  ContainerConfig,
  ContainerMetadata,
  ContainerState,
  LinuxContainerResources,
  PodSandboxConfig,
  PodSandboxMetadata,
  PodSandboxState,
} from '../generated/runtime/v1/api.ts';
import type { ContainerBehaviour, ExecBehaviour, SandboxBehaviour } from './script.ts';
import type { ContainerFiles } from './play/container-files.ts';
import type { Play } from './play/running-play.ts';
import type { Timer } from './sim-time.ts';

/** An image the simulated node holds. */
export interface ImageRecord {
  /** `sha256:` and 64 digits. */
  id: string;
  repoTags: string[];
  repoDigests: string[];
  sizeBytes: number;
  user: string;
  /** What a container runs that names no command, and its arguments when it names none. */
  entrypoint: readonly string[];
  command: readonly string[];
  pinned: boolean;
}

/** A sandbox in memory. Times as CRI has them: ns since the epoch, '0' = not yet. */
export interface SandboxRecord {
  readonly id: string;
  /** `name_namespace_uid_attempt`: reserved until the sandbox is removed. */
  readonly name: string;
  readonly metadata: PodSandboxMetadata;
  readonly config: PodSandboxConfig;
  readonly labels: Readonly<Record<string, string>>;
  readonly runtimeHandler: string;
  readonly createdAt: string;
  readonly hostNetwork: boolean;
  readonly behaviour: SandboxBehaviour | undefined;
  readonly containers: Set<ContainerRecord>;
  state: PodSandboxState;
  /** Empty for host network and once the sandbox is not ready. */
  ips: string[];
  timer: Timer | undefined;
  /** Its entry in a list answer, until it changes. */
  wire: Uint8Array | undefined;
}

/** A container in memory. */
export interface ContainerRecord {
  readonly id: string;
  /** `container_name_namespace_uid_attempt`: reserved until the container is removed. */
  readonly name: string;
  readonly sandbox: SandboxRecord;
  readonly metadata: ContainerMetadata;
  readonly config: ContainerConfig;
  readonly labels: Readonly<Record<string, string>>;
  readonly image: ImageRecord;
  readonly createdAt: string;
  /** '' when the config names no log file. */
  readonly logPath: string;
  readonly behaviour: ContainerBehaviour;
  state: ContainerState;
  startedAt: string;
  finishedAt: string;
  exitCode: number;
  reason: string;
  message: string;
  resources: LinuxContainerResources | undefined;
  /** Of this run: exit, log lines. Cancelled when it ends. */
  timers: Set<Timer> | undefined;
  /** Who is told when it ends. */
  exitWaiters: Set<() => void> | undefined;
  /** How often each answer to commands was given. */
  execCounts: Map<ExecBehaviour, number> | undefined;
  stopSignalled: boolean;
  /** Its command while it is played, and the files it sees. */
  play: Play | undefined;
  files: ContainerFiles | undefined;
  wire: Uint8Array | undefined;
}
