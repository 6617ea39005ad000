import { ContainerState, NamespaceMode, PodSandboxState, Signal } from '../generated/runtime/v1/api.ts';
import type { Container, ContainerStatus, PodSandbox, PodSandboxStatus } from '../generated/runtime/v1/api.ts';
import type { ContainerRecord, ImageRecord, SandboxRecord } from './records.ts';

/** A sandbox as ListPodSandbox gives it. */
export function toPodSandbox(record: SandboxRecord): PodSandbox {
  return {
    id: record.id,
    metadata: record.metadata,
    state: record.state,
    createdAt: record.createdAt,
    labels: record.config.labels,
    annotations: record.config.annotations,
    runtimeHandler: record.runtimeHandler,
  };
}

/** A sandbox as PodSandboxStatus and events give it. */
export function toSandboxStatus(record: SandboxRecord): PodSandboxStatus {
  const [ip = '', ...more] = record.ips;
  const options = record.config.linux?.securityContext?.namespaceOptions;
  return {
    ...toPodSandbox(record),
    network: { ip, additionalIps: more.map((each) => ({ ip: each })) },
    linux: {
      namespaces: {
        options: options ?? {
          network: NamespaceMode.POD,
          pid: NamespaceMode.POD,
          ipc: NamespaceMode.POD,
          targetId: '',
        },
      },
    },
  };
}

/** A container as ListContainers gives it. */
export function toContainer(record: ContainerRecord): Container {
  return {
    id: record.id,
    podSandboxId: record.sandbox.id,
    metadata: record.metadata,
    image: record.config.image,
    imageRef: record.image.id,
    state: record.state,
    createdAt: record.createdAt,
    labels: record.config.labels,
    annotations: record.config.annotations,
    imageId: record.image.id,
  };
}

/** A container as ContainerStatus and events give it. */
export function toContainerStatus(record: ContainerRecord): ContainerStatus {
  const { config, image } = record;
  return {
    id: record.id,
    metadata: record.metadata,
    state: record.state,
    createdAt: record.createdAt,
    startedAt: record.startedAt,
    finishedAt: record.finishedAt,
    exitCode: record.exitCode,
    image: {
      image: image.repoTags[0] ?? image.repoDigests[0] ?? image.id,
      annotations: config.image?.annotations ?? {},
      userSpecifiedImage: config.image?.userSpecifiedImage ?? '',
      runtimeHandler: config.image?.runtimeHandler ?? '',
    },
    imageRef: image.repoDigests[0] ?? image.id,
    reason: exitReason(record),
    message: record.message,
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath: record.logPath,
    resources: record.resources === undefined ? undefined : { linux: record.resources },
    imageId: image.id,
    user: { linux: userOf(record) },
    stopSignal: config.stopSignal === Signal.RUNTIME_DEFAULT ? Signal.SIGTERM : config.stopSignal,
  };
}

/** Statuses of all containers of a sandbox, in order of creation. */
export function statusesOf(sandbox: SandboxRecord): ContainerStatus[] {
  return Array.from(sandbox.containers, toContainerStatus);
}

/** CRI's free-form `info`: given only when it was asked for. */
export function verboseOnly(verbose: boolean, key: string, value: () => object): Record<string, string> {
  return verbose ? { [key]: JSON.stringify(value()) } : {};
}

/** `SANDBOX_READY` as the verbose info and error texts name it. */
export function sandboxStateName(state: PodSandboxState): string {
  return state === PodSandboxState.SANDBOX_READY ? 'SANDBOX_READY' : 'SANDBOX_NOTREADY';
}

/** `CONTAINER_RUNNING` and so on. */
export function containerStateName(state: ContainerState): string {
  return Object.entries(ContainerState).find(([, value]) => value === state)?.[0] ?? 'CONTAINER_UNKNOWN';
}

/** The number of an image's user, null when it is a name or absent. */
export function imageUid(image: ImageRecord): string | null {
  const user = image.user.split(':')[0] ?? '';
  return /^\d+$/.test(user) ? user : null;
}

/** containerd says Completed or Error for an exit that has no reason of its own. */
function exitReason(record: ContainerRecord): string {
  if (record.state !== ContainerState.CONTAINER_EXITED || record.reason !== '') return record.reason;
  return record.exitCode === 0 ? 'Completed' : 'Error';
}

function userOf(record: ContainerRecord): { uid: string; gid: string; supplementalGroups: string[] } {
  const context = record.config.linux?.securityContext;
  const uid = context?.runAsUser?.value ?? imageUid(record.image) ?? '0';
  const gid = context?.runAsGroup?.value ?? record.image.user.split(':')[1] ?? '0';
  return { uid, gid, supplementalGroups: context?.supplementalGroups ?? [] };
}
